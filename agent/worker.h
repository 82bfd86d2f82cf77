/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - which worker a thread is, and that each worker's events alternate.
 *
 * Per worker id, PollStart and PollEnd strictly alternate, and so do Park and Unpark: whatever was
 * lost, a start closes what is open before it, and says so (agent:InferredEnd). A worker has at
 * most one thread, its holder; in block_in_place another thread takes the worker over while the
 * first one's poll is still open: that poll's PollEnd is written at the hand-off, its true end
 * becomes agent:BlockInPlace.
 */
#ifndef DIAL9_WORKER_H
#define DIAL9_WORKER_H

#include <stdbool.h>
#include <stdint.h>

struct emit;
struct poll;
struct runtimes;
struct seat;
struct thread;
struct track_options;
struct track_stats;
struct worker;
struct workers;

/* Tokio gives a task back some instructions before the call that polled it returns. When another
 * worker has the task by then, an exact end later than this, and any inferred one that is later, is
 * taken for that worker's start. */
#define WORKER_TAIL_NS 50000

/* How an end is known; 1-4 are struct wire_poll_end.rule. */
enum worker_rule {
	RULE_EXACT = 0,
	RULE_NEXT_START = 1,
	RULE_TLS = 2,
	RULE_STATE = 3,
	RULE_SWITCH_OUT = 4,
	RULE_HANDOFF = 5, /* another thread polls as this worker */
	RULE_LOST = 6, /* its record was lost: a later one shows that it is over */
	RULE_THREAD_EXIT = 7,
	RULE_FINISH = 8, /* the recording ends */
	RULE_ELSEWHERE = 9, /* the same task is polled by another worker */
	RULE_LEVEL = 10, /* polls are not recorded any more */
};

int workers_new(const struct track_options *o, struct runtimes *rs, struct emit *e,
		struct track_stats *stats, struct workers **ret);
void workers_free(struct workers *ws);

/*
 * The worker that `th` is when it polls a task of list `owner_id` outside any other task; `th`
 * becomes its holder and th->worker is set. NULL when no id is to be had. Asks track_ops.seat when
 * the thread is new, has lost its worker or changes lists; an answer "unknown" is asked again
 * after a while, and until then the thread has a worker of its own.
 */
struct worker *workers_place(struct workers *ws, struct thread *th, uint32_t owner_id,
			     uint64_t ts_ns);

/* The thread's own memory showed this seat at ts_ns, as it was about to poll: it is that worker
 * from now on, whoever was before. false: the seat fits no runtime, or ids have run out. */
bool workers_seated(struct workers *ws, struct thread *th, const struct seat *seat, uint64_t ts_ns);

/* The thread before its first poll: a seat gives it its worker, all else waits. */
void workers_greet(struct workers *ws, struct thread *th);

/* The thread is no worker any more (exit; a new blocking task runs on it). Its polls are closed. */
void workers_release(struct workers *ws, struct thread *th, uint64_t ts_ns);

/* Records up to `to_ns` were lost: a poll begun before then, and closed only by the next one, may
 * have ended at any time. */
void workers_lost(struct workers *ws, uint64_t to_ns);

/* Begin `p` (filled in, kind POLL_WORKER) on its worker. */
void workers_poll_start(struct workers *ws, struct poll *p, uint64_t local_queue);

/* End it; after a hand-off this writes agent:BlockInPlace if the end is exact, else nothing. */
void workers_poll_end(struct workers *ws, struct thread *th, struct poll *p, uint64_t ts_ns,
		      enum worker_rule rule);

/* th->worker goes to sleep, wakes up. sched_wait_ns: UINT64_MAX = unknown. */
void workers_park(struct workers *ws, struct thread *th, uint64_t ts_ns);
void workers_unpark(struct workers *ws, struct thread *th, uint64_t ts_ns, uint64_t sched_wait_ns);

#endif /* DIAL9_WORKER_H */
