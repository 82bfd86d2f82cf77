// SPDX-License-Identifier: Apache-2.0
/* apiglimpse.c - what is known of tasks where polls were not recorded: times without CPU, samples. */
#include "api.h"

#include "apicall.h"
#include "jsonout.h"

#include "format/trace.h"

#include <stdlib.h>

#define API_GLIMPSES_MAX 2000u /* times without CPU told one by one; the sums are of all */
#define API_GLIMPSE_WORST 10u
#define API_GLIMPSE_TYPES_MAX 256u /* types with figures of their own; the last takes the others */

struct api_glimpse_type {
	uint32_t place; /* text; 0: of several types, or unknown */
	uint64_t off_ns, preempted_ns, max_ns, cnt, samples;
};

struct api_glimpses {
	struct api_glimpse_type types[API_GLIMPSE_TYPES_MAX];
	uint32_t types_cnt;
	uint32_t worst[API_GLIMPSE_WORST], worst_cnt; /* offs, longest first */
};

static struct api_glimpse_type *api_glimpse_type(struct api_glimpses *g, uint32_t place)
{
	uint32_t i = 0;

	while (i < g->types_cnt && g->types[i].place != place)
		i++;
	if (i < g->types_cnt)
		return &g->types[i];
	if (i == API_GLIMPSE_TYPES_MAX)
		return &g->types[i - 1];
	g->types[i].place = i == API_GLIMPSE_TYPES_MAX - 1 ? 0 : place;
	g->types_cnt++;
	return &g->types[i];
}

static uint32_t api_glimpse_place(const struct columns *c, uint32_t task)
{
	return task < c->tasks.cnt ? c->tasks.place[task] : 0;
}

static void api_glimpse_add(struct api_glimpses *g, const struct columns *c, uint32_t off)
{
	struct api_glimpse_type *t = api_glimpse_type(g, api_glimpse_place(c, c->offs.task[off]));
	uint64_t ns = c->offs.dur_ns[off];
	uint32_t at = g->worst_cnt;

	t->cnt++;
	t->off_ns += ns;
	t->preempted_ns += c->offs.reason[off] == 0 ? ns : 0;
	if (ns > t->max_ns)
		t->max_ns = ns;
	while (at && c->offs.dur_ns[g->worst[at - 1]] < ns)
		at--;
	if (at == API_GLIMPSE_WORST)
		return;
	if (g->worst_cnt < API_GLIMPSE_WORST)
		g->worst_cnt++;
	for (uint32_t i = g->worst_cnt - 1; i > at; i--)
		g->worst[i] = g->worst[i - 1];
	g->worst[at] = off;
}

/* Times without CPU of one lane that lie in no recorded poll, but in one of a known task. Those that
 * are shorter than least_ns are only added up. */
static void api_glimpse_lane(struct api_call *call, struct api_glimpses *g, uint32_t lane,
			     uint64_t from_ns, uint64_t to_ns, uint64_t least_ns, uint64_t *told)
{
	const struct columns *c = call->c;
	uint32_t first = c->lanes.offs_from[lane], end = c->lanes.offs_to[lane];
	uint32_t i = columns_seek(c->offs.start_ns, first, end, from_ns);

	if (i > first)
		i--; /* the one that may reach in */
	for (; i < end && c->offs.start_ns[i] < to_ns; i++) {
		if (c->offs.poll[i] != COLUMNS_NONE || c->offs.task[i] == COLUMNS_NONE ||
		    c->offs.start_ns[i] + c->offs.dur_ns[i] < from_ns)
			continue;
		api_glimpse_add(g, c, i);
		if (c->offs.dur_ns[i] >= least_ns && (*told)++ < API_GLIMPSES_MAX)
			api_off(call, i);
	}
}

/* agent:Sample names the task that a CPU sample hit while polls were not recorded. */
static uint64_t api_glimpse_samples(const struct columns *c, struct api_glimpses *g,
				    uint64_t from_ns, uint64_t to_ns)
{
	uint32_t schema = api_schema(c, "agent:Sample");
	uint64_t cnt = 0;

	for (uint32_t i = 0; schema < c->schemas.cnt && i < c->records.cnt; i++) {
		struct columns_iter it = { 0 };
		struct columns_value v;

		if (c->records.schema[i] != schema || c->records.ts_ns[i] < from_ns ||
		    c->records.ts_ns[i] >= to_ns)
			continue;
		while (columns_record_next(c, i, &it, &v))
			if (v.type != D9_T_NONE && api_is(c, v.name, "task_id")) {
				uint32_t task = columns_task(c, v.u);

				api_glimpse_type(g, api_glimpse_place(c, task))->samples++;
				cnt++;
			}
	}
	return cnt;
}

static int api_glimpse_order(const void *left, const void *right)
{
	const struct api_glimpse_type *a = left, *b = right;

	if (a->off_ns != b->off_ns)
		return a->off_ns < b->off_ns ? 1 : -1;
	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->place > b->place) - (a->place < b->place);
}

void api_glimpses(struct api_call *call)
{
	uint64_t from_ns, to_ns, px = 1000, told = 0, samples;
	uint32_t lanes[API_LANES_MAX], cnt;
	struct api_glimpses *g;
	struct json *j;

	if (!api_span(call, &from_ns, &to_ns) || !api_number(call, "px", 1, API_PX_MAX, &px))
		return;
	cnt = api_lanes(call, lanes);
	g = cnt ? calloc(1, sizeof(*g)) : NULL;
	j = g ? api_begin(call) : NULL;
	if (!j) {
		if (cnt && !g)
			api_bytes(call, NULL, 0);
		free(g);
		return;
	}
	json_key(j, "offs");
	json_list(j);
	for (uint32_t i = 0; i < cnt; i++)
		api_glimpse_lane(call, g, lanes[i], from_ns, to_ns, (to_ns - from_ns) / px, &told);
	json_list_end(j);
	json_put_u64(j, "over_cap", told > API_GLIMPSES_MAX ? told - API_GLIMPSES_MAX : 0);
	json_key(j, "worst");
	json_list(j);
	for (uint32_t i = 0; i < g->worst_cnt; i++)
		api_off(call, g->worst[i]);
	json_list_end(j);
	samples = api_glimpse_samples(call->c, g, from_ns, to_ns);
	json_put_u64(j, "samples", samples);
	qsort(g->types, g->types_cnt, sizeof(g->types[0]), api_glimpse_order);
	json_key(j, "types");
	json_list(j);
	for (uint32_t i = 0; i < g->types_cnt; i++) {
		json_map(j);
		api_text(j, "place", call->c, g->types[i].place);
		json_put_u64(j, "off", g->types[i].off_ns);
		json_put_u64(j, "preempted", g->types[i].preempted_ns);
		json_put_u64(j, "max", g->types[i].max_ns);
		json_put_u64(j, "count", g->types[i].cnt);
		json_put_u64(j, "samples", g->types[i].samples);
		json_map_end(j);
	}
	json_list_end(j);
	api_end(call);
	free(g);
}
