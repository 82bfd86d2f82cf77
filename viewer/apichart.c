// SPDX-License-Identifier: Apache-2.0
/*
 * apichart.c - numbers over time: a runtime's queue and tasks, the blocking pool, any numeric field of
 * any event.
 */
#include "api.h"

#include "apicall.h"
#include "jsonout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/trace.h"

#define API_CHART_PX_MAX 2000u

struct api_series {
	double *least, *most; /* of each column of time; NAN: nothing there */
	uint64_t px, from_ns, to_ns;
	uint64_t cnt;
};

static bool api_series_init(struct api_series *s, uint64_t px, uint64_t from_ns, uint64_t to_ns)
{
	*s = (struct api_series){ malloc(px * sizeof(double)), malloc(px * sizeof(double)), px, from_ns,
				  to_ns, 0 };
	for (uint64_t i = 0; s->least && s->most && i < px; i++)
		s->least[i] = s->most[i] = NAN;
	return s->least && s->most;
}

static void api_series_done(struct api_series *s)
{
	free(s->least);
	free(s->most);
}

static void api_series_add(struct api_series *s, uint64_t ns, double value)
{
	uint64_t x;

	if (ns < s->from_ns || ns >= s->to_ns)
		return;
	x = (uint64_t)((double)(ns - s->from_ns) / (double)(s->to_ns - s->from_ns) * (double)s->px);
	if (x >= s->px)
		return;
	s->cnt++;
	if (isnan(s->least[x]) || value < s->least[x])
		s->least[x] = value;
	if (isnan(s->most[x]) || value > s->most[x])
		s->most[x] = value;
}

static void api_series_put(struct json *j, const char *name, const struct api_series *s)
{
	json_key(j, name);
	json_map(j);
	json_put_u64(j, "count", s->cnt);
	json_key(j, "least");
	json_list(j);
	for (uint64_t i = 0; i < s->px; i++)
		json_f64(j, s->least[i]);
	json_list_end(j);
	json_key(j, "most");
	json_list(j);
	for (uint64_t i = 0; i < s->px; i++)
		json_f64(j, s->most[i]);
	json_list_end(j);
	json_map_end(j);
}

/* runtime=NAME: tasks in its queue, tasks alive. */
void api_queues(struct api_call *call)
{
	const struct columns *c = call->c;
	const char *name = call->arg(call->ctx, "runtime"), *p;
	struct api_series depth = { 0 }, alive = { 0 };
	uint64_t from_ns, to_ns, px = 300;
	struct json *j;
	size_t len;

	if (!api_span(call, &from_ns, &to_ns) ||
	    !api_number(call, "px", 1, API_CHART_PX_MAX, &px))
		return;
	if (api_series_init(&depth, px, from_ns, to_ns) &&
	    api_series_init(&alive, px, from_ns, to_ns) && (j = api_begin(call))) {
		for (uint32_t i = 0; i < c->queues.cnt; i++) {
			p = columns_text(c, c->queues.runtime[i], &len);
			if (name && (strlen(name) != len || memcmp(name, p, len) != 0))
				continue;
			api_series_add(&depth, c->queues.ts_ns[i], c->queues.depth[i]);
			if (c->queues.alive[i] != UINT32_MAX)
				api_series_add(&alive, c->queues.ts_ns[i], c->queues.alive[i]);
		}
		api_series_put(j, "depth", &depth);
		api_series_put(j, "alive", &alive);
		api_end(call);
	}
	api_series_done(&depth);
	api_series_done(&alive);
}

struct api_edge {
	uint64_t ns;
	int delta; /* +1 one more from here on, -1 one less */
};

static int api_edge_order(const void *left, const void *right)
{
	const struct api_edge *a = left, *b = right;
	int order = (a->ns > b->ns) - (a->ns < b->ns);

	return order ? order : a->delta - b->delta;
}

/* How many of the edges' spans there are at once, from the beginning of the series on. */
static void api_series_sweep(struct api_series *s, struct api_edge *edges, size_t cnt)
{
	double now = 0;

	qsort(edges, cnt, sizeof(*edges), api_edge_order);
	if (!cnt || edges[0].ns > s->from_ns)
		api_series_add(s, s->from_ns, 0);
	for (size_t i = 0; i < cnt; i++) {
		now += edges[i].delta;
		if (i + 1 == cnt || edges[i + 1].ns != edges[i].ns)
			api_series_add(s, edges[i].ns, now);
	}
}

