// SPDX-License-Identifier: Apache-2.0
/* keep.c - a binary heap in an array that grows up to its cap. */
#include "keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_ROOM 64u /* rows at first */

void keep_init(struct keep *k, size_t row_sz, uint64_t limit,
	       int (*compare)(const void *a, const void *b))
{
	*k = (struct keep){ .compare = compare,
			    .row_sz = row_sz,
			    .cap = limit && limit < KEEP_MAX ? (uint32_t)limit : KEEP_MAX };
}

void keep_done(struct keep *k)
{
	free(k->rows);
	k->rows = NULL;
	k->cnt = 0;
}

static unsigned char *keep_row(const struct keep *k, uint32_t i)
{
	return k->rows + i * k->row_sz;
}

static void keep_swap(const struct keep *k, uint32_t i, uint32_t j)
{
	unsigned char *a = keep_row(k, i), *b = keep_row(k, j), byte;

	for (size_t n = 0; n < k->row_sz; n++) {
		byte = a[n];
		a[n] = b[n];
		b[n] = byte;
	}
}

/* The row at `i` moves towards the root while it stands behind its parent's. */
static void keep_up(const struct keep *k, uint32_t i)
{
	while (i && k->compare(keep_row(k, i), keep_row(k, (i - 1) / 2)) > 0) {
		keep_swap(k, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

static void keep_down(const struct keep *k)
{
	uint32_t i = 0, last;

	for (;;) {
		last = i;
		for (uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < k->cnt; child++)
			if (k->compare(keep_row(k, child), keep_row(k, last)) > 0)
				last = child;
		if (last == i)
			return;
		keep_swap(k, i, last);
		i = last;
	}
}

static int keep_grow(struct keep *k)
{
	uint32_t room = k->room ? 2 * k->room : KEEP_ROOM;
	unsigned char *rows;

	if (room > k->cap)
		room = k->cap;
	rows = realloc(k->rows, room * k->row_sz);
	if (!rows)
		return -ENOMEM;
	k->rows = rows;
	k->room = room;
	return 0;
}

int keep_add(struct keep *k, const void *row)
{
	k->seen++;
	if (k->cnt == k->cap) {
		if (k->compare(row, keep_row(k, 0)) > 0)
			return 0;
		memcpy(keep_row(k, 0), row, k->row_sz);
		keep_down(k);
		return 0;
	}
	if (k->cnt == k->room && keep_grow(k) != 0)
		return -ENOMEM;
	memcpy(keep_row(k, k->cnt), row, k->row_sz);
	keep_up(k, k->cnt++);
	return 0;
}

void keep_sort(struct keep *k)
{
	if (k->cnt)
		qsort(k->rows, k->cnt, k->row_sz, k->compare);
}

const void *keep_at(const struct keep *k, uint32_t i)
{
	return keep_row(k, i);
}
