// SPDX-License-Identifier: Apache-2.0
/* taskmerge.c - tasks with their polls and wakes. */
#include "taskmerge.h"

#include "gather.h"
#include "tables.h"
#include "twin.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TASKMERGE_TWIN_MIN 16384u /* polls from which a second thread is worth its start */

static int taskmerge_tasks(struct columns *c, struct gather *g)
{
	struct columns_tasks *t = &c->tasks;
	int err = tables_alloc(c, TABLES_tasks, (uint32_t)g->tasks.cnt);

	if (err == 0)
		err = tables_alloc(c, TABLES_task_slots, g->task_slots_cnt);
	if (err)
		return err;
	if (g->task_slots_cnt)
		memcpy(tables_mut(c->task_slots.task), g->task_slots,
		       g->task_slots_cnt * sizeof(*g->task_slots));
	c->odd.task_seed = g->seed;
	for (uint32_t i = 0; i < t->cnt; i++) {
		const struct gather_task *from = rows_at(&g->tasks, i);

		((uint64_t *)tables_mut(t->id))[i] = from->id;
		((uint64_t *)tables_mut(t->spawn_ns))[i] = from->spawn_ns;
		((uint64_t *)tables_mut(t->end_ns))[i] = from->end_ns;
		((uint32_t *)tables_mut(t->place))[i] = from->place;
		((uint8_t *)tables_mut(t->cause))[i] = from->cause;
		((uint8_t *)tables_mut(t->flags))[i] = from->flags;
	}
	gather_done(g, &g->tasks);
	return 0;
}

/* numbers: 0..cnt by task (those of none are left out), then time. from, to: by task. */
struct group {
	const uint32_t *task;
	const uint64_t *times;
	uint32_t cnt, tasks_cnt;
	uint32_t *numbers, *from, *to;
	int err;
};

static void taskmerge_group(void *half)
{
	struct group *g = half;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < g->cnt; i++)
		if (g->task[i] != COLUMNS_NONE)
			g->to[g->task[i]]++;
	for (uint32_t i = 0; i < g->tasks_cnt; i++) {
		g->from[i] = sum;
		sum += g->to[i];
		g->to[i] = g->from[i];
	}
	for (uint32_t i = 0; i < g->cnt; i++)
		if (g->task[i] != COLUMNS_NONE)
			g->numbers[g->to[g->task[i]]++] = i;
	for (uint32_t i = 0; g->err == 0 && i < g->tasks_cnt; i++)
		g->err = rows_sort(g->numbers + g->from[i], g->to[i] - g->from[i], g->times,
				   sizeof(*g->times));
}

static uint32_t taskmerge_cnt(const uint32_t *task, uint32_t cnt)
{
	uint32_t with = 0;

	for (uint32_t i = 0; i < cnt; i++)
		with += task[i] != COLUMNS_NONE;
	return with;
}

struct merge {
	const struct columns *c;
	uint64_t *ready, *busy, *worst;
	uint32_t *wake;
	uint8_t *flags;
	uint32_t tasks_from, tasks_to;
};

/* The wakes of a task from *at on that came before `until`: marks them. `pending` is the wake that
 * waits for a poll, or none; in_poll: the task is being polled meanwhile. */
static void merge_wakes(const struct merge *m, uint32_t *at, uint32_t to, uint64_t until,
			bool in_poll, uint32_t *pending)
{
	const struct columns_wakes *w = &m->c->wakes;

	for (; *at < to; ++*at) {
		uint32_t i = m->c->task_wakes.wake[*at];

		if (w->ts_ns[i] >= until)
			break;
		m->flags[i] = *pending != COLUMNS_NONE ? COLUMNS_WAKE_REDUNDANT
			      : in_poll		       ? COLUMNS_WAKE_IN_POLL
						       : COLUMNS_WAKE_EFFECTIVE;
		if (w->waker[i] == w->task[i])
			m->flags[i] |= COLUMNS_WAKE_SELF;
		if (*pending == COLUMNS_NONE)
			*pending = i;
	}
}

