/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - the first N of any number of rows, by an order: the longest polls, the worst waits.
 *
 * A heap whose root is the last of those kept. Adding costs one comparison for a row that does not
 * get in, and log N for one that does.
 */
#ifndef DIAL9_KEEP_H
#define DIAL9_KEEP_H

#include <stddef.h>
#include <stdint.h>

#define KEEP_MAX 100000u /* rows kept where all were asked for; `seen` tells how many there were */

struct keep {
	/* negative: a stands before b. Never 0 for two rows, or the answer depends on their order */
	int (*compare)(const void *a, const void *b);
	size_t row_sz;
	uint64_t seen; /* rows added */
	uint32_t cnt, cap;
	uint32_t room;
	unsigned char *rows;
};

/* `limit` rows, 0 for KEEP_MAX. Allocates nothing yet. */
void keep_init(struct keep *k, size_t row_sz, uint64_t limit,
	       int (*compare)(const void *a, const void *b));
void keep_done(struct keep *k);

/* Copies the row if it is among the first so far. 0 or -ENOMEM. */
int keep_add(struct keep *k, const void *row);

/* The first row first; nothing may be added after that. */
void keep_sort(struct keep *k);

const void *keep_at(const struct keep *k, uint32_t i);

#endif /* DIAL9_KEEP_H */
