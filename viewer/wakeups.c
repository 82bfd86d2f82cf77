// SPDX-License-Identifier: Apache-2.0
/* wakeups.c - each task's wakes and polls, both by time. */
#include "wakeups.h"

#include "core/columns.h"
#include "core/tables.h"
#include "crews.h"
#include "placetable.h"
#include "scope.h"

#include <errno.h>
#include <stdlib.h>

static int wakeups_compare(const void *left, const void *right)
{
	const struct wakeups_type *a = left, *b = right;
	int order = (a->wakes < b->wakes) - (a->wakes > b->wakes);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

static void wakeups_count(struct wakeups_type *t, uint8_t flags, bool is_yield)
{
	t->wakes++;
	t->effective += (flags & COLUMNS_WAKE_EFFECTIVE) != 0;
	t->in_poll += (flags & COLUMNS_WAKE_IN_POLL) != 0;
	t->redundant += (flags & COLUMNS_WAKE_REDUNDANT) != 0;
	t->self += (flags & COLUMNS_WAKE_SELF) != 0;
	t->yields += is_yield;
}

/* `poll`: the task's last one before the wake, or none. */
static bool wakeups_is_yield(const struct columns *c, uint32_t wake, uint32_t poll)
{
	uint32_t lane = c->wakes.lane[wake], park;
	uint64_t end_ns;

	if (poll == COLUMNS_NONE || !(c->wakes.flags[wake] & COLUMNS_WAKE_EFFECTIVE) ||
	    (crews_is_task(c, c->wakes.waker[wake]) &&
	     c->wakes.waker[wake] != c->wakes.task[wake]) ||
	    c->wakes.poll[wake] != COLUMNS_NONE || lane != c->polls.lane[poll] ||
	    (c->polls.flags[poll] & COLUMNS_POLL_CUT))
		return false;
	end_ns = crews_poll_end(c, poll);
	if (c->wakes.ts_ns[wake] < end_ns || c->wakes.ts_ns[wake] - end_ns > WAKEUPS_YIELD_NS)
		return false;
	park = columns_seek(c->parks.start_ns, c->lanes.parks_from[lane], c->lanes.parks_to[lane],
			    end_ns);
	return park == c->lanes.parks_to[lane] || c->parks.start_ns[park] > c->wakes.ts_ns[wake];
}

static int wakeups_task(const struct columns *c, const struct scope *s, uint32_t task,
			struct placetable *t, struct wakeups_type *all)
{
	uint32_t poll = c->tasks.polls_from[task], last = COLUMNS_NONE;
	struct wakeups_type *row = NULL;

	for (uint32_t i = c->tasks.wakes_from[task]; i < c->tasks.wakes_to[task]; i++) {
		uint32_t wake = c->task_wakes.wake[i];
		bool is_yield;

		for (; poll < c->tasks.polls_to[task] &&
		       c->polls.start_ns[c->task_polls.poll[poll]] <= c->wakes.ts_ns[wake];
		     poll++)
			last = c->task_polls.poll[poll];
		if (!scope_row(s, TABLES_wakes, wake))
			continue;
		if (!row)
			row = placetable_row(t, c->tasks.place[task]);
		if (!row)
			return -ENOMEM;
		is_yield = wakeups_is_yield(c, wake, last);
		wakeups_count(row, c->wakes.flags[wake], is_yield);
		wakeups_count(all, c->wakes.flags[wake], is_yield);
	}
	return 0;
}

int wakeups_of(const struct columns *c, const struct scope *s, struct wakeups *ret)
{
	struct placetable t = { .row_sz = sizeof(struct wakeups_type) };
	int err = 0;

	*ret = (struct wakeups){ 0 };
	for (uint32_t i = 0; err == 0 && i < c->tasks.cnt; i++)
		err = wakeups_task(c, s, i, &t, &ret->all);
	ret->at = t.rows;
	ret->cnt = t.cnt;
	placetable_done(&t, false);
	if (ret->cnt)
		qsort(ret->at, ret->cnt, sizeof(*ret->at), wakeups_compare);
	return err;
}

void wakeups_done(struct wakeups *w)
{
	free(w->at);
	*w = (struct wakeups){ 0 };
}
