/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - what is known of each thread of the target: the polls open on it, its worker, whether
 * it sleeps. Plain data; poll.c, worker.c and offcpu.c each keep their part of it.
 */
#ifndef DIAL9_THREAD_H
#define DIAL9_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define THREADS_MAX 32768 /* alive at once; records of a further thread are ignored, counted */
#define THREAD_DEPTH 8 /* WIRE_POLL_DEPTH */
#define THREAD_SUMS_CNT 9 /* WIRE_SUM_CNT */
#define THREAD_SEATS 4 /* task lists a thread polls in turn, e.g. a runtime's and a LocalSet's */

struct worker;

enum poll_kind {
	POLL_NONE, /* nothing known at this depth: its start was not seen */
	POLL_WORKER, /* a PollStartEvent stands in the trace */
	POLL_NESTED, /* inside another task's poll */
	POLL_BLOCKING, /* a blocking-pool task */
	POLL_UNPLACED, /* no worker id was to be had: counted, not written */
};

struct poll { /* one open poll */
	uint64_t task_id, start_ns;
	uint64_t vtable;
	uint64_t overtaken_ns; /* another worker began to poll the same task; 0 = no */
	uint64_t handoff_ns; /* another thread took the worker during this poll; 0 = no */
	uint64_t queued_ns; /* POLL_BLOCKING: when it was spawned, 0 = unknown */
	struct worker *worker; /* POLL_WORKER: whose poll it is (or was, before the hand-off) */
	uint32_t name; /* spawn place or type */
	uint8_t kind; /* enum poll_kind */
	bool is_launch; /* POLL_BLOCKING: this task is a multi_thread worker, not user work */
	bool has_async; /* POLL_BLOCKING: async tasks were polled inside it */
	bool was_cancelled; /* CANCELLED stood at its start */
};

struct thread_seat { /* which worker a thread is when it polls tasks of one list */
	uint32_t owner_id; /* 0 = free */
	struct worker *worker;
};

struct thread {
	pid_t tid; /* 0 = free */
	uint8_t depth; /* entries of polls[] in use */
	uint8_t seat_next;
	bool is_pool; /* ran a blocking task that was no worker launch */
	struct worker *told; /* by a WIRE_SEAT: what it is until its worker task ends, even when
			      * another thread stands in for it (block_in_place) and it comes back */
	struct worker *worker; /* the latest it polled as; NULL = none or lost */
	struct poll polls[THREAD_DEPTH];
	struct thread_seat seats[THREAD_SEATS];
	uint64_t retry_ns; /* when its seat may be asked for again after a failure */
	uint64_t cpu_time_ns; /* as last seen */
	uint32_t off_slot; /* its off-CPU interval's place in offcpu.c + 1; 0 = none */
	uint32_t comm_name; /* emit_name of comm; 0 = not known */
	char comm[16];
	bool is_summed; /* parks.c: its switches are added up, ... */
	uint64_t sums_ns; /* ... up to here, to these */
	uint64_t sums[THREAD_SUMS_CNT];
};

struct threads;

int threads_new(struct threads **ret);
void threads_free(struct threads *t);

/* The thread, made if need be. NULL at the cap. Stays where it is until threads_end. */
struct thread *threads_get(struct threads *t, pid_t tid);
/* NULL if it was never seen. */
struct thread *threads_find(struct threads *t, pid_t tid);
void threads_end(struct threads *t, struct thread *th);

/* Each thread there is, in no order: start with 0, NULL at the end. */
struct thread *threads_next(struct threads *t, uint32_t *at);

/* The innermost open poll of an async task (worker's, nested or unplaced), NULL = none. */
struct poll *thread_async_poll(struct thread *th);

#endif /* DIAL9_THREAD_H */
