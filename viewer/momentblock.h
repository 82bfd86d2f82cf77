/* SPDX-License-Identifier: Apache-2.0 */
/*
 * momentblock.h - a block of moments that fits the cache: filled, sorted once, read in order.
 *
 * A moment is written once and read where it lies: only its number is sorted.
 */
#ifndef DIAL9_MOMENTBLOCK_H
#define DIAL9_MOMENTBLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "moment.h"

#define MOMENTBLOCK_BITS 11
#define MOMENTBLOCK_CNT (1u << MOMENTBLOCK_BITS) /* moments, 58 bytes each */

struct momentblock {
	struct momentblock *next; /* its owner's */
	uint32_t cnt, head; /* those before head were used: its owner's */
	uint64_t least_ns, most_ns;
	bool is_sorted; /* they came in order */
	bool is_done; /* momentblock_sort was called */
	uint16_t order[MOMENTBLOCK_CNT];
	struct moment moments[MOMENTBLOCK_CNT];
};

/* An empty one; NULL: no memory. It is released by free(). */
struct momentblock *momentblock_new(void);

/* Empties it. */
void momentblock_clear(struct momentblock *b);

/* Orders it by stamp, equal stamps as they came, when it is filled. The second time it does nothing. */
void momentblock_sort(struct momentblock *b);

/* Where the next moment is to be written; momentblock_add then counts it. Not when it is full. */
static inline struct moment *momentblock_next(struct momentblock *b)
{
	return &b->moments[b->cnt];
}

static inline void momentblock_add(struct momentblock *b)
{
	uint64_t ts_ns = b->moments[b->cnt++].ts_ns;

	b->is_sorted = b->is_sorted && ts_ns >= b->most_ns;
	b->least_ns = ts_ns < b->least_ns ? ts_ns : b->least_ns;
	b->most_ns = ts_ns > b->most_ns ? ts_ns : b->most_ns;
}

/* The i-th in order, after momentblock_sort. */
static inline const struct moment *momentblock_at(const struct momentblock *b, uint32_t i)
{
	return &b->moments[b->is_sorted ? i : b->order[i]];
}

#endif /* DIAL9_MOMENTBLOCK_H */
