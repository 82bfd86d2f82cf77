// SPDX-License-Identifier: Apache-2.0
/* histogram.c - log-linear buckets, a row of them for each power of two. */
#include "histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Row and bucket: row 0 and 1 have width 1 (0..63, 64..127), row r has width 2^(r-1). */
static unsigned int histogram_row(uint64_t value, unsigned int *ret_bucket)
{
	unsigned int top, row;

	if (value < HISTOGRAM_SUB_CNT) {
		*ret_bucket = (unsigned int)value;
		return 0;
	}
	top = 63u - (unsigned int)__builtin_clzll(value);
	row = top - HISTOGRAM_SUB_BITS + 1;
	*ret_bucket = (unsigned int)(value >> (row - 1)) & (HISTOGRAM_SUB_CNT - 1);
	return row;
}

static uint64_t histogram_middle(unsigned int row, unsigned int bucket)
{
	uint64_t width;

	if (row == 0)
		return bucket;
	width = 1ull << (row - 1);
	return (HISTOGRAM_SUB_CNT + bucket) * width + width / 2;
}

static int histogram_count(struct histogram *h, unsigned int row, unsigned int bucket, uint64_t cnt)
{
	if (!h->rows[row]) {
		h->rows[row] = calloc(HISTOGRAM_SUB_CNT, sizeof(h->rows[row][0]));
		if (!h->rows[row])
			return -ENOMEM;
	}
	h->rows[row][bucket] += cnt;
	return 0;
}

int histogram_add(struct histogram *h, uint64_t value)
{
	unsigned int bucket, row = histogram_row(value, &bucket);

	if (histogram_count(h, row, bucket, 1))
		return -ENOMEM;
	if (h->cnt == 0 || value < h->min)
		h->min = value;
	if (h->cnt == 0 || value > h->max)
		h->max = value;
	h->cnt++;
	h->sum += value;
	return 0;
}

uint64_t histogram_quantile(const struct histogram *h, unsigned int permille)
{
	uint64_t rank, seen = 0, value;

	if (h->cnt == 0)
		return 0;
	/* ceil(cnt * permille / 1000) without overflow of the product */
	rank = h->cnt / 1000 * permille + (h->cnt % 1000 * permille + 999) / 1000;
	/* the ends are known exactly */
	if (rank <= 1)
		return h->min;
	if (rank == h->cnt)
		return h->max;
	for (unsigned int row = 0; row <= HISTOGRAM_ROWS; row++) {
		for (unsigned int b = 0; h->rows[row] && b < HISTOGRAM_SUB_CNT; b++) {
			seen += h->rows[row][b];
			if (seen < rank)
				continue;
			value = histogram_middle(row, b);
			if (value < h->min)
				return h->min;
			return value > h->max ? h->max : value;
		}
	}
	return h->max;
}

int histogram_merge(struct histogram *to, const struct histogram *from)
{
	if (from->cnt == 0)
		return 0;
	for (unsigned int row = 0; row <= HISTOGRAM_ROWS; row++)
		for (unsigned int b = 0; from->rows[row] && b < HISTOGRAM_SUB_CNT; b++)
			if (from->rows[row][b] && histogram_count(to, row, b, from->rows[row][b]))
				return -ENOMEM;
	if (to->cnt == 0 || from->min < to->min)
		to->min = from->min;
	if (to->cnt == 0 || from->max > to->max)
		to->max = from->max;
	to->cnt += from->cnt;
	to->sum += from->sum;
	return 0;
}

void histogram_done(struct histogram *h)
{
	for (unsigned int row = 0; row <= HISTOGRAM_ROWS; row++)
		free(h->rows[row]);
	memset(h, 0, sizeof(*h));
}