static void api_edge_put(struct api_edge *edges, size_t *cnt, const struct api_series *s,
			 uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns >= to_ns || from_ns >= s->to_ns || to_ns <= s->from_ns)
		return;
	edges[(*cnt)++] = (struct api_edge){ from_ns > s->from_ns ? from_ns : s->from_ns, 1 };
	edges[(*cnt)++] = (struct api_edge){ to_ns, -1 };
}

/* Threads of the blocking pool at work, tasks that stood in its queue. */
void api_pool(struct api_call *call)
{
	const struct columns *c = call->c;
	struct api_series work = { 0 }, queued = { 0 };
	struct api_edge *at_work = NULL, *in_queue = NULL;
	size_t works = 0, waits = 0, cnt = 0;
	uint64_t from_ns, to_ns, px = 300;
	struct json *j;

	if (!api_span(call, &from_ns, &to_ns) ||
	    !api_number(call, "px", 1, API_CHART_PX_MAX, &px))
		return;
	for (uint32_t l = 0; l < c->lanes.cnt; l++)
		if (c->lanes.kind[l] == COLUMNS_BLOCKING)
			cnt += c->lanes.polls_to[l] - c->lanes.polls_from[l];
	at_work = calloc(2 * cnt + 1, sizeof(*at_work));
	in_queue = calloc(2 * cnt + 1, sizeof(*in_queue));
	if (!at_work || !in_queue || !api_series_init(&work, px, from_ns, to_ns) ||
	    !api_series_init(&queued, px, from_ns, to_ns) || !(j = api_begin(call)))
		goto out;
	for (uint32_t l = 0; l < c->lanes.cnt; l++) {
		if (c->lanes.kind[l] != COLUMNS_BLOCKING)
			continue;
		for (uint32_t i = c->lanes.polls_from[l]; i < c->lanes.polls_to[l]; i++) {
			uint64_t start_ns = c->polls.start_ns[i], ready_ns = c->polls.ready_ns[i];

			api_edge_put(at_work, &works, &work, start_ns,
				     start_ns + c->polls.dur_ns[i]);
			if (ready_ns)
				api_edge_put(in_queue, &waits, &queued, ready_ns, start_ns);
		}
	}
	api_series_sweep(&work, at_work, works);
	api_series_sweep(&queued, in_queue, waits);
	api_series_put(j, "work", &work);
	api_series_put(j, "queued", &queued);
	api_end(call);
out:
	api_series_done(&work);
	api_series_done(&queued);
	free(at_work);
	free(in_queue);
}

static bool api_value(const struct columns_value *v, double *ret)
{
	double f;

	switch (v->type) {
	case D9_T_NONE:
		return false;
	case D9_T_I64:
		*ret = (double)(int64_t)v->u;
		return true;
	case D9_T_F64:
		memcpy(&f, &v->u, sizeof(f));
		*ret = f;
		return isfinite(f);
	default:
		*ret = (double)v->u;
		return true;
	}
}

/* schema=N field=M: numbers of schemas and of their fields as in /api/recording. */
void api_records(struct api_call *call)
{
	const struct columns *c = call->c;
	uint64_t from_ns, to_ns, px = 300, schema = 0, field = 0;
	struct columns_value value;
	struct api_series s = { 0 };
	struct json *j;
	double number;

	if (c->schemas.cnt == 0) {
		api_missing(call, "no events of other kinds were recorded");
		return;
	}
	if (!api_span(call, &from_ns, &to_ns) ||
	    !api_number(call, "px", 1, API_CHART_PX_MAX, &px) ||
	    !api_number(call, "schema", 0, c->schemas.cnt - 1, &schema) ||
	    !api_number(call, "field", 0, 255, &field))
		return;
	if (api_series_init(&s, px, from_ns, to_ns) && (j = api_begin(call))) {
		uint32_t i = columns_seek(c->records.ts_ns, 0, c->records.cnt, from_ns);

		for (; i < c->records.cnt && c->records.ts_ns[i] < to_ns; i++) {
			struct columns_iter it = { 0 };
			bool is_there = true;

			if (c->records.schema[i] != schema)
				continue;
			for (uint64_t at = 0; at <= field && is_there; at++)
				is_there = columns_record_next(c, i, &it, &value);
			if (is_there && api_value(&value, &number))
				api_series_add(&s, c->records.ts_ns[i], number);
		}
		api_series_put(j, "values", &s);
		api_end(call);
	}
	api_series_done(&s);
}
