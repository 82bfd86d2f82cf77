/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.h - durations counted in log-linear buckets.
 *
 * Values below 128 are kept exactly; above, each power of two is cut into 64 equal buckets and a
 * bucket answers with its middle, so a quantile is wrong by at most 1/128 (0.8 %). Count, sum,
 * minimum and maximum are exact. Memory: 0.5 KiB for each power of two that occurs, at most
 * 30 KiB; it is taken when the first value of that size comes.
 */
#ifndef DIAL9_HISTOGRAM_H
#define DIAL9_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 6
#define HISTOGRAM_SUB_CNT (1u << HISTOGRAM_SUB_BITS)
#define HISTOGRAM_ROWS (64 - HISTOGRAM_SUB_BITS) /* row 0: 0..63; row r: 64 buckets of 2^(r-1) */

struct histogram {
	uint64_t cnt, sum, min, max; /* min and max mean nothing while cnt is 0 */
	uint64_t *rows[HISTOGRAM_ROWS + 1];
};

/* An all-zero struct is an empty histogram. 0 or -ENOMEM (the value is then not counted). */
int histogram_add(struct histogram *h, uint64_t value);

/*
 * The value at `permille` thousandths by nearest rank: the smallest value such that at least that
 * share of all values is not above it. Never outside [min, max]; 0 when empty.
 */
uint64_t histogram_quantile(const struct histogram *h, unsigned int permille);

/* Adds all of `from` to `to`. 0 or -ENOMEM (`to` then holds a part). */
int histogram_merge(struct histogram *to, const struct histogram *from);

/* Frees what it holds and makes it empty. */
void histogram_done(struct histogram *h);

#endif /* DIAL9_HISTOGRAM_H */
