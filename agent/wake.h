/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake.h - effective wakes: the moments at which a task that was idle became runnable. Between two
 * of them there is a poll.
 *
 * Most come by schedule(). A task woken during its own poll is given back to the queue by the poll
 * itself, which shows as NOTIFIED in its state once the poll is over. That alone does not tell: by
 * then another thread may have woken it (its schedule() is hit a little later), or even polled it.
 * So such a wake is held back until the task is polled, and dropped if a schedule() comes first.
 */
#ifndef DIAL9_WAKE_H
#define DIAL9_WAKE_H

#include <stdbool.h>
#include <stdint.h>

#define WAKES_HELD_MAX 64 /* tasks so woken and not polled yet; further ones are told at once */

struct task;
struct thread;
struct track;

struct wake_held {
	uint64_t task_id, ts_ns;
	uint8_t worker_id; /* as in WakeEventEvent */
};
struct wakes {
	struct wake_held held[WAKES_HELD_MAX];
	uint32_t held_cnt;
};

/* schedule() of a task was hit. `task` is NULL if it is not known. */
void wake_scheduled(struct track *t, struct task *task, uint64_t ts_ns, uint64_t waker_id,
		    uint64_t woken_id, const struct thread *th);

/* A poll of the task on `th` is over and NOTIFIED stood. `is_last`: no other began since. */
void wake_notified(struct track *t, struct task *task, uint64_t task_id, uint64_t ts_ns,
		   const struct thread *th, bool is_last);

/* The task is polled, or is over: tells what was held back. */
void wake_due(struct track *t, struct task *task);

/* The task is polled while its last poll, on `th`, has not reached its end: without a schedule() in
 * between it was that poll that gave it back. */
void wake_overtaken(struct track *t, struct task *task, uint64_t ts_ns, const struct thread *th);

/* The recording ends: tells all that is held back. */
void wake_finish(struct track *t);

#endif /* DIAL9_WAKE_H */
