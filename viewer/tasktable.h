/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasktable.h - what is known of each task, by id: an open-addressing table with a cap.
 *
 * A task that ended keeps its entry (so that late events about it are known to be late) until the
 * table needs the room. At TASKTABLE_MAX living tasks, or out of memory, tasktable_get answers
 * NULL and counts; whoever asked goes on without an entry.
 */
#ifndef DIAL9_TASKTABLE_H
#define DIAL9_TASKTABLE_H

#include <stddef.h>
#include <stdint.h>

#define TASKTABLE_MAX (1u << 20) /* entries; 32 bytes each, in a table at most half full */

enum task_flag {
	TASK_SPAWNED = 1, /* its spawn was seen */
	TASK_ALIVE = 2, /* first seen alive: by agent:Alive, or by any event but a spawn */
	TASK_POLLED = 4,
	TASK_RUNNING = 8, /* its poll on `worker` is open */
	TASK_WOKEN_RUNNING = 16, /* woken while running: its wait starts when that poll ends */
	TASK_ENDED = 32, /* set by tasktable_end */
};

struct task {
	uint64_t id; /* never 0 */
	uint64_t wake_ns; /* since when it waits to be polled, 0 = it does not */
	uint32_t type; /* its user's: an index, or all ones */
	uint32_t polls; /* begun so far */
	uint16_t worker;
	uint8_t flags;
};

#define TASK_TYPE_NONE UINT32_MAX

struct tasktable { /* for the functions below alone */
	struct task *slots; /* id 0 marks a free one */
	uint32_t slots_cnt, used_cnt, ended_cnt; /* slots_cnt is a power of two */
	uint64_t over_cap;
};

struct tasktable *tasktable_new(void); /* NULL: out of memory */
void tasktable_free(struct tasktable *t);

static inline uint32_t tasktable_slot(const struct tasktable *t, uint64_t id)
{
	/* ids are drawn in sequence: multiplying spreads them, the high half is the best mixed */
	return (uint32_t)((id * 0x9e3779b97f4a7c15ull) >> 32) & (t->slots_cnt - 1);
}

/* The entry of `id`, or NULL. Entries move: a pointer is good until the next tasktable_get. */
static inline struct task *tasktable_find(const struct tasktable *t, uint64_t id)
{
	uint32_t at = tasktable_slot(t, id);

	if (id == 0)
		return NULL;
	for (; t->slots[at].id != id; at = (at + 1) & (t->slots_cnt - 1))
		if (t->slots[at].id == 0)
			return NULL;
	return &t->slots[at];
}

/* One for an id that has none. */
struct task *tasktable_add(struct tasktable *t, uint64_t id);

/* As tasktable_find, made (all zero but id and type) if there is none. NULL at the cap or for id 0. */
static inline struct task *tasktable_get(struct tasktable *t, uint64_t id)
{
	struct task *have = tasktable_find(t, id);

	return have ? have : tasktable_add(t, id);
}

/* Brings the place of `id` into the cache, for a call that comes soon. */
static inline void tasktable_fetch(const struct tasktable *t, uint64_t id)
{
	__builtin_prefetch(&t->slots[tasktable_slot(t, id)]);
}

/* The task ended: its entry may go when the table needs room. */
void tasktable_end(struct tasktable *t, struct task *task);

/* Its id names a new task: the entry as tasktable_get makes it. */
void tasktable_revive(struct tasktable *t, struct task *task);

/* Forgets who runs and who waits: events are missing from here on (a hole in the trace). */
void tasktable_forget_states(struct tasktable *t);

uint64_t tasktable_over_cap(const struct tasktable *t); /* tasktable_get calls refused at the cap */

#endif /* DIAL9_TASKTABLE_H */