static void merge_task(const struct merge *m, uint32_t task)
{
	const struct columns *c = m->c;
	uint32_t at = c->tasks.wakes_from[task], to = c->tasks.wakes_to[task];
	uint32_t pending = COLUMNS_NONE;
	uint64_t ready_ns = 0, end_ns;

	for (uint32_t k = c->tasks.polls_from[task]; k < c->tasks.polls_to[task]; k++) {
		uint32_t poll = c->task_polls.poll[k];
		uint64_t start_ns = c->polls.start_ns[poll], dur_ns = c->polls.dur_ns[poll];
		uint32_t before = pending;

		merge_wakes(m, &at, to, start_ns, false, &pending);
		if (before == COLUMNS_NONE && pending != COLUMNS_NONE)
			ready_ns = c->wakes.ts_ns[pending];
		if (pending != COLUMNS_NONE) {
			m->wake[poll] = pending;
			if (ready_ns && ready_ns <= start_ns)
				m->ready[poll] = ready_ns;
		}
		pending = COLUMNS_NONE;
		end_ns = start_ns + dur_ns;
		m->busy[task] += dur_ns;
		if (dur_ns > m->worst[task])
			m->worst[task] = dur_ns;
		/* of a cut poll only its start is known: what came since may have been inside */
		if ((c->polls.flags[poll] & COLUMNS_POLL_CUT) && k + 1 < c->tasks.polls_to[task])
			end_ns = c->polls.start_ns[c->task_polls.poll[k + 1]];
		merge_wakes(m, &at, to, end_ns, true, &pending);
		ready_ns = c->polls.flags[poll] & COLUMNS_POLL_CUT ? 0 : end_ns;
	}
	merge_wakes(m, &at, to, UINT64_MAX, false, &pending);
}

/* A poll or wake belongs to one task, so halves of the tasks share nothing. */
static void merge_tasks(void *half)
{
	const struct merge *m = half;

	for (uint32_t i = m->tasks_from; i < m->tasks_to; i++)
		merge_task(m, i);
}

/* The task before which half of the polls are. */
static uint32_t merge_half(const struct columns_tasks *t)
{
	uint32_t cnt = t->cnt ? t->polls_to[t->cnt - 1] : 0, i = 0;

	while (i < t->cnt && t->polls_to[i] < cnt / 2)
		i++;
	return i;
}

int taskmerge_run(struct columns *c, struct gather *g)
{
	struct columns_tasks *t = &c->tasks;
	bool is_large = c->polls.cnt >= TASKMERGE_TWIN_MIN;
	struct group polls, wakes;
	struct merge m, rest;
	int err = taskmerge_tasks(c, g);

	if (err == 0)
		err = tables_alloc(c, TABLES_task_polls,
				   taskmerge_cnt(c->polls.task, c->polls.cnt));
	if (err == 0)
		err = tables_alloc(c, TABLES_task_wakes,
				   taskmerge_cnt(c->wakes.task, c->wakes.cnt));
	if (err)
		return err;
	polls = (struct group){ c->polls.task,
				c->polls.start_ns,
				c->polls.cnt,
				t->cnt,
				tables_mut(c->task_polls.poll),
				tables_mut(t->polls_from),
				tables_mut(t->polls_to),
				0 };
	wakes = (struct group){ c->wakes.task,
				c->wakes.ts_ns,
				c->wakes.cnt,
				t->cnt,
				tables_mut(c->task_wakes.wake),
				tables_mut(t->wakes_from),
				tables_mut(t->wakes_to),
				0 };
	twin_run(taskmerge_group, &polls, &wakes, is_large);
	if (polls.err || wakes.err)
		return polls.err ? polls.err : wakes.err;
	m = (struct merge){ .c = c,
			    .ready = tables_mut(c->polls.ready_ns),
			    .busy = tables_mut(t->busy_ns),
			    .worst = tables_mut(t->worst_ns),
			    .wake = tables_mut(c->polls.wake),
			    .flags = tables_mut(c->wakes.flags),
			    .tasks_to = merge_half(t) };
	rest = m;
	rest.tasks_from = m.tasks_to;
	rest.tasks_to = t->cnt;
	twin_run(merge_tasks, &m, &rest, is_large);
	return 0;
}
