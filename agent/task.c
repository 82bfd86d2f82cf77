// SPDX-License-Identifier: Apache-2.0
/* task.c - see task.h. */
#include "agent/task.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/log.h"

#define FIRST_BITS 16
#define LAST_BITS 21 /* TASKS_MAX at half load */

struct tasks {
	struct task *slots;
	uint32_t mask, cnt, max;
	unsigned shift;
	uint64_t ended[TASKS_ENDED_MAX];
};
_Static_assert(sizeof(struct task) == 16, "struct task");

/* Four neighbouring ids take the four slots of one cache line. */
static inline uint32_t home(const struct tasks *t, uint64_t id)
{
	uint32_t line = (uint32_t)((id >> 2) * 0x9e3779b97f4a7c15ull >> t->shift);

	return (line & ~3u) | (id & 3);
}

static int set_bits(struct tasks *t, unsigned bits)
{
	t->slots = calloc((size_t)1 << bits, sizeof(*t->slots));
	if (!t->slots)
		return -ENOMEM;
	t->mask = (1u << bits) - 1;
	t->shift = 64 - bits;
	t->cnt = 0;
	/* the last growth stops at half load, the earlier ones may be outrun up to 7/8 */
	t->max = bits == LAST_BITS ? TASKS_MAX : (1u << bits) / 8 * 7;
	return 0;
}

int tasks_new(struct tasks **ret)
{
	struct tasks *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	if (set_bits(t, FIRST_BITS)) {
		free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	free(t->slots);
	free(t);
}

static struct task *slot(struct tasks *t, uint64_t id)
{
	uint32_t i = home(t, id);

	while (t->slots[i].id && t->slots[i].id != id)
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

struct task *tasks_find(struct tasks *t, uint64_t id)
{
	struct task *task = slot(t, id);

	return task->id && id ? task : NULL;
}

struct task *tasks_add(struct tasks *t, uint64_t id)
{
	struct task *task;

	if (t->cnt >= t->max || !id)
		return NULL;
	task = slot(t, id);
	*task = (struct task){.id = id, .list = TASK_NO_LIST, .is_fresh = 1};
	t->cnt++;
	return task;
}

static void remove_slot(struct tasks *t, uint32_t hole)
{
	for (uint32_t at = (hole + 1) & t->mask; t->slots[at].id; at = (at + 1) & t->mask) {
		uint32_t h = home(t, t->slots[at].id);

		if (((at - h) & t->mask) >= ((at - hole) & t->mask)) {
			t->slots[hole] = t->slots[at];
			hole = at;
		}
	}
	t->slots[hole].id = 0;
	t->cnt--;
}

static inline uint32_t ended_at(uint64_t id)
{
	return id % TASKS_ENDED_MAX; /* ids are dense: the latest TASKS_ENDED_MAX of them fit */
}

void tasks_end(struct tasks *t, uint64_t id)
{
	struct task *task = tasks_find(t, id);

	t->ended[ended_at(id)] = id;
	if (task)
		remove_slot(t, (uint32_t)(task - t->slots));
}

bool tasks_has_ended(const struct tasks *t, uint64_t id)
{
	return id && t->ended[ended_at(id)] == id;
}

static void grow(struct tasks *t, unsigned bits)
{
	struct task *old = t->slots;
	size_t old_cnt = (size_t)t->mask + 1;

	if (set_bits(t, bits)) {
		t->slots = old; /* goes on as it is; a full table is counted by who adds */
		log_debug("no memory for a larger task table");
		return;
	}
	for (size_t i = 0; i < old_cnt; i++) {
		if (!old[i].id)
			continue;
		*slot(t, old[i].id) = old[i];
		t->cnt++;
	}
	free(old);
}

static void age(struct tasks *t)
{
	for (uint32_t i = 0; i <= t->mask; i++) {
		/* a removal may move another entry into slot i: look at it again */
		while (t->slots[i].id && !t->slots[i].is_fresh)
			remove_slot(t, i);
	}
	for (uint32_t i = 0; i <= t->mask; i++)
		t->slots[i].is_fresh = 0;
}

void tasks_tick(struct tasks *t, bool can_age)
{
	unsigned bits = 64 - t->shift;

	if (t->cnt <= (t->mask + 1) / 2 - (t->mask + 1) / 16)
		return;
	if (bits < LAST_BITS)
		grow(t, bits + 1);
	else if (can_age)
		age(t);
}

size_t tasks_cnt(const struct tasks *t)
{
	return t->cnt;
}
