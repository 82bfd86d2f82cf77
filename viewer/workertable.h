/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workertable.h - what each worker was doing, ns by ns.
 *
 * A worker's time is cut at its events into five parts that sum to the recording's span: busy (in
 * a poll), parked, delayed (runnable after a park, but without a CPU), between (awake, not in a
 * poll: Tokio's own work, or a block_on future) and unknown. Unknown is what stands before its
 * first event, after its last one (unless it is parked there), and where an event is missing: a
 * poll whose start or end was not seen is neither long nor short.
 */
#ifndef DIAL9_WORKERTABLE_H
#define DIAL9_WORKERTABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "busyruns.h"
#include "moment.h"

#define WORKERTABLE_THREADS_MAX 65536 /* threads remembered; samples of more have no worker */

enum worker_state { WORKER_UNKNOWN, WORKER_BETWEEN, WORKER_POLLING, WORKER_PARKED };

struct worker_poll { /* the open one */
	uint64_t task, start_ns;
	uint32_t type; /* row of typetable.h */
	uint32_t nr; /* its number among the task's polls seen, from 1; 0 = unknown */
	uint64_t nested_ns; /* polls of other tasks inside it */
	uint64_t off_ns, off_worst_ns; /* without CPU: in all, at the longest */
	uint64_t off_preempted_ns, off_lock_ns; /* of off_ns: preempted, in futex */
	uint32_t off_worst, off_stack; /* label of the longest, see MOMENT_OFF_CPU; its stack */
	uint32_t wakes; /* of other tasks, by it */
	uint32_t samples;
	uint8_t cut_rule; /* 0, or the agent:InferredEnd rule that its end goes by */
};

struct worker {
	bool is_seen;
	enum worker_state state;
	uint64_t since_ns; /* of the last cut */
	uint64_t first_ns;
	uint64_t busy_ns, parked_ns, delayed_ns, between_ns, unknown_ns;
	uint64_t polls, parks, unparks;
	uint64_t delays_known; /* unparks that tell their delay */
	uint64_t cut_polls; /* whose end was not seen */
	uint64_t samples;
	uint32_t runtime; /* label of its runtime's name, LABEL_UNKNOWN if none claims it */
	struct worker_poll poll;
	/* the last one, until it is sure that nothing says its end was not seen */
	bool has_ended;
	uint64_t ended_ns; /* its length */
	uint64_t ended_at_ns;
	struct worker_poll ended;
	bool is_told, is_void; /* to the watch; its time is unknown after all */
	struct busyrun run; /* while polls are not recorded */
};

#define WORKERTABLE_SLOTS (2 * WORKERTABLE_THREADS_MAX)

struct workertable_thread {
	uint32_t tid; /* 0 = free */
	uint16_t worker;
};

struct workertable { /* for the functions below alone */
	struct worker workers[MOMENT_WORKERS_MAX];
	struct workertable_thread threads[WORKERTABLE_SLOTS];
	uint32_t threads_cnt;
	uint32_t ids_cnt; /* 1 more than the greatest id asked for */
};

struct workertable *workertable_new(void); /* NULL: out of memory */
void workertable_free(struct workertable *t);

/* The worker of an id below MOMENT_WORKERS_MAX. Not made "seen" by this. */
static inline struct worker *workertable_get(struct workertable *t, uint32_t id)
{
	if (id >= t->ids_cnt)
		t->ids_cnt = id + 1;
	return &t->workers[id];
}

/* All ids asked for are below this. */
uint32_t workertable_cnt(const struct workertable *t);

/*
 * Cuts a worker's time at `ts_ns`: what lies since the last cut counts for the state it was in,
 * as unknown if that is not `expected` (events are missing then), and its state becomes `next`.
 * Returns the length counted for the old state, 0 if it was unknown.
 */
uint64_t workertable_cut(struct worker *w, uint64_t ts_ns, enum worker_state expected,
			 enum worker_state next);

/* Moves up to `ns` of the last park to delayed_ns. */
void workertable_delay(struct worker *w, uint64_t park_ns, uint64_t delay_ns);

/* Moves time of parks that were added up (agent:Parks) from unknown_ns or, if that is not enough,
 * between_ns: no more than there is, so that the parts still sum to the whole. */
void workertable_parks(struct worker *w, uint64_t parked_ns, uint64_t delayed_ns);

/* A thread works for a worker, as a park or unpark said; and who a thread works for. */
void workertable_bind(struct workertable *t, uint32_t tid, uint16_t worker);
uint16_t workertable_of_thread(const struct workertable *t, uint32_t tid); /* or MOMENT_NO_WORKER */

/* Events are missing from here on: all states are unknown until the next event. */
void workertable_gap(struct workertable *t);

/* Another session of the recorder begins: which thread works for whom is not known any more. */
void workertable_unbind(struct workertable *t);

/* Ends all time at the span's end and adds what lies before each worker's first event. */
void workertable_finish(struct workertable *t, uint64_t first_ns, uint64_t last_ns);

#endif /* DIAL9_WORKERTABLE_H */
