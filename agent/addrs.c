// SPDX-License-Identifier: Apache-2.0
/* addrs.c - see addrs.h. */
#include "agent/addrs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (2 * ADDRS_MAX)

struct addrs {
	uint32_t cnt;
	uint64_t over_cap;
	uint64_t list[ADDRS_MAX]; /* sorted in place when asked for: the slots do not refer to it */
	uint64_t slots[SLOTS]; /* 0 = free: address 0 is never code */
};

int addrs_new(struct addrs **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void addrs_free(struct addrs *a)
{
	free(a);
}

void addrs_add(struct addrs *a, const uint64_t *addrs, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		uint32_t at = (uint32_t)((addrs[i] * 0x9e3779b97f4a7c15ull) >> 32) % SLOTS;

		while (a->slots[at] && a->slots[at] != addrs[i])
			at = (at + 1) % SLOTS;
		if (!addrs[i] || a->slots[at])
			continue;
		if (a->cnt == ADDRS_MAX) {
			a->over_cap++;
			continue;
		}
		a->slots[at] = addrs[i];
		a->list[a->cnt++] = addrs[i];
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

const uint64_t *addrs_sorted(struct addrs *a, size_t *ret_cnt)
{
	qsort(a->list, a->cnt, sizeof(a->list[0]), by_value);
	*ret_cnt = a->cnt;
	return a->list;
}

void addrs_clear(struct addrs *a)
{
	if (!a->cnt)
		return;
	memset(a->slots, 0, sizeof(a->slots));
	a->cnt = 0;
}

uint64_t addrs_over_cap(const struct addrs *a)
{
	return a->over_cap;
}
