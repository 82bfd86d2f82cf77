/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pains.h - what may hurt, counted in one pass: the raw material of findings (judge.h).
 *
 * Memory: a row for each task type, PAINS_CALLS_MAX (type, system call) pairs, PAINS_CURVE_MAX
 * points of each type's living tasks, and PAINS_HOT_MAX stacks of it. Pairs beyond the cap are counted in `calls_over_cap`.
 */
#ifndef DIAL9_PAINS_H
#define DIAL9_PAINS_H

#include "study.h"
#include "verdict.h"

#define PAINS_CALLS_MAX 1024u
#define PAINS_CURVE_MAX 64u
#define PAINS_HOT_MAX 8u

/* Thresholds of dial9's red flags, and ours where it has none. */
#define PAINS_LONG_NS 10000000ull /* a long poll */
#define PAINS_LATE_NS 5000000ull /* a late poll: wake-to-poll */
#define PAINS_BLOCK_NS 1000000ull /* off CPU in a poll */
#define PAINS_DELAY_NS 1000000ull /* runnable without a CPU */
#define PAINS_STORM_CNT 100u /* tasks woken by one poll, or without a task within 1 ms */
#define PAINS_STORM_NS 1000000ull

struct pain_poll { /* one poll, as evidence */
	uint64_t ns, task, start_ns;
	uint32_t nr, worker, off_worst, off_stack, wakes;
};

struct pain_wait { /* one wait, as evidence */
	uint64_t ns, task, from_ns;
	uint32_t worker;
};

struct pain_hot { /* by Misra and Gries: one with over 1 / PAINS_HOT_MAX of all is never lost */
	uint32_t stack, cnt; /* cnt 0: free */
};

struct pain_type {
	uint64_t long_cnt, long_ns;
	uint64_t verdicts[VERDICT_CNT]; /* ns of long polls, by the verdict of each */
	struct pain_poll longest;
	uint64_t late_cnt, late_ns, late_idle_cnt; /* idle: another worker was parked meanwhile */
	uint64_t late_parts[WATCH_STATES];
	struct pain_wait latest;
	uint64_t storm_cnt, storm_wakes;
	struct pain_poll storm; /* the greatest */
	/* without a CPU though it could run: preempted in polls, and ready while the worker that
	 * polled it in the end waited for one */
	uint64_t preempted_ns, starved_ns;
	struct pain_poll preempted; /* the longest */
	struct pain_hot hot[PAINS_HOT_MAX]; /* stacks that CPU samples hit in its polls */
	uint32_t curve[PAINS_CURVE_MAX]; /* tasks spawned and not ended */
};

struct pain_call { /* off CPU for PAINS_BLOCK_NS and more in polls of one type, in one call */
	uint32_t type, label;
	uint64_t cnt, ns;
	struct pain_poll worst;
};

struct pain_worker {
	uint64_t polls;
	uint64_t cpu_ns, cpu_at_ns; /* at the last unpark */
	bool has_cpu;
	uint64_t periods, contended; /* active ones of 1 ms and more; of those under half on CPU */
};

struct pains {
	struct pain_type *types;
	uint32_t types_cnt;
	struct pain_call calls[PAINS_CALLS_MAX];
	uint32_t calls_cnt;
	uint64_t calls_over_cap;
	struct pain_worker *workers; /* MOMENT_WORKERS_MAX */
	/* runnable without a CPU: after parks, and preempted in polls */
	uint64_t delay_cnt, delay_ns, preempted_cnt, preempted_ns;
	uint64_t busy_ns, between_ns, unknown_ns; /* unknown: awake, or nothing is known of it */
	struct pain_wait delay; /* the longest after a park; its task is 0 */
	/* queues: the deepest seen */
	uint64_t queue_max, queue_at_ns, queue_known;
	uint32_t queue_worker; /* MOMENT_NO_WORKER: the global queue */
	/* wakes by no task */
	uint64_t wakes, driver_from_ns, driver_cnt, driver_storms, driver_storm_wakes, driver_worst,
		driver_worst_ns;
	uint32_t curve_cnt;
	uint64_t curve_step_ns, curve_next_ns;
};

/* Members of study_ops whose study.own is a struct pains. */
void pains_slice(struct study *s, const struct watch_slice *slice);
void pains_poll(struct study *s, uint32_t worker, const struct worker_poll *p, uint64_t end_ns);
void pains_wait(struct study *s, const struct watch_wait *w, const struct behind_parts *parts);
void pains_off(struct study *s, const struct moment *m, uint32_t type);
void pains_sample(struct study *s, const struct moment *m, uint32_t worker, uint32_t type);
void pains_moment(struct study *s, const struct moment *m);
void pains_event(struct study *s, const struct d9_ev *ev);
void pains_done(struct pains *p);

#endif /* DIAL9_PAINS_H */
