// SPDX-License-Identifier: Apache-2.0
/* critpath.c - poll, its wake, the poll the wake came from, its wake, ... */
#include "critpath.h"

#include "core/columns.h"
#include "crews.h"

#include <stdbool.h>

/* The task's poll before this one, or none. */
static uint32_t critpath_before(const struct columns *c, uint32_t poll)
{
	uint32_t task = c->polls.task[poll], low, high;
	uint32_t before = COLUMNS_NONE;

	if (task == COLUMNS_NONE)
		return COLUMNS_NONE;
	low = c->tasks.polls_from[task];
	high = c->tasks.polls_to[task];
	while (low < high) { /* the last that starts before it */
		uint32_t middle = low + (high - low) / 2, row = c->task_polls.poll[middle];

		if (c->polls.start_ns[row] < c->polls.start_ns[poll]) {
			before = row;
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return before;
}

static uint64_t critpath_spawned(const struct columns *c, uint32_t poll)
{
	uint32_t task = c->polls.task[poll];

	if (task == COLUMNS_NONE || critpath_before(c, poll) != COLUMNS_NONE)
		return 0;
	return c->tasks.spawn_ns[task];
}

/* What made a poll runnable: the poll to go on with and when it did, or why there is none. */
static bool critpath_cause(const struct columns *c, struct critpath_step *s, uint32_t *poll,
			   uint64_t *to_ns, enum critpath_root *root)
{
	uint32_t wake = c->polls.wake[*poll], from;
	uint64_t spawn_ns;

	if (wake == COLUMNS_NONE || c->polls.ready_ns[*poll] == 0) {
		spawn_ns = critpath_spawned(c, *poll);
		*root = spawn_ns && spawn_ns <= s->start_ns ? CRITPATH_SPAWN : CRITPATH_UNKNOWN;
		if (*root == CRITPATH_SPAWN)
			s->ready_ns = spawn_ns;
		return false;
	}
	if (c->polls.ready_ns[*poll] < s->ready_ns)
		s->ready_ns = c->polls.ready_ns[*poll];
	from = c->wakes.flags[wake] & COLUMNS_WAKE_IN_POLL ? critpath_before(c, *poll)
							   : c->wakes.poll[wake];
	if (from == COLUMNS_NONE && c->wakes.waker[wake] == c->wakes.task[wake]) {
		/* yield_now: a wake by itself that Tokio puts off to just behind the poll */
		from = critpath_before(c, *poll);
		if (from != COLUMNS_NONE && crews_poll_end(c, from) < s->ready_ns)
			s->ready_ns = crews_poll_end(c, from);
	}
	if (from == COLUMNS_NONE) {
		*root = crews_is_task(c, c->wakes.waker[wake]) ? CRITPATH_UNKNOWN
							       : CRITPATH_OUTSIDE;
		return false;
	}
	if (c->polls.start_ns[from] >= s->start_ns) { /* no cause lies in the future */
		*root = CRITPATH_UNKNOWN;
		return false;
	}
	*poll = from;
	*to_ns = s->ready_ns;
	return true;
}

enum critpath_root critpath_walk(const struct columns *c, uint32_t poll,
				 void (*step)(void *ctx, const struct critpath_step *s), void *ctx,
				 uint64_t *ret_from_ns)
{
	enum critpath_root root = CRITPATH_LONG;
	uint64_t to_ns = crews_poll_end(c, poll);
	bool goes_on = true;

	for (uint32_t i = 0; goes_on && i < CRITPATH_STEPS_MAX; i++) {
		struct critpath_step s = { poll, c->polls.start_ns[poll], c->polls.start_ns[poll],
					   to_ns };

		goes_on = critpath_cause(c, &s, &poll, &to_ns, &root);
		*ret_from_ns = s.ready_ns;
		step(ctx, &s);
	}
	return goes_on ? CRITPATH_LONG : root;
}

const char *critpath_root_name(enum critpath_root root)
{
	static const char *const names[CRITPATH_ROOTS] = { "driver, timer or another thread",
							   "spawn", "unknown: no wake recorded",
							   "too long: cut" };

	return names[root];
}
