// SPDX-License-Identifier: Apache-2.0
/* laned.c - wakes, samples and times without CPU, by lane and time, and the polls they hit. */
#include "settle.h"

#include "gather.h"
#include "tables.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Which lane is a thread, at a time? From parks and unparks, else from the blocking pool. As the
 * gather's number. */
struct seats {
	struct gather_binding *bound; /* by thread, then time */
	size_t cnt;
	const struct columns *c;
	const uint16_t *number_of;
};

static int compare_bindings(const void *left, const void *right)
{
	const struct gather_binding *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->ts_ns > b->ts_ns) - (a->ts_ns < b->ts_ns);
}

/* The last lane, that of no worker, if it is not known. */
static uint16_t seats_blocking(const struct seats *s, uint32_t tid)
{
	const struct columns_lanes *l = &s->c->lanes;
	uint32_t lo = 0, hi = l->cnt - 1;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->kind[mid] < COLUMNS_BLOCKING ||
		    (l->kind[mid] == COLUMNS_BLOCKING && l->id[mid] < tid))
			lo = mid + 1;
		else
			hi = mid;
	}
	return s->number_of[l->kind[lo] == COLUMNS_BLOCKING && l->id[lo] == tid ? lo : l->cnt - 1];
}

static uint16_t seats_of(const struct seats *s, uint32_t tid, uint64_t ts_ns)
{
	size_t lo = 0, hi = s->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct gather_binding *b = &s->bound[mid];

		if (b->tid < tid || (b->tid == tid && b->ts_ns <= ts_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo > 0 && s->bound[lo - 1].tid == tid)
		return s->bound[lo - 1].lane;
	return seats_blocking(s, tid);
}

/* Orders a gathered table, and tells where each lane is in it. */
static int laned_order(struct settle *s, const struct rows *r, uint32_t *from, uint32_t *to)
{
	int err;

	free(s->order);
	s->order = NULL;
	err = rows_order(r, s->lane_of, s->c->lanes.cnt, s->from, &s->order);
	if (err)
		return err;
	memcpy(from, s->from, s->c->lanes.cnt * sizeof(*from));
	memcpy(to, s->from + 1, s->c->lanes.cnt * sizeof(*to));
	return 0;
}

/* The poll of a lane open at ts_ns, searched forward from *at. */
static uint32_t laned_hit(const struct columns *c, uint32_t lane, uint32_t *at, uint64_t ts_ns)
{
	const struct columns_polls *p = &c->polls;
	uint32_t to = c->lanes.polls_to[lane];

	while (*at + 1 < to && p->start_ns[*at + 1] <= ts_ns)
		++*at;
	if (*at >= to || p->start_ns[*at] > ts_ns || ts_ns - p->start_ns[*at] > p->dur_ns[*at])
		return COLUMNS_NONE;
	return *at;
}

static int laned_wakes(struct settle *s)
{
	struct columns *c = s->c;
	struct rows *r = &s->g->wakes;
	uint64_t *ts_ns;
	uint32_t *task, *waker, *poll, at;
	uint16_t *lane_out;
	int err = tables_alloc(c, TABLES_wakes, (uint32_t)r->cnt);

	if (err)
		return err;
	err = laned_order(s, r, tables_mut(c->lanes.wakes_from), tables_mut(c->lanes.wakes_to));
	if (err)
		return err;
	ts_ns = tables_mut(c->wakes.ts_ns);
	task = tables_mut(c->wakes.task);
	waker = tables_mut(c->wakes.waker);
	poll = tables_mut(c->wakes.poll);
	lane_out = tables_mut(c->wakes.lane);
	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
		at = c->lanes.polls_from[lane];
		for (uint32_t i = s->from[lane]; i < s->from[lane + 1]; i++) {
			const struct gather_wake *w = rows_at(r, s->order[i]);
			uint32_t hit = laned_hit(c, lane, &at, w->ts_ns);

			ts_ns[i] = w->ts_ns;
			task[i] = w->task;
			waker[i] = w->waker;
			lane_out[i] = (uint16_t)lane;
			/* a wake by no task, or by one nested in the poll, does not come from it */
			poll[i] = hit != COLUMNS_NONE && w->waker != COLUMNS_NONE &&
						  c->polls.task[hit] == w->waker
					  ? hit
					  : COLUMNS_NONE;
		}
	}
	gather_done(s->g, r);
	return 0;
}

