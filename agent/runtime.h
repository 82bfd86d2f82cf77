/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - the runtimes of the target: which task list and which scheduler belongs to which,
 * their names, their blocks of worker ids.
 *
 * A multi_thread runtime has as many workers as its seats say, a current_thread runtime one. What
 * is neither gets a block of its own: local-<tid> (LocalSet, block_on: one thread), unknown-<owner>
 * (a multi_thread runtime whose seats cannot be read: one worker per polling thread).
 * A block whose threads are all gone goes to the next runtime of the same shape, name and all, so
 * that a program which makes runtimes all day does not use up the ids.
 */
#ifndef DIAL9_RUNTIME_H
#define DIAL9_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct emit;
struct poll;
struct runtimes;
struct seat;
struct thread;
struct track_options;

/* Ids that dial9's readers use for "blocking pool" and "unknown": never a worker's. */
#define WORKER_BLOCKING 254u
#define WORKER_UNKNOWN 255u

enum runtime_kind { RUNTIME_NONE, RUNTIME_MULTI, RUNTIME_CURRENT, RUNTIME_LOCAL, RUNTIME_UNSEATED };

struct runtime {
	uint8_t kind; /* enum runtime_kind; NONE = free */
	uint32_t owner_id; /* of its task list, 0 = not seen yet */
	uint64_t scheduler; /* address of its Handle, 0 = none */
	uint32_t key; /* LOCAL: tid; UNSEATED: owner id */
	uint32_t workers_cnt; /* 0 = block not reserved yet; UNSEATED has no block */
	struct worker *workers; /* workers_cnt of them, ids contiguous */
	uint32_t name; /* emit_name */
	struct runtime_sampled { /* gauge.c: of its list of tasks */
		uint32_t owner_id; /* that list */
		bool has_depth, has_alive; /* known once */
		uint8_t missed; /* ticks since then at which one was not to be had */
	} sampled;
	char label[48]; /* the same, as text */
};

struct worker {
	uint32_t id;
	struct runtime *runtime;
	struct thread *holder; /* thread that is this worker, NULL = none known */
	struct poll *open; /* its open poll, on `holder` */
	struct thread *parked; /* thread whose WorkerParkEvent is open, NULL = not parked */
	bool was_held;
	bool is_unread; /* unread.c: its poll starts carry no queue length */
	uint64_t unread_ns; /* the last of these */
};

int runtimes_new(const struct track_options *o, struct emit *e, struct runtimes **ret);
void runtimes_free(struct runtimes *rs);

/* Tasks of list `owner_id` carry this scheduler word. */
void runtimes_owner(struct runtimes *rs, uint64_t owner_id, uint64_t scheduler);

/* MULTI or CURRENT runtime of a task list. NULL: *ret_is_known says whether it is known to be
 * neither, or was not heard of (its record was lost). */
struct runtime *runtimes_by_owner(struct runtimes *rs, uint32_t owner_id, bool *ret_is_known);

/* Runtime of a seat, its block reserved; NULL when ids or runtimes have run out or the seat does
 * not fit what is known of the runtime. */
struct runtime *runtimes_by_seat(struct runtimes *rs, pid_t tid, const struct seat *seat);

/* The worker of a CURRENT runtime, of the thread's LOCAL one (`rt` NULL); a worker of the UNSEATED
 * runtime `owner_id` that no thread holds. NULL when ids or runtimes have run out. */
struct worker *runtimes_single(struct runtimes *rs, pid_t tid, struct runtime *rt);
struct worker *runtimes_unseated(struct runtimes *rs, uint32_t owner_id);

/* Any worker by its id, NULL if there is none. */
struct worker *runtimes_worker(struct runtimes *rs, uint32_t id);

/* Each runtime that has workers of its own and is not over: start with 0, NULL at the end. */
struct runtime *runtimes_next(struct runtimes *rs, uint32_t *at);

#endif /* DIAL9_RUNTIME_H */
