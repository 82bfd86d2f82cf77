// SPDX-License-Identifier: Apache-2.0
/*
 * order.c - one lane a ring: chunks of bytes, an index sorted by time beside them.
 *
 * A new entry goes to its place from the end, which is nearly always the end. Flushing takes from
 * the lane with the oldest record for as long as no other lane has an older one, so the cost of
 * choosing is paid per run, not per record.
 *
 * A chunk whose records have all left is filled next: a lane uses hardly more memory than its window,
 * which stays in the caches, not all it may use; no byte is moved.
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
#define ORDER_CHUNK_SZ (64u << 10)
#define ORDER_CHUNKS_MIN 2 /* a lane: one is filled while another empties */
#define ORDER_SPENT_MIN 4096 /* entries that have left make room again, once they are twice as many */
#define ORDER_NONE UINT64_MAX

_Static_assert(ORDER_RECORD_SZ_MAX >= sizeof(struct wire_switch_out) + WIRE_FRAMES_MAX * sizeof(__u64),
	       "a record with a stack is larger");
_Static_assert(ORDER_RECORD_SZ_MAX <= ORDER_CHUNK_SZ, "a record is in one chunk");

struct order_entry {
	uint64_t ts_ns;
	uint32_t off, sz;
};

struct order_lane {
	uint8_t *bytes;
	struct order_entry *entries;
	size_t first, last; /* entries[first..last) wait */
	uint64_t last_ns;
	uint32_t *waiting; /* records in each chunk */
	uint32_t *unused; /* chunks; the one that emptied last is on top */
	uint32_t unused_cnt;
	uint32_t chunk, chunk_len; /* the one being filled */
};

struct order {
	unsigned lanes_cnt;
	size_t entries_max;
	uint64_t flushed_ns, late_cnt;
	uint64_t *oldest_ns; /* of each lane, ORDER_NONE = empty: looked through for each run */
	struct order_lane lanes[];
};

static int order_lane_init(struct order_lane *l, size_t chunks_cnt, size_t entries_max)
{
	/* pages are touched only as they fill */
	l->bytes = malloc(chunks_cnt * ORDER_CHUNK_SZ);
	l->entries = malloc(entries_max * sizeof(struct order_entry));
	l->waiting = calloc(chunks_cnt, sizeof(*l->waiting));
	l->unused = malloc(chunks_cnt * sizeof(*l->unused));
	if (!l->bytes || !l->entries || !l->waiting || !l->unused)
		return -ENOMEM;
	while (l->unused_cnt < chunks_cnt - 1) { /* the first is on top, number 0 is being filled */
		l->unused[l->unused_cnt] = (uint32_t)(chunks_cnt - 1 - l->unused_cnt);
		l->unused_cnt++;
	}
	return 0;
}

