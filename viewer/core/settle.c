// SPDX-License-Identifier: Apache-2.0
/* settle.c - lanes, polls and parks. */
#include "settle.h"

#include "gather.h"
#include "tables.h"
#include "twin.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * agent:InferredEnd rules from here on close a poll whose end is not known, or not in the
 * recording; by this first one its thread gave the worker away while the poll ran on.
 */
#define SETTLE_RULE_HANDOFF 5

#define SETTLE_TWIN_MIN 16384u /* moments from which a second thread is worth its start */

struct lane_key {
	uint32_t kind, id, number;
};

static int compare_lanes(const void *left, const void *right)
{
	const struct lane_key *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int settle_lanes(struct settle *s)
{
	const struct dict *d = &s->g->lanes;
	struct lane_key *keys = calloc(d->cnt, sizeof(*keys));
	struct columns_lanes *l = &s->c->lanes;
	const char *p;
	size_t len;
	int err = keys ? tables_alloc(s->c, TABLES_lanes, d->cnt) : -ENOMEM;

	s->lane_of = calloc(2 * COLUMNS_LANES_MAX, sizeof(*s->lane_of));
	s->from = calloc(d->cnt + 1, sizeof(*s->from));
	if (err || !s->lane_of || !s->from) {
		free(keys);
		return -ENOMEM;
	}
	s->number_of = s->lane_of + COLUMNS_LANES_MAX;
	keys[0] = (struct lane_key){ COLUMNS_NOWHERE, 0, 0 };
	for (uint32_t i = 1; i < d->cnt; i++) {
		p = dict_get(d, i, &len);
		memcpy(keys + i, p, 8);
		keys[i].number = i;
	}
	qsort(keys, d->cnt, sizeof(*keys), compare_lanes);
	for (uint32_t i = 0; i < d->cnt; i++) {
		s->lane_of[keys[i].number] = (uint16_t)i;
		s->number_of[i] = (uint16_t)keys[i].number;
		((uint8_t *)tables_mut(l->kind))[i] = (uint8_t)keys[i].kind;
		((uint32_t *)tables_mut(l->id))[i] = keys[i].id;
	}
	free(keys);
	return 0;
}

/* runtime.NAME = "0,1,2": the workers of a runtime. */
static void settle_runtimes(struct settle *s)
{
	uint32_t *runtime = tables_mut(s->c->lanes.runtime);
	const char *key, *value;
	size_t key_len, len;
	int err = 0;

	for (size_t i = 0; i < s->g->facts.cnt; i++) {
		const struct gather_fact *f = rows_at(&s->g->facts, i);
		uint32_t name;

		key = dict_get(&s->g->texts, f->key, &key_len);
		if (key_len < 8 || memcmp(key, "runtime.", 8) != 0)
			continue;
		name = dict_put(&s->g->texts, key + 8, key_len - 8, &err);
		value = dict_get(&s->g->texts, f->value, &len);
		for (size_t at = 0; at < len; at++) {
			uint64_t id = 0;
			size_t from = at;

			for (; at < len && value[at] >= '0' && value[at] <= '9' && id < UINT32_MAX;
			     at++)
				id = id * 10 + (uint64_t)(value[at] - '0');
			for (uint32_t k = 0; at > from && k < s->c->lanes.cnt; k++)
				if (s->c->lanes.id[k] == id &&
				    s->c->lanes.kind[k] <= COLUMNS_NESTED)
					runtime[k] = name;
		}
	}
}

/* ---- polls and parks of one worker ---- */

struct walk {
	struct settle *s;
	uint64_t *start, *dur, *ready, *park_start, *park_dur, *delay, *cpu;
	uint32_t *task, *place, *wake, *tid;
	uint16_t *lane, *queue, *park_lane;
	uint8_t *flags;
	uint32_t polls, parks; /* rows made so far */
	uint32_t open, ended,
		parked; /* of the worker: the open poll, the one before, the open park */
	uint8_t rule; /* said of the open poll */
	size_t before; /* number of the moment before */
	uint32_t lanes_from, lanes_to; /* those it walks */
	uint32_t parks_from; /* its first row */
	uint64_t stray_ends;
	const uint32_t *span_order, *span_from;
};

static void walk_begin(struct walk *w, struct settle *s)
{
	struct columns *c = s->c;

	*w = (struct walk){
		.s = s,
		.start = tables_mut(c->polls.start_ns),
		.dur = tables_mut(c->polls.dur_ns),
		.ready = tables_mut(c->polls.ready_ns),
		.task = tables_mut(c->polls.task),
		.place = tables_mut(c->polls.place),
		.wake = tables_mut(c->polls.wake),
		.lane = tables_mut(c->polls.lane),
		.queue = tables_mut(c->polls.queue),
		.flags = tables_mut(c->polls.flags),
		.park_start = tables_mut(c->parks.start_ns),
		.park_dur = tables_mut(c->parks.dur_ns),
		.delay = tables_mut(c->parks.delay_ns),
		.cpu = tables_mut(c->parks.cpu_ns),
		.tid = tables_mut(c->parks.tid),
		.park_lane = tables_mut(c->parks.lane),
	};
}

static void walk_cut(struct walk *w)
{
	if (w->open != COLUMNS_NONE)
		w->flags[w->open] |= COLUMNS_POLL_CUT;
	w->open = w->ended = w->parked = COLUMNS_NONE;
	w->rule = 0;
}

static void walk_rule(struct walk *w, uint32_t poll, uint8_t rule)
{
	if (rule == 0)
		return;
	if (rule < SETTLE_RULE_HANDOFF) {
		w->flags[poll] |= COLUMNS_POLL_INFERRED;
	} else if (rule == SETTLE_RULE_HANDOFF) {
		w->flags[poll] |= COLUMNS_POLL_HANDOFF;
	} else {
		w->flags[poll] |= COLUMNS_POLL_CUT;
		w->dur[poll] = 0;
	}
}

/* Was something missed between the moment before and this one? */
static bool walk_is_gap(const struct walk *w, size_t number)
{
	const struct gather *g = w->s->g;

	for (size_t i = 0; i < g->gaps_cnt; i++)
		if (w->before < g->gaps[i] && number >= g->gaps[i])
			return true;
	return false;
}

static void walk_poll(struct walk *w, uint16_t lane, const struct gather_moment *m)
{
	uint32_t i = w->polls++;

	w->start[i] = m->ts_ns;
	w->task[i] = m->task;
	w->place[i] = m->place;
	w->queue[i] = m->queue;
	w->lane[i] = lane;
	w->wake[i] = COLUMNS_NONE;
	w->open = i;
}

static void walk_park(struct walk *w, uint16_t lane, const struct gather_moment *m)
{
	const struct gather_park *p = rows_at(&w->s->g->parks, m->task);
	bool is_park = m->kind == GATHER_PARK;
	uint32_t i = w->parked;

	if (is_park || i == COLUMNS_NONE) {
		i = w->parks++;
		w->park_start[i] = m->ts_ns;
		w->park_lane[i] = lane;
		w->delay[i] = UINT64_MAX;
		w->tid[i] = p->tid;
	}
	w->parked = is_park ? i : COLUMNS_NONE;
	if (is_park)
		return;
	w->park_dur[i] = m->ts_ns - w->park_start[i];
	w->delay[i] = p->delay_ns;
	w->cpu[i] = p->cpu_ns;
	w->tid[i] = p->tid;
}

static void walk_moment(struct walk *w, uint16_t lane, const struct gather_moment *m)
{
	uint32_t poll = w->open;

	switch ((enum gather_kind)m->kind) {
	case GATHER_START:
		walk_cut(w);
		walk_poll(w, lane, m);
		break;
	case GATHER_END:
		if (poll == COLUMNS_NONE) {
			w->stray_ends++;
			break;
		}
		w->dur[poll] = m->ts_ns - w->start[poll];
		walk_rule(w, poll, w->rule);
		w->open = COLUMNS_NONE;
		w->ended = poll;
		w->rule = 0;
		break;
	case GATHER_INFERRED: /* behind the end it speaks of, or before it */
		if (w->ended != COLUMNS_NONE && w->task[w->ended] == m->task &&
		    w->start[w->ended] + w->dur[w->ended] == m->ts_ns)
			walk_rule(w, w->ended, m->rule);
		else if (poll != COLUMNS_NONE && w->task[poll] == m->task)
			w->rule = m->rule;
		break;
	case GATHER_PARK:
		walk_cut(w);
		walk_park(w, lane, m);
		break;
	case GATHER_UNPARK:
		if (poll != COLUMNS_NONE)
			walk_cut(w);
		walk_park(w, lane, m);
		break;
	}
}

static void settle_worker(struct settle *s, struct walk *w, uint16_t lane)
{
	w->open = w->ended = w->parked = COLUMNS_NONE;
	w->rule = 0;
	for (uint32_t i = s->from[lane]; i < s->from[lane + 1]; i++) {
		size_t number = s->order[i];

		if (i == s->from[lane])
			w->before = number;
		if (s->g->gaps_cnt && walk_is_gap(w, number))
			walk_cut(w);
		w->before = number;
		walk_moment(w, lane, rows_at(&s->g->moments, number));
	}
	walk_cut(w);
}

static void settle_span(struct walk *w, uint16_t lane, const struct gather_span *s)
{
	uint32_t i = w->polls++;

	w->start[i] = s->ts_ns;
	w->dur[i] = s->end_ns > s->ts_ns ? s->end_ns - s->ts_ns : 0;
	w->ready[i] = s->ready_ns;
	w->task[i] = s->task;
	w->place[i] = s->place;
	w->queue[i] = COLUMNS_QUEUE_UNKNOWN;
	w->lane[i] = lane;
	w->wake[i] = COLUMNS_NONE;
}

/* A lane's rows stand together, so halves of the lanes share nothing. */
static void settle_walk(void *half)
{
	struct walk *w = half;
	struct columns_lanes *l = &w->s->c->lanes;

	for (uint32_t lane = w->lanes_from; lane < w->lanes_to; lane++) {
		((uint32_t *)tables_mut(l->polls_from))[lane] = w->polls;
		((uint32_t *)tables_mut(l->parks_from))[lane] = w->parks;
		settle_worker(w->s, w, (uint16_t)lane);
		for (uint32_t i = w->span_from[lane]; i < w->span_from[lane + 1]; i++)
			settle_span(w, (uint16_t)lane, rows_at(&w->s->g->spans, w->span_order[i]));
		((uint32_t *)tables_mut(l->polls_to))[lane] = w->polls;
		((uint32_t *)tables_mut(l->parks_to))[lane] = w->parks;
	}
}

/* Where the second half begins: about half of the moments, and whole lanes. */
static uint32_t settle_half(const struct settle *s)
{
	uint32_t lane = 0, cnt = s->from[s->c->lanes.cnt];

	while (lane < s->c->lanes.cnt && s->from[lane + 1] <= cnt / 2)
		lane++;
	return lane;
}

/* The second half's parks were put behind all that the first could have needed. */
static void settle_join_parks(struct columns *c, const struct walk *first, const struct walk *rest)
{
	uint32_t gap = rest->parks_from - first->parks, cnt = rest->parks - rest->parks_from;
	const struct tables_table *t = &tables_all[TABLES_parks];

	for (uint32_t i = t->columns_from; gap && i < t->columns_to; i++) {
		size_t sz = tables_columns[i].sz;
		char *p;

		memcpy(&p, (char *)c + tables_columns[i].at, sizeof(p));
		memmove(p + first->parks * sz, p + rest->parks_from * sz, cnt * sz);
	}
	for (uint32_t lane = rest->lanes_from; lane < rest->lanes_to; lane++) {
		((uint32_t *)tables_mut(c->lanes.parks_from))[lane] -= gap;
		((uint32_t *)tables_mut(c->lanes.parks_to))[lane] -= gap;
	}
	tables_shrink(c, TABLES_parks, first->parks + cnt);
}

struct lane_rows { /* of a lane: polls, and parks at most */
	uint32_t polls, parks;
};

static int settle_polls(struct settle *s)
{
	uint32_t lanes_cnt = s->c->lanes.cnt;
	uint32_t *span_order = NULL, *span_from = calloc(lanes_cnt + 1, sizeof(*span_from));
	struct lane_rows *rows = calloc(lanes_cnt + 1, sizeof(*rows));
	struct walk w, rest;
	size_t starts = s->g->spans.cnt;
	int err = -ENOMEM;

	if (!span_from || !rows)
		goto out;
	for (size_t i = 0; i < s->g->moments.cnt; i++) {
		const struct gather_moment *m = rows_at(&s->g->moments, i);
		struct lane_rows *l = &rows[s->lane_of[m->lane]];

		l->polls += m->kind == GATHER_START;
		l->parks += m->kind == GATHER_PARK || m->kind == GATHER_UNPARK;
		starts += m->kind == GATHER_START;
	}
	err = starts > ROWS_MAX ? -E2BIG : tables_alloc(s->c, TABLES_polls, (uint32_t)starts);
	if (err == 0)
		err = tables_alloc(s->c, TABLES_parks, (uint32_t)s->g->parks.cnt);
	if (err == 0)
		err = rows_order(&s->g->moments, s->lane_of, lanes_cnt, s->from, &s->order);
	if (err == 0)
		err = rows_order(&s->g->spans, s->lane_of, lanes_cnt, span_from, &span_order);
	if (err)
		goto out;
	walk_begin(&w, s);
	w.span_order = span_order;
	w.span_from = span_from;
	rest = w;
	w.lanes_to = rest.lanes_from = settle_half(s);
	rest.lanes_to = lanes_cnt;
	rest.polls = span_from[rest.lanes_from];
	for (uint32_t i = 0; i < rest.lanes_from; i++) {
		rest.polls += rows[i].polls;
		rest.parks += rows[i].parks;
	}
	rest.parks_from = rest.parks;
	twin_run(settle_walk, &w, &rest, s->g->moments.cnt >= SETTLE_TWIN_MIN);
	s->c->odd.stray_ends += w.stray_ends + rest.stray_ends;
	settle_join_parks(s->c, &w, &rest);
	gather_done(s->g, &s->g->moments);
	gather_done(s->g, &s->g->parks);
	gather_done(s->g, &s->g->spans);
out:
	free(span_order);
	free(span_from);
	free(rows);
	return err;
}

int settle_run(struct columns *c, struct gather *g)
{
	struct settle s = { .g = g, .c = c };

	int err = settle_lanes(&s);

	if (err == 0) {
		settle_runtimes(&s);
		err = settle_polls(&s);
	}
	if (err == 0)
		err = settle_laned(&s);
	free(s.lane_of);
	free(s.order);
	free(s.from);
	return err;
}
