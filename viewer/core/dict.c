// SPDX-License-Identifier: Apache-2.0
/* dict.c - open addressing over one block of bytes. */
#include "dict.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define DICT_SLOTS_FIRST 1024u

void dict_init(struct dict *d, uint32_t cap, size_t bytes_max, uint32_t over)
{
	*d = (struct dict){ .cap = cap, .bytes_max = bytes_max, .over = over };
	d->seed = dict_seed();
}

uint64_t dict_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = (uint64_t)(uintptr_t)&seed; /* early boot: the stack's place will do */
	return seed;
}

void dict_free(struct dict *d)
{
	free(d->ends);
	free(d->bytes);
	free(d->slots);
	*d = (struct dict){ 0 };
}

static uint64_t dict_hash(const struct dict *d, const char *p, size_t len)
{
	uint64_t h = d->seed + len * 0x9e3779b97f4a7c15u, w;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	w = 0;
	if (len)
		memcpy(&w, p, len);
	h = (h ^ w) * 0xff51afd7ed558ccdu;
	return h ^ h >> 29;
}

static bool dict_rehash(struct dict *d)
{
	uint32_t cnt = d->slots_cnt ? 2 * d->slots_cnt : DICT_SLOTS_FIRST;
	uint32_t *slots = calloc(cnt, sizeof(*slots));
	const char *p;
	size_t len;

	if (!slots)
		return false;
	for (uint32_t i = 0; i < d->cnt; i++) {
		uint32_t at;

		p = dict_get(d, i, &len);
		at = (uint32_t)dict_hash(d, p, len) & (cnt - 1);
		while (slots[at])
			at = (at + 1) & (cnt - 1);
		slots[at] = i + 1;
	}
	free(d->slots);
	d->slots = slots;
	d->slots_cnt = cnt;
	return true;
}

static bool dict_room(struct dict *d, size_t len)
{
	if (d->cnt == d->ends_cap) {
		size_t cap = d->ends_cap ? 2 * d->ends_cap : 256;
		uint32_t *p = realloc(d->ends, cap * sizeof(*p));

		if (!p)
			return false;
		d->ends = p;
		d->ends_cap = cap;
	}
	if (d->bytes_sz + len > d->bytes_cap || !d->bytes) {
		size_t cap = 2 * (d->bytes_sz + len) + 4096;
		char *p = realloc(d->bytes, cap);

		if (!p)
			return false;
		d->bytes = p;
		d->bytes_cap = cap;
	}
	return true;
}

/* As gather_forget_tasks: from the last one on. */
void dict_rewind(struct dict *d, uint32_t cnt)
{
	const char *p;
	size_t len;
	uint32_t at;

	while (d->cnt > cnt) {
		p = dict_get(d, d->cnt - 1, &len);
		at = (uint32_t)dict_hash(d, p, len) & (d->slots_cnt - 1);
		while (d->slots[at] != d->cnt)
			at = (at + 1) & (d->slots_cnt - 1);
		d->slots[at] = 0;
		d->bytes_sz -= len;
		d->cnt--;
	}
}

uint32_t dict_put(struct dict *d, const void *p, size_t len, int *err)
{
	uint32_t at, i;
	const char *have;
	size_t have_len;
	uintptr_t own;

	if (d->cnt >= d->slots_cnt / 2 && !dict_rehash(d))
		goto nomem;
	at = (uint32_t)dict_hash(d, p, len) & (d->slots_cnt - 1);
	for (; d->slots[at]; at = (at + 1) & (d->slots_cnt - 1)) {
		i = d->slots[at] - 1;
		have = dict_get(d, i, &have_len);
		if (have_len == len && (len == 0 || memcmp(have, p, len) == 0))
			return i;
	}
	if (d->cnt >= d->cap || len > d->bytes_max - d->bytes_sz) {
		d->over_cnt++;
		return d->over;
	}
	own = (uintptr_t)p - (uintptr_t)d->bytes;
	if (!dict_room(d, len))
		goto nomem;
	if (own < d->bytes_sz) /* it has moved with the others */
		p = d->bytes + own;
	if (len)
		memcpy(d->bytes + d->bytes_sz, p, len);
	d->bytes_sz += len;
	d->ends[d->cnt] = (uint32_t)d->bytes_sz;
	d->slots[at] = ++d->cnt;
	return d->cnt - 1;
nomem:
	*err = -ENOMEM;
	return d->over;
}