static int laned_samples(struct settle *s, const struct seats *seats)
{
	struct columns *c = s->c;
	struct columns_samples *o = &c->samples;
	struct rows *r = &s->g->samples;
	uint32_t at;
	int err = tables_alloc(c, TABLES_samples, (uint32_t)r->cnt);

	if (err)
		return err;
	for (size_t i = 0; i < r->cnt; i++) {
		struct gather_sample *m = rows_at(r, i);

		m->is_loose |= m->lane == 0;
		if (m->is_loose)
			m->lane = seats_of(seats, m->tid, m->ts_ns);
	}
	err = laned_order(s, r, tables_mut(c->lanes.samples_from), tables_mut(c->lanes.samples_to));
	if (err)
		return err;
	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
		at = c->lanes.polls_from[lane];
		for (uint32_t i = s->from[lane]; i < s->from[lane + 1]; i++) {
			const struct gather_sample *m = rows_at(r, s->order[i]);
			uint32_t hit = laned_hit(c, lane, &at, m->ts_ns);

			((uint64_t *)tables_mut(o->ts_ns))[i] = m->ts_ns;
			((uint32_t *)tables_mut(o->stack))[i] = m->stack;
			((uint32_t *)tables_mut(o->thread))[i] = m->thread;
			((uint32_t *)tables_mut(o->tid))[i] = m->tid;
			((uint16_t *)tables_mut(o->lane))[i] = (uint16_t)lane;
			((uint8_t *)tables_mut(o->source))[i] = m->source;
			((uint32_t *)tables_mut(o->poll))[i] = hit;
			((uint32_t *)tables_mut(o->task))[i] =
				hit == COLUMNS_NONE ? m->task : c->polls.task[hit];
		}
	}
	gather_done(s->g, r);
	return 0;
}

static int laned_offs(struct settle *s, const struct seats *seats)
{
	struct columns *c = s->c;
	struct columns_offs *o = &c->offs;
	struct rows *r = &s->g->offs;
	uint64_t *poll_off = tables_mut(c->polls.off_ns), left_ns;
	uint32_t at, hit;
	int err = tables_alloc(c, TABLES_offs, (uint32_t)r->cnt);

	if (err)
		return err;
	for (size_t i = 0; i < r->cnt; i++) {
		struct gather_off *m = rows_at(r, i);

		m->is_loose |= m->lane == 0;
		if (m->is_loose)
			m->lane = seats_blocking(seats, m->tid);
	}
	err = laned_order(s, r, tables_mut(c->lanes.offs_from), tables_mut(c->lanes.offs_to));
	if (err)
		return err;
	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
		at = c->lanes.polls_from[lane];
		for (uint32_t i = s->from[lane]; i < s->from[lane + 1]; i++) {
			const struct gather_off *m = rows_at(r, s->order[i]);
			uint64_t ns = m->end_ns - m->ts_ns;

			hit = laned_hit(c, lane, &at, m->ts_ns);
			((uint64_t *)tables_mut(o->start_ns))[i] = m->ts_ns;
			((uint64_t *)tables_mut(o->dur_ns))[i] = ns;
			((uint32_t *)tables_mut(o->task))[i] = m->task;
			((uint32_t *)tables_mut(o->stack))[i] = m->stack;
			((uint32_t *)tables_mut(o->tid))[i] = m->tid;
			((uint16_t *)tables_mut(o->lane))[i] = (uint16_t)lane;
			((uint16_t *)tables_mut(o->syscall))[i] = m->syscall;
			((uint8_t *)tables_mut(o->reason))[i] = m->reason;
			((uint32_t *)tables_mut(o->poll))[i] = hit;
			if (hit == COLUMNS_NONE)
				continue;
			left_ns = c->polls.dur_ns[hit] - (m->ts_ns - c->polls.start_ns[hit]);
			poll_off[hit] += ns < left_ns ? ns : left_ns;
		}
	}
	gather_done(s->g, r);
	return 0;
}

int settle_laned(struct settle *s)
{
	struct seats seats = { .cnt = s->g->bindings.cnt, .c = s->c, .number_of = s->number_of };
	int err;

	seats.bound = rows_copy(&s->g->bindings);
	if (!seats.bound)
		return -ENOMEM;
	qsort(seats.bound, seats.cnt, sizeof(*seats.bound), compare_bindings);
	err = laned_wakes(s);
	if (err == 0)
		err = laned_samples(s, &seats);
	if (err == 0)
		err = laned_offs(s, &seats);
	free(seats.bound);
	return err;
}
