// SPDX-License-Identifier: Apache-2.0
/* tasktable.c - linear probing over a power of two of slots; id 0 marks a free one. */
#include "tasktable.h"

#include <stddef.h>
#include <stdlib.h>

#define TASKTABLE_FIRST 4096u /* slots to begin with */

struct tasktable *tasktable_new(void)
{
	struct tasktable *t = calloc(1, sizeof(*t));

	if (t) {
		t->slots_cnt = TASKTABLE_FIRST;
		t->slots = calloc(t->slots_cnt, sizeof(*t->slots));
	}
	if (t && !t->slots) {
		free(t);
		return NULL;
	}
	return t;
}

void tasktable_free(struct tasktable *t)
{
	if (t)
		free(t->slots);
	free(t);
}

static void tasktable_put(struct tasktable *t, const struct task *task)
{
	uint32_t at = tasktable_slot(t, task->id);

	while (t->slots[at].id)
		at = (at + 1) & (t->slots_cnt - 1);
	t->slots[at] = *task;
	t->used_cnt++;
}

/*
 * Drops the entries of ended tasks, and doubles the table if that frees less than half of it. At
 * the cap it runs only once an eighth is freed by it, so that a full table costs no scan per event.
 */
static int tasktable_rehash(struct tasktable *t)
{
	struct tasktable next = { .slots_cnt = t->slots_cnt, .over_cap = t->over_cap };
	uint32_t live = t->used_cnt - t->ended_cnt;

	if (live > t->slots_cnt / 4 && t->slots_cnt < 2 * TASKTABLE_MAX)
		next.slots_cnt *= 2;
	else if (t->ended_cnt < t->used_cnt / 8)
		return -1;
	next.slots = calloc(next.slots_cnt, sizeof(*next.slots));
	if (!next.slots)
		return -1;
	for (uint32_t i = 0; i < t->slots_cnt; i++)
		if (t->slots[i].id && !(t->slots[i].flags & TASK_ENDED))
			tasktable_put(&next, &t->slots[i]);
	free(t->slots);
	*t = next;
	return 0;
}

struct task *tasktable_add(struct tasktable *t, uint64_t id)
{
	const struct task fresh = { .id = id, .type = TASK_TYPE_NONE };

	if (id == 0)
		return NULL;
	if (t->used_cnt >= t->slots_cnt / 2 && tasktable_rehash(t) != 0) {
		t->over_cap++;
		return NULL;
	}
	tasktable_put(t, &fresh);
	return tasktable_find(t, id);
}

void tasktable_end(struct tasktable *t, struct task *task)
{
	t->ended_cnt += !(task->flags & TASK_ENDED);
	task->flags |= TASK_ENDED;
	task->wake_ns = 0;
}

void tasktable_revive(struct tasktable *t, struct task *task)
{
	t->ended_cnt -= !!(task->flags & TASK_ENDED);
	*task = (struct task){ .id = task->id, .type = TASK_TYPE_NONE };
}

void tasktable_forget_states(struct tasktable *t)
{
	for (uint32_t i = 0; i < t->slots_cnt; i++) {
		t->slots[i].flags &= (uint8_t) ~(TASK_RUNNING | TASK_WOKEN_RUNNING);
		t->slots[i].wake_ns = 0;
	}
}

uint64_t tasktable_over_cap(const struct tasktable *t)
{
	return t->over_cap;
}
