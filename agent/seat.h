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
struct wire_seat_layout;

enum seat_flavor { SEAT_UNKNOWN, SEAT_MULTI_THREAD, SEAT_CURRENT_THREAD };

struct seat { /* a multi_thread worker */
	uint64_t handle; /* address of the runtime's Handle: the ArcInner Tokio's tasks point to */
	uint32_t index, workers_cnt;
	/* Of the run queue's head word (u64); 0 = not known yet: no queue of this build has been
	 * used so far. Ask again once tasks were polled. */
	uint64_t queue_addr;
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

/*
 * The seat of thread `tid`, whose thread pointer is `fsbase`. 0, -ENOENT (no multi_thread worker
 * as far as can be proven: also a thread that has not begun, so ask again later), -ESRCH (gone).
 * At most 10 reads once the build is learnt, which takes one worker other than worker 0 that
 * holds its Core; before that a search, bounded at 6000 reads. A Core is on the move for moments
 * between polls: has_core false once says little, false on one thread and true on another with
 * the same (handle, index) says who is the worker. Not thread-safe: one struct seats, one thread.
 */
int seats_find(struct seats *s, pid_t tid, uint64_t fsbase, struct seat *ret);

/* The way to a seat, for BPF to go by itself (wire.h). 0 = wholly learnt; 1 = all but the run queue
 * (no queue has been used yet: ask again); 2 = not where the index stands (only runtimes of one
 * worker have been seen, where it is 0: ask again); -EAGAIN = not yet; -ENOTSUP = Tokio lies in a shared
 * object or in several files, so that its threads' words move. */
int seats_layout(const struct seats *s, struct wire_seat_layout *ret);

/* Which scheduler the word at a task's scheduler_off points to; ask while a task of it is alive
 * (a current_thread runtime of Tokio before 1.35 is known by its tasks). `scheduler` as in struct
 * wire_owner. -ENOENT when it is neither shape: a LocalSet, or not known yet. */
int seats_flavor(struct seats *s, uint64_t scheduler, enum seat_flavor *ret);

/*
 * Queue depth and alive tasks of the runtime behind `scheduler`. `owner_id` (0 = unknown: then
 * alive is unknown) and `owned_tasks` (address, 0 = unknown) as seen in wire records. Called at
 * each tick (pace.h): one read once both are learnt, which alive is at once from Tokio 1.35 on and after one
 * walk of the tasks from 1.29 on, and the depth after the inject queue was seen with two tasks or
 * more and then with another length. Never known: alive before 1.29, the depth of a current_thread
 * runtime before 1.29. Single ticks may be unknown (read in the middle of a change).
 * 0, -ENOENT (no runtime there), -ESRCH.
 */
int seats_runtime(struct seats *s, uint64_t scheduler, uint64_t owner_id, uint64_t owned_tasks,
		  struct seat_runtime *ret);

/* An Arc<...> name tag cannot be trusted after its runtime is dropped: forget what is known. */
void seats_forget(struct seats *s, uint64_t scheduler);

#endif /* DIAL9_SEAT_H */
