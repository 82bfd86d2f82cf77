/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - events of trace files into the arrays of a side.
 *
 * Ours alternate per worker. Theirs come in batches of one thread each (a header begins one), in
 * that thread's order; a poll is paired within its thread, since in block_in_place two threads end
 * polls as one worker. A poll cut by a batch's end is joined with the first end left over later.
 */
#ifndef TRUTH_READING_H
#define TRUTH_READING_H

#include "format/trace.h"
#include "test/truth/side.h"

#define READING_WORKERS_MAX 4096 /* the rest is counted as flaws */
#define READING_COLD_NS 1000000ull /* a poll that long leaves nothing of dial9's in the caches */

struct reading_open {
	uint64_t worker;
	size_t poll;
};
struct reading_late {
	uint64_t worker, ts_ns;
};
struct reading_park {
	uint64_t worker;
	uint32_t tid;
	size_t park;
};

struct reading {
	struct side *s;
	bool is_ours;
	uint64_t batch;
	bool has_slept; /* theirs: the thread's next poll is a cold one */
	struct reading_open open[READING_WORKERS_MAX]; /* polls not yet ended */
	size_t open_cnt, open_before; /* theirs: those before open_before are of other batches */
	struct reading_park parked[READING_WORKERS_MAX];
	size_t parked_cnt;
	size_t wakes_unfollowed; /* first wake whose next_ns waits for the thread's next event */
	SIDE_VEC(struct reading_late) left; /* theirs: ends whose start is in another batch */
	/* ours: what the metadata says of the events behind it */
	enum { READING_ALL, READING_PARTIAL, READING_NONE } queues;
	bool is_unread[READING_WORKERS_MAX]; /* READING_PARTIAL: workers whose queue is not read */
	bool has_depth, has_alive;
	SIDE_VEC(struct side_poll) marks; /* ours: agent:InferredEnd, agent:BlockInPlace */
};

uint32_t side_intern(struct d9_str s);

void reading_begin(struct reading *r, struct side *s, bool is_ours);
void reading_file(struct reading *r, const char *path);
void reading_end(struct reading *r);

/* After the side is sorted: what later events said about earlier polls. Frees the rest. */
void reading_amend(struct reading *r);

#endif
