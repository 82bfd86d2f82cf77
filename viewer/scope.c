// SPDX-License-Identifier: Apache-2.0
/* scope.c - each question answered in constant time; names are looked at once, at the start. */
#include "scope.h"

#include "command.h"
#include "core/columns.h"
#include "core/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool scope_is(const struct columns *c, uint32_t text, const char *want)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	return len == strlen(want) && memcmp(p, want, len) == 0;
}

static int scope_lanes(struct scope *s, const struct request *req)
{
	const struct columns_lanes *l = &s->c->lanes;

	if (!req->has_worker && !req->runtime)
		return 0;
	s->lanes = calloc(l->cnt + 1, 1);
	if (!s->lanes)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->cnt; i++)
		s->lanes[i] = (!req->has_worker ||
			       ((l->kind[i] == COLUMNS_WORKER || l->kind[i] == COLUMNS_NESTED) &&
				l->id[i] == req->worker)) &&
			      (!req->runtime || scope_is(s->c, l->runtime[i], req->runtime));
	return 0;
}

static int scope_places(struct scope *s, const struct request *req)
{
	const char *p;
	size_t len;

	if (!req->type)
		return 0;
	s->places = calloc(s->c->texts.cnt + 1, 1);
	if (!s->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->c->texts.cnt; i++) {
		p = columns_text(s->c, i, &len);
		s->places[i] = memmem(p, len, req->type, strlen(req->type)) != NULL;
	}
	return 0;
}

uint64_t scope_base(const struct columns *c)
{
	uint64_t base_ns = c->odd.first_ns;

	if (c->clocks.cnt && c->clocks.ts_ns[0] && c->clocks.ts_ns[0] < base_ns)
		base_ns = c->clocks.ts_ns[0];
	if (c->records.cnt && c->records.ts_ns[0] && c->records.ts_ns[0] < base_ns)
		base_ns = c->records.ts_ns[0];
	return base_ns;
}

int scope_init(struct scope *s, const struct columns *c, const struct request *req)
{
	uint64_t base_ns = scope_base(c);
	int err;

	*s = (struct scope){ .c = c, .to_ns = UINT64_MAX, .runtime = req->runtime };
	if (req->has_from)
		s->from_ns = req->from_ns + (req->from_relative ? base_ns : 0);
	if (req->has_to)
		s->to_ns = req->to_ns + (req->to_relative ? base_ns : 0);
	s->has_task = req->has_task;
	s->task = req->has_task ? columns_task(c, req->task) : COLUMNS_NONE;
	err = scope_lanes(s, req);
	return err ? err : scope_places(s, req);
}

void scope_done(struct scope *s)
{
	free(s->lanes);
	free(s->places);
	s->lanes = s->places = NULL;
}

bool scope_has_any(const struct scope *s)
{
	return s->from_ns || s->to_ns != UINT64_MAX || s->lanes || s->places || s->has_task;
}

bool scope_time(const struct scope *s, uint64_t ns)
{
	return ns >= s->from_ns && ns <= s->to_ns;
}

bool scope_lane(const struct scope *s, uint32_t lane)
{
	return !s->lanes || (lane < s->c->lanes.cnt && s->lanes[lane]);
}

bool scope_place(const struct scope *s, uint32_t place)
{
	return !s->places || (place < s->c->texts.cnt && s->places[place]);
}

bool scope_task(const struct scope *s, uint32_t task)
{
	if (s->has_task && (task == COLUMNS_NONE || task != s->task))
		return false;
	return !s->places || (task != COLUMNS_NONE && scope_place(s, s->c->tasks.place[task]));
}

static bool scope_sample(const struct scope *s, uint32_t row)
{
	uint32_t poll = s->c->samples.poll[row];

	if (!scope_time(s, s->c->samples.ts_ns[row]) || !scope_lane(s, s->c->samples.lane[row]))
		return false;
	if (!s->has_task && !s->places)
		return true;
	return poll != COLUMNS_NONE && scope_place(s, s->c->polls.place[poll]) &&
	       (!s->has_task || (s->task != COLUMNS_NONE && s->c->polls.task[poll] == s->task));
}

bool scope_row(const struct scope *s, uint32_t table, uint32_t row)
{
	const struct columns *c = s->c;

	switch (table) {
	case TABLES_polls:
		return scope_time(s, c->polls.start_ns[row]) && scope_lane(s, c->polls.lane[row]) &&
		       scope_place(s, c->polls.place[row]) &&
		       (!s->has_task || (s->task != COLUMNS_NONE && c->polls.task[row] == s->task));
	case TABLES_parks:
		return scope_lane(s, c->parks.lane[row]) && c->parks.start_ns[row] <= s->to_ns &&
		       c->parks.start_ns[row] + c->parks.dur_ns[row] >= s->from_ns;
	case TABLES_wakes:
		return scope_time(s, c->wakes.ts_ns[row]) && scope_lane(s, c->wakes.lane[row]) &&
		       scope_task(s, c->wakes.task[row]);
	case TABLES_samples:
		return scope_sample(s, row);
	case TABLES_offs:
		return scope_time(s, c->offs.start_ns[row] + c->offs.dur_ns[row]) &&
		       scope_lane(s, c->offs.lane[row]) && scope_task(s, c->offs.task[row]);
	case TABLES_queues:
		return scope_time(s, c->queues.ts_ns[row]) &&
		       (!s->runtime || scope_is(c, c->queues.runtime[row], s->runtime));
	case TABLES_records:
		return scope_time(s, c->records.ts_ns[row]);
	case TABLES_tasks:
		return scope_task(s, row);
	default:
		return true;
	}
}
