// SPDX-License-Identifier: Apache-2.0
/*
 * order.c - one lane a ring: bytes in a linear buffer, an index sorted by time beside them.
 *
 * A new entry goes to its place from the end, which is nearly always the end. Flushing takes from
 * the lane with the oldest record for as long as no other lane has an older one, so the cost of
 * choosing is paid per run, not per record.
 *
 * What has left makes room again once it is twice as much as what waits. So a lane uses three times
 * its window of memory, which stays in the caches, not all it may use; a byte moves half a time.
 */
#include "order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "bpf/wire.h"

#define ORDER_RECORD_SZ_MAX sizeof(struct wire_tls)
#define ORDER_RECORD_SZ_MIN sizeof(struct wire_head)
#define ORDER_ALIGN 8
#define ORDER_SPENT_MIN_SZ (64u << 10)

_Static_assert(ORDER_RECORD_SZ_MAX >= sizeof(struct wire_switch_out) + WIRE_FRAMES_MAX * sizeof(__u64),
	       "a record with a stack is larger");

struct order_entry {
	uint64_t ts_ns;
	uint32_t off, sz;
};

struct order_lane {
	uint8_t *bytes;
	struct order_entry *entries;
	size_t bytes_len; /* used from 0 on; emptied lanes start again at 0 */
	size_t first, last; /* entries[first..last) wait */
	uint64_t last_ns;
};

struct order {
	unsigned lanes_cnt;
	size_t lane_sz, entries_max;
	uint64_t flushed_ns, late_cnt;
	struct order_lane lanes[];
};

int order_new(unsigned lanes_cnt, size_t lane_sz, struct order **ret)
{
	struct order *o = calloc(1, sizeof(*o) + lanes_cnt * sizeof(o->lanes[0]));

	if (!o)
		return -ENOMEM;
	o->lanes_cnt = lanes_cnt;
	o->lane_sz = lane_sz;
	o->entries_max = lane_sz / ORDER_RECORD_SZ_MIN;
	for (unsigned i = 0; i < lanes_cnt; i++) {
		/* pages are touched only as they fill */
		o->lanes[i].bytes = malloc(lane_sz);
		o->lanes[i].entries = malloc(o->entries_max * sizeof(struct order_entry));
		if (!o->lanes[i].bytes || !o->lanes[i].entries) {
			order_free(o);
			return -ENOMEM;
		}
	}
	*ret = o;
	return 0;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	for (unsigned i = 0; i < o->lanes_cnt; i++) {
		free(o->lanes[i].bytes);
		free(o->lanes[i].entries);
	}
	free(o);
}

/* Moves what waits to the front of the lane. */
static void order_compact(struct order_lane *l)
{
	size_t cnt = l->last - l->first, len = 0;
	size_t low = SIZE_MAX;

	/* entries are sorted by time, their bytes nearly so: shift all by the lowest offset */
	for (size_t i = l->first; i < l->last; i++)
		if (l->entries[i].off < low)
			low = l->entries[i].off;
	if (!cnt) {
		l->bytes_len = 0;
	} else if (low) {
		memmove(l->bytes, l->bytes + low, l->bytes_len - low);
		l->bytes_len -= low;
	}
	for (size_t i = l->first; i < l->last; i++) {
		l->entries[len] = l->entries[i];
		l->entries[len++].off -= cnt ? (uint32_t)low : 0;
	}
	l->first = 0;
	l->last = cnt;
}

static bool order_is_spent(const struct order_lane *l)
{
	size_t spent_sz = l->first < l->last ? l->entries[l->first].off : l->bytes_len;

	return spent_sz >= ORDER_SPENT_MIN_SZ && spent_sz / 2 >= l->bytes_len - spent_sz;
}

static size_t order_sz(size_t sz)
{
	return (sz + ORDER_ALIGN - 1) & ~(size_t)(ORDER_ALIGN - 1);
}

static bool order_is_full(const struct order *o, const struct order_lane *l, size_t sz)
{
	return l->bytes_len + order_sz(sz) > o->lane_sz || l->last == o->entries_max;
}

int order_add(struct order *o, unsigned lane, const struct wire_head *rec, size_t sz)
{
	struct order_lane *l = &o->lanes[lane];
	struct order_entry e = { .ts_ns = rec->ts_ns, .sz = (uint32_t)sz };
	size_t at;

	if (order_is_full(o, l, sz))
		order_compact(l);
	if (order_is_full(o, l, sz))
		return -ENOSPC;
	e.off = (uint32_t)l->bytes_len;
	memcpy(l->bytes + l->bytes_len, rec, sz);
	l->bytes_len += order_sz(sz);
	for (at = l->last; at > l->first && l->entries[at - 1].ts_ns > e.ts_ns; at--)
		l->entries[at] = l->entries[at - 1];
	l->entries[at] = e;
	l->last++;
	if (e.ts_ns > l->last_ns)
		l->last_ns = e.ts_ns;
	if (!order_is_full(o, l, ORDER_RECORD_SZ_MAX))
		return 0;
	order_compact(l);
	return order_is_full(o, l, ORDER_RECORD_SZ_MAX);
}

/* The lane with the oldest record that waits, NULL if none does; *ret_next_ns is the oldest stamp
 * in any other lane. */
static struct order_lane *order_oldest(struct order *o, uint64_t *ret_next_ns)
{
	struct order_lane *best = NULL;
	uint64_t best_ns = UINT64_MAX, next_ns = UINT64_MAX;

	for (unsigned i = 0; i < o->lanes_cnt; i++) {
		struct order_lane *l = &o->lanes[i];
		uint64_t ts_ns;

		if (l->first == l->last)
			continue;
		ts_ns = l->entries[l->first].ts_ns;
		if (ts_ns < best_ns) {
			next_ns = best_ns;
			best_ns = ts_ns;
			best = l;
		} else if (ts_ns < next_ns) {
			next_ns = ts_ns;
		}
	}
	*ret_next_ns = next_ns;
	return best;
}

void order_flush(struct order *o, uint64_t upto_ns, order_cb cb, void *ctx)
{
	struct order_lane *l;
	uint64_t next_ns;

	while ((l = order_oldest(o, &next_ns))) {
		uint64_t stop_ns = next_ns < upto_ns ? next_ns : upto_ns;

		if (l->entries[l->first].ts_ns > upto_ns)
			break;
		do {
			const struct order_entry *e = &l->entries[l->first++];

			if (e->ts_ns < o->flushed_ns)
				o->late_cnt++;
			else
				o->flushed_ns = e->ts_ns;
			cb(ctx, (const struct wire_head *)(l->bytes + e->off), e->sz);
		} while (l->first < l->last && l->entries[l->first].ts_ns <= stop_ns);
		if (l->first == l->last)
			order_compact(l);
	}
	for (unsigned i = 0; i < o->lanes_cnt; i++)
		if (order_is_spent(&o->lanes[i]))
			order_compact(&o->lanes[i]);
}

uint64_t order_lane_last(const struct order *o, unsigned lane)
{
	return o->lanes[lane].last_ns;
}

uint64_t order_late(const struct order *o)
{
	return o->late_cnt;
}
