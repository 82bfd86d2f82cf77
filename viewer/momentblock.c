// SPDX-License-Identifier: Apache-2.0
/* momentblock.c - digits of stamps sorted with their places, all of it in the cache. */
#include "momentblock.h"

#include <stdlib.h>

#define MOMENTBLOCK_DIGIT_BITS 9u /* sorted at a time */
#define MOMENTBLOCK_DIGITS (1u << MOMENTBLOCK_DIGIT_BITS)

struct momentblock *momentblock_new(void)
{
	struct momentblock *b = malloc(sizeof(*b));

	if (b)
		momentblock_clear(b);
	return b;
}

void momentblock_clear(struct momentblock *b)
{
	b->cnt = b->head = 0;
	b->least_ns = UINT64_MAX;
	b->most_ns = 0;
	b->is_sorted = true;
	b->is_done = false;
}

static int momentblock_compare(const void *left, const void *right, void *ctx)
{
	const struct moment *m = ctx;
	uint16_t i = *(const uint16_t *)left, k = *(const uint16_t *)right;
	int order = (m[i].ts_ns > m[k].ts_ns) - (m[i].ts_ns < m[k].ts_ns);

	return order ? order : (i > k) - (i < k);
}

/* Sorts by stamp and, being stable, by place: digit after digit of the stamps, the lowest first.
 * `bits` is how many of them differ. */
static void momentblock_sort_digits(struct momentblock *b, unsigned int bits)
{
	uint64_t keys[2][MOMENTBLOCK_CNT]; /* stamp and place in one word */
	uint64_t *from = keys[0], *to = keys[1], *swap;

	for (uint32_t i = 0; i < b->cnt; i++)
		from[i] = (b->moments[i].ts_ns - b->least_ns) << MOMENTBLOCK_BITS | i;
	for (unsigned int at = 0; at < bits; at += MOMENTBLOCK_DIGIT_BITS) {
		uint32_t begins[MOMENTBLOCK_DIGITS + 1] = { 0 };
		unsigned int shift = MOMENTBLOCK_BITS + at;

		for (uint32_t i = 0; i < b->cnt; i++)
			begins[(from[i] >> shift & (MOMENTBLOCK_DIGITS - 1)) + 1]++;
		for (uint32_t i = 1; i < MOMENTBLOCK_DIGITS; i++)
			begins[i] += begins[i - 1];
		for (uint32_t i = 0; i < b->cnt; i++)
			to[begins[from[i] >> shift & (MOMENTBLOCK_DIGITS - 1)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	for (uint32_t i = 0; i < b->cnt; i++)
		b->order[i] = from[i] & (MOMENTBLOCK_CNT - 1);
}

void momentblock_sort(struct momentblock *b)
{
	unsigned int bits = 64;

	if (b->is_sorted || b->is_done)
		return;
	b->is_done = true;
	bits -= (unsigned int)__builtin_clzll(b->most_ns - b->least_ns);
	if (bits + MOMENTBLOCK_BITS <= 64) {
		momentblock_sort_digits(b, bits);
		return;
	}
	for (uint32_t i = 0; i < b->cnt; i++)
		b->order[i] = (uint16_t)i;
	qsort_r(b->order, b->cnt, sizeof(b->order[0]), momentblock_compare, b->moments);
}