int order_new(unsigned lanes_cnt, size_t lane_sz, struct order **ret)
{
	struct order *o = calloc(1, sizeof(*o) + lanes_cnt * sizeof(o->lanes[0]));
	size_t chunks_cnt = (lane_sz + ORDER_CHUNK_SZ - 1) / ORDER_CHUNK_SZ;

	if (!o)
		return -ENOMEM;
	if (chunks_cnt < ORDER_CHUNKS_MIN)
		chunks_cnt = ORDER_CHUNKS_MIN;
	o->lanes_cnt = lanes_cnt;
	o->entries_max = chunks_cnt * ORDER_CHUNK_SZ / ORDER_RECORD_SZ_MIN;
	o->oldest_ns = malloc(lanes_cnt * sizeof(*o->oldest_ns));
	if (!o->oldest_ns) {
		order_free(o);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < lanes_cnt; i++) {
		o->oldest_ns[i] = ORDER_NONE;
		if (order_lane_init(&o->lanes[i], chunks_cnt, o->entries_max)) {
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
		free(o->lanes[i].waiting);
		free(o->lanes[i].unused);
	}
	free(o->oldest_ns);
	free(o);
}

/* Moves the entries that wait to the front. */
static void order_compact(struct order_lane *l)
{
	memmove(l->entries, l->entries + l->first, (l->last - l->first) * sizeof(l->entries[0]));
	l->last -= l->first;
	l->first = 0;
}

static size_t order_sz(size_t sz)
{
	return (sz + ORDER_ALIGN - 1) & ~(size_t)(ORDER_ALIGN - 1);
}

static bool order_has_room(const struct order *o, struct order_lane *l, size_t sz)
{
	if (l->last == o->entries_max)
		order_compact(l);
	return l->last < o->entries_max &&
	       (l->chunk_len + order_sz(sz) <= ORDER_CHUNK_SZ || l->unused_cnt);
}

/* Where the record now lies; there must be room. */
static uint32_t order_copy(struct order_lane *l, const void *rec, size_t sz)
{
	uint32_t off;

	if (l->chunk_len + order_sz(sz) > ORDER_CHUNK_SZ) {
		l->chunk = l->unused[--l->unused_cnt];
		l->chunk_len = 0;
	}
	off = l->chunk * ORDER_CHUNK_SZ + l->chunk_len;
	memcpy(l->bytes + off, rec, sz);
	l->chunk_len += (uint32_t)order_sz(sz);
	l->waiting[l->chunk]++;
	return off;
}

int order_add(struct order *o, unsigned lane, const struct wire_head *rec, size_t sz)
{
	struct order_lane *l = &o->lanes[lane];
	struct order_entry e = { .ts_ns = rec->ts_ns, .sz = (uint32_t)sz };
	size_t at;

	if (!order_has_room(o, l, sz))
		return -ENOSPC;
	if (e.ts_ns == ORDER_NONE)
		e.ts_ns--;
	e.off = order_copy(l, rec, sz);
	for (at = l->last; at > l->first && l->entries[at - 1].ts_ns > e.ts_ns; at--)
		l->entries[at] = l->entries[at - 1];
	l->entries[at] = e;
	l->last++;
	if (at == l->first)
		o->oldest_ns[lane] = e.ts_ns;
	if (e.ts_ns > l->last_ns)
		l->last_ns = e.ts_ns;
	return !order_has_room(o, l, ORDER_RECORD_SZ_MAX);
}

/* The lane with the oldest record that waits, and the oldest stamp in any other lane. */
static unsigned order_oldest(const struct order *o, uint64_t *ret_ns, uint64_t *ret_next_ns)
{
	uint64_t best_ns = ORDER_NONE, next_ns = ORDER_NONE;
	unsigned best = 0;

	for (unsigned i = 0; i < o->lanes_cnt; i++) {
		uint64_t ts_ns = o->oldest_ns[i];

		if (ts_ns < best_ns) {
			next_ns = best_ns;
			best_ns = ts_ns;
			best = i;
		} else if (ts_ns < next_ns) {
			next_ns = ts_ns;
		}
	}
	*ret_ns = best_ns;
	*ret_next_ns = next_ns;
	return best;
}

/* Its record has left. */
static void order_left(struct order_lane *l, const struct order_entry *e)
{
	uint32_t chunk = e->off / ORDER_CHUNK_SZ;

	if (--l->waiting[chunk])
		return;
	if (chunk == l->chunk)
		l->chunk_len = 0;
	else
		l->unused[l->unused_cnt++] = chunk;
}

void order_flush(struct order *o, uint64_t upto_ns, order_cb cb, void *ctx)
{
	uint64_t best_ns, next_ns;

	for (;;) {
		unsigned best = order_oldest(o, &best_ns, &next_ns);
		uint64_t stop_ns = next_ns < upto_ns ? next_ns : upto_ns;
		struct order_lane *l = &o->lanes[best];

		if (best_ns == ORDER_NONE || best_ns > upto_ns)
			break;
		do {
			const struct order_entry *e = &l->entries[l->first++];

			if (e->ts_ns < o->flushed_ns)
				o->late_cnt++;
			else
				o->flushed_ns = e->ts_ns;
			cb(ctx, (const struct wire_head *)(l->bytes + e->off), e->sz);
			order_left(l, e);
		} while (l->first < l->last && l->entries[l->first].ts_ns <= stop_ns);
		o->oldest_ns[best] = l->first < l->last ? l->entries[l->first].ts_ns : ORDER_NONE;
	}
	for (unsigned i = 0; i < o->lanes_cnt; i++) {
		struct order_lane *l = &o->lanes[i];

		if (l->first == l->last ||
		    (l->first >= ORDER_SPENT_MIN && l->first / 2 >= l->last - l->first))
			order_compact(l);
	}
}

uint64_t order_lane_last(const struct order *o, unsigned lane)
{
	return o->lanes[lane].last_ns;
}

uint64_t order_late(const struct order *o)
{
	return o->late_cnt;
}
