/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - the bytes between two writes: encoder, pools, and the count of what is in them.
 *
 * Private to emit.c. Bytes that the sink refuses are gone; what was in them moves from `events` to
 * `lost`, and the open polls go back to what the file knows.
 */
#ifndef DIAL9_BATCH_H
#define DIAL9_BATCH_H

#include "agent/emit.h"
#include "agent/names.h"

struct batch_workers { /* a bit per worker id */
	uint64_t w[EMIT_WORKERS_MAX / 64];
};

struct batch {
	struct d9_enc enc;
	const struct emit_sink *sink;
	void *ctx;
	struct d9_pool *pool;
	struct names *names;
	struct addrs *addrs; /* of the segment's stacks */
	const uint64_t *frames; /* the next stack */
	size_t frames_cnt;
	struct batch_workers open; /* polls begun and not ended, this batch included */
	struct batch_workers open_sent; /* the same up to the last batch the sink took */
	uint32_t cnt[D9_EV_CNT]; /* events in this batch */
	uint64_t from_ns; /* stamp of its first event */
	uint64_t since_ns; /* when that was put; 0 = empty */
	uint64_t now_ns; /* as of the last emit_tick */
	bool has_failed; /* bytes were refused: nothing can be written before a new segment */
	uint64_t loss_from_ns;
	uint64_t loss_cnt[D9_EV_CNT]; /* not yet told in the trace */
	struct emit_stats stats;
	struct {
		uint64_t batch_no;
		uint32_t id;
	} pooled[NAMES_MAX]; /* pool id of each name, valid for one header */
	uint8_t buf[EMIT_BATCH_SZ];
};

/* 0, -ENOMEM. */
int batch_new(const struct emit_sink *sink, void *ctx, struct batch **ret);
void batch_free(struct batch *b);

/* Hands the bytes to the sink. 0 or its error; the batch is empty then. */
int batch_flush(struct batch *b);

/* The sink refused something: count what is in the batch as lost. */
void batch_lost(struct batch *b);

/* More than any event with its schema, four new names and a new stack can need. */
#define BATCH_ROOM_SZ (16u << 10)

static inline void batch_make_room(struct batch *b, size_t sz)
{
	if (b->enc.cap - b->enc.len < sz)
		batch_flush(b);
}

/* Pool ids of a name and of b->frames. A full pool begins a new header, which voids the ids given
 * before: the caller compares enc.batch_no. Room must have been made. */
uint32_t batch_new_name(struct batch *b, uint32_t name);
uint32_t batch_stack(struct batch *b);

static inline uint32_t batch_name(struct batch *b, uint32_t name)
{
	if (name < NAMES_MAX && b->pooled[name].batch_no == b->enc.batch_no)
		return b->pooled[name].id;
	return batch_new_name(b, name);
}

/* An event of this kind was put. */
static inline void batch_count(struct batch *b, enum d9_event ev, uint64_t ts_ns)
{
	b->stats.events[ev]++;
	b->cnt[ev]++;
	if (!b->since_ns) {
		b->since_ns = b->now_ns;
		b->from_ns = ts_ns;
	}
}

/*
 * Per worker, the file holds start, end, start, end. false: this one does not fit; an end whose
 * start was lost with refused bytes is the only case that occurs.
 */
static inline bool batch_poll(struct batch *b, bool is_start, uint64_t worker_id)
{
	uint64_t bit = 1ull << (worker_id & 63);
	uint64_t *word = &b->open.w[worker_id / 64 & (EMIT_WORKERS_MAX / 64 - 1)];

	if (worker_id >= EMIT_WORKERS_MAX || !!(*word & bit) == is_start)
		return false;
	*word ^= bit;
	return true;
}

#endif /* DIAL9_BATCH_H */
