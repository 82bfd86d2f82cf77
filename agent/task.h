/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - the tasks alive, by Tokio's id: open addressing, 16 bytes a task.
 *
 * The table grows only in tasks_tick, never on the event path. Neighbouring ids share a cache
 * line, since they are spawned and polled together. Ends are remembered for a while, so that a
 * stray record about an ended task does not bring it to life again (Tokio never reuses an id).
 */
#ifndef DIAL9_TASK_H
#define DIAL9_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TASKS_MAX (1u << 20) /* alive at once; a further task is not remembered */
#define TASKS_ENDED_MAX 16384 /* remembered ends, the latest per hash */
#define TASK_NO_LIST 0xff

struct task {
	uint64_t id; /* 0 = free slot: Tokio never gives it out */
	uint32_t name; /* emit_name of its spawn place, else its type */
	uint16_t polled_by; /* id of the worker that polled it last + 1, 0 = none */
	uint8_t list; /* number of its task list (tasklist.h), TASK_NO_LIST = unknown */
	bool is_unpolled : 1; /* spawned before our eyes, not polled yet */
	bool is_fresh : 1; /* polled since the last time the table was aged */
	bool is_woken : 1; /* its schedule() was hit since its last poll began */
	bool has_held_wake : 1; /* wake.h */
};

struct tasks;

int tasks_new(struct tasks **ret);
void tasks_free(struct tasks *t);

/* NULL if not there. A pointer is good until the next add, remove or tick. */
struct task *tasks_find(struct tasks *t, uint64_t id);

/* The id must not be there. NULL at the cap (or, between two ticks, when a burst outran the
 * growth). The new entry is zero but for its id, its list (TASK_NO_LIST) and is_fresh. */
struct task *tasks_add(struct tasks *t, uint64_t id);

/* Forgets the task and remembers its end. An id that is not there is only remembered. */
void tasks_end(struct tasks *t, uint64_t id);
bool tasks_has_ended(const struct tasks *t, uint64_t id);

/*
 * Grows the table when it is half full. With `can_age` (ends are not recorded, so entries are
 * never removed) tasks that were not polled between two agings go once the table cannot grow.
 */
void tasks_tick(struct tasks *t, bool can_age);

size_t tasks_cnt(const struct tasks *t);

#endif /* DIAL9_TASK_H */
