/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seat.h - which worker of which runtime a thread is, read from the target's memory.
 *
 * Tokio keeps it in thread-local storage; the layout differs per build, so it is found by
 * invariants (pointer shapes that cannot agree by chance) and then remembered per build. It only
 * reads memory (target_read), bounded in reads and time, and says "unknown" whenever the shapes
 * do not agree: a wrong worker is worse than none.
 */
#ifndef DIAL9_SEAT_H
#define DIAL9_SEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory;
struct target;
struct plan;
struct seats;

enum seat_flavor { SEAT_UNKNOWN, SEAT_MULTI_THREAD, SEAT_CURRENT_THREAD };

struct seat { /* a multi_thread worker */
	uint64_t handle; /* address of the runtime's Handle: the ArcInner Tokio's tasks point to */
	uint32_t index, workers_cnt;
	uint64_t queue_addr; /* of the run queue's head word (u64); 0 = not found */
	uint16_t tail_off; /* tail (u32) lies this far behind it */
	bool has_core; /* it is the worker now (a thread in block_in_place has given its Core away) */
};

struct seat_runtime { /* memory reads for RuntimeMetricsEvent; each may be unknown */
	bool has_global_depth, has_alive;
	uint32_t global_depth; /* inject queue, tasks */
	uint32_t alive; /* tasks in the OwnedTasks list */
};

int seats_open(const struct target *t, const struct plan *p, struct seats **ret);
/* The same over any reader of memory (copied), for tests; `t` may be NULL. */
int seats_open_memory(const struct memory *m, const struct target *t, const struct plan *p,
		      struct seats **ret);
void seats_close(struct seats *s);

/* The seat of thread `tid`, whose thread pointer is `fsbase`. 0, -ENOENT (no multi_thread worker
 * as far as can be proven), -ESRCH (gone). About 10 reads once the build is calibrated. */
int seats_find(struct seats *s, pid_t tid, uint64_t fsbase, struct seat *ret);

/* Which scheduler the word at a task's scheduler_off points to. `scheduler` as in struct
 * wire_owner. -ENOENT when it is neither shape. */
int seats_flavor(struct seats *s, uint64_t scheduler, enum seat_flavor *ret);

/* Queue depth and alive tasks of the runtime behind `scheduler`. `owner_id` and `owned_tasks`
 * (address, 0 = unknown) as seen in wire records help to find the list. Called every 10 ms: at
 * most 8 reads once calibrated. */
int seats_runtime(struct seats *s, uint64_t scheduler, uint64_t owner_id, uint64_t owned_tasks,
		  struct seat_runtime *ret);

/* An Arc<...> name tag cannot be trusted after its runtime is dropped: forget what is known. */
void seats_forget(struct seats *s, uint64_t scheduler);

#endif /* DIAL9_SEAT_H */
