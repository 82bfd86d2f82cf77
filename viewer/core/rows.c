// SPDX-License-Identifier: Apache-2.0
/* rows.c - growing arrays, and stable order by lane and time. */
#include "rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROWS_FIRST_SZ (1u << 20) /* bytes of the first block; doubled from there */

int rows_grow(struct rows *r)
{
	size_t old_sz = r->cap * r->sz, cap = r->cap ? 2 * r->cap : ROWS_FIRST_SZ / r->sz;
	void *p;

	if (r->cap > ROWS_MAX)
		return -E2BIG;
	p = r->p ? mremap(r->p, old_sz, cap * r->sz, MREMAP_MAYMOVE)
		 : mmap(NULL, cap * r->sz, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	if (cap * r->sz >= 4u << 20)
		madvise(p, cap * r->sz, MADV_HUGEPAGE);
	r->p = p;
	r->cap = cap;
	return 0;
}

void rows_free(struct rows *r)
{
	if (r->p)
		munmap(r->p, r->cap * r->sz);
	r->p = NULL;
	r->cnt = r->cap = 0;
}

void *rows_copy(const struct rows *r)
{
	void *p = malloc(r->cnt ? r->cnt * r->sz : 1);

	if (p && r->cnt)
		memcpy(p, r->p, r->cnt * r->sz);
	return p;
}

struct timed {
	uint64_t ts_ns;
	uint32_t number;
};

static uint64_t time_of(const void *times, size_t stride, uint32_t number)
{
	uint64_t ts_ns;

	memcpy(&ts_ns, (const char *)times + stride * number, sizeof(ts_ns));
	return ts_ns;
}

static bool is_sorted(const uint32_t *numbers, size_t cnt, const void *times, size_t stride)
{
	uint64_t last = 0, ts_ns;

	for (size_t i = 0; i < cnt; i++) {
		ts_ns = time_of(times, stride, numbers[i]);
		if (ts_ns < last)
			return false;
		last = ts_ns;
	}
	return true;
}

/* One pass: neighbouring runs of `from` merged into `to`. Returns how many runs `to` has. */
static size_t merge_pass(const struct timed *from, struct timed *to, size_t cnt)
{
	size_t runs = 0, at = 0;

	while (at < cnt) {
		size_t a = at, mid = at + 1, b, end;

		while (mid < cnt && from[mid - 1].ts_ns <= from[mid].ts_ns)
			mid++;
		b = end = mid;
		if (end < cnt)
			end++;
		while (end < cnt && from[end - 1].ts_ns <= from[end].ts_ns)
			end++;
		while (a < mid || b < end)
			to[at++] = b == end || (a < mid && from[a].ts_ns <= from[b].ts_ns)
					   ? from[a++]
					   : from[b++];
		runs++;
	}
	return runs;
}

int rows_sort(uint32_t *numbers, size_t cnt, const void *times, size_t stride)
{
	struct timed *a, *b, *swap;

	if (is_sorted(numbers, cnt, times, stride))
		return 0;
	a = malloc(2 * cnt * sizeof(*a));
	if (!a)
		return -ENOMEM;
	b = a + cnt;
	for (size_t i = 0; i < cnt; i++)
		a[i] = (struct timed){ time_of(times, stride, numbers[i]), numbers[i] };
	swap = a;
	while (merge_pass(a, b, cnt) > 1) {
		struct timed *t = a;

		a = b;
		b = t;
	}
	for (size_t i = 0; i < cnt; i++)
		numbers[i] = b[i].number;
	free(swap);
	return 0;
}

int rows_order(const struct rows *r, const uint16_t *lane_of, uint32_t lanes_cnt, uint32_t *from,
	       uint32_t **ret)
{
	uint32_t *numbers = malloc((r->cnt ? r->cnt : 1) * sizeof(*numbers));
	uint32_t *at = calloc(lanes_cnt + 1, sizeof(*at));
	/* seen in passing, while the row is at hand: the last time of each lane, and if one ran back */
	uint64_t *last_ns = calloc(lanes_cnt + 1, sizeof(*last_ns));
	bool *is_back = calloc(lanes_cnt + 1, sizeof(*is_back));
	const struct rows_key *key;
	uint32_t lane;
	int err = -ENOMEM;

	if (!numbers || !at || !last_ns || !is_back)
		goto out;
	for (size_t i = 0; i < r->cnt; i++) {
		key = rows_at(r, i);
		at[(lane_of ? lane_of[key->lane] : key->lane) + 1]++;
	}
	for (lane = 0; lane < lanes_cnt; lane++)
		at[lane + 1] += at[lane];
	memcpy(from, at, (lanes_cnt + 1) * sizeof(*at));
	for (size_t i = 0; i < r->cnt; i++) {
		key = rows_at(r, i);
		lane = lane_of ? lane_of[key->lane] : key->lane;
		numbers[at[lane]++] = (uint32_t)i;
		is_back[lane] |= key->ts_ns < last_ns[lane];
		last_ns[lane] = key->ts_ns;
	}
	err = 0;
	for (lane = 0; err == 0 && lane < lanes_cnt; lane++)
		if (is_back[lane])
			err = rows_sort(numbers + from[lane], from[lane + 1] - from[lane], r->p,
					r->sz);
	if (err == 0) {
		*ret = numbers;
		numbers = NULL;
	}
out:
	free(numbers);
	free(at);
	free(last_ns);
	free(is_back);
	return err;
}
