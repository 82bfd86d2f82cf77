// SPDX-License-Identifier: Apache-2.0
/* apitimed.c - the stacks of one thread one after the other: frames that stay are one box. */
#include "api.h"

#include "apicall.h"
#include "apistack.h"
#include "jsonout.h"

#include <stdlib.h>

#define API_BOXES_MAX 20000u
#define API_PERIOD_NS 10000000ull /* where the recording does not say how often it looked */
#define API_LABEL_OUTSIDE (2 * API_LABEL_ADDR) /* of no task */
#define API_LABEL_UNTYPED (API_LABEL_OUTSIDE + 1)

struct api_line { /* of boxes that are open, outermost first */
	uint64_t open[API_DEPTH_MAX + 1], since_ns[API_DEPTH_MAX + 1];
	uint64_t end_ns, least_ns; /* where the stack before ended; narrower boxes are not told */
	uint64_t shown, small, over_cap;
	uint32_t depth;
};

static void api_box(struct api_call *call, struct api_line *l, uint32_t depth)
{
	uint64_t label = l->open[depth], ns = l->end_ns - l->since_ns[depth];

	if (ns < l->least_ns) {
		l->small++;
		return;
	}
	if (l->shown == API_BOXES_MAX) {
		l->over_cap++;
		return;
	}
	l->shown++;
	json_u64(call->j, depth);
	json_u64(call->j, l->since_ns[depth] - call->base_ns);
	json_u64(call->j, ns);
	if (label >= API_LABEL_OUTSIDE)
		json_text(call->j, label == API_LABEL_OUTSIDE ? "(outside polls)" : "(type unknown)");
	else
		api_put_label(call, label);
}

/* A stack held from from_ns to to_ns: what it does not share with the one before ends there. */
static void api_line_add(struct api_call *call, struct api_line *l, const uint64_t *labels,
			 uint32_t cnt, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t same = 0;

	while (from_ns == l->end_ns && same < cnt && same < l->depth && labels[same] == l->open[same])
		same++;
	while (l->depth > same)
		api_box(call, l, --l->depth);
	for (; l->depth < cnt; l->depth++) {
		l->open[l->depth] = labels[l->depth];
		l->since_ns[l->depth] = from_ns;
	}
	l->end_ns = to_ns;
}

/* Until when a row holds: to the next sample if that comes in time, else for as long as one stands. */
static uint64_t api_row_end(const struct columns *c, const struct api_want *w, uint32_t row,
			    uint32_t to, uint64_t period_ns)
{
	uint64_t ts_ns, gap_ns;
	uint32_t next = row + 1;

	if (w->is_off)
		return c->offs.start_ns[row] + c->offs.dur_ns[row];
	ts_ns = c->samples.ts_ns[row];
	while (next < to && c->samples.source[next] != w->source)
		next++;
	gap_ns = next < to ? c->samples.ts_ns[next] - ts_ns : UINT64_MAX;
	return ts_ns + (gap_ns <= 2 * period_ns ? gap_ns : period_ns);
}

static void api_line_lane(struct api_call *call, struct api_line *l, uint32_t lane,
			  const struct api_want *w, uint64_t period_ns)
{
	const struct columns *c = call->c;
	const uint64_t *times = w->is_off ? c->offs.start_ns : c->samples.ts_ns;
	uint32_t first = w->is_off ? c->lanes.offs_from[lane] : c->lanes.samples_from[lane];
	uint32_t end = w->is_off ? c->lanes.offs_to[lane] : c->lanes.samples_to[lane];
	uint32_t i = columns_seek(times, first, end, w->from_ns);
	uint64_t labels[API_DEPTH_MAX + 1];
	bool unused = false;

	if (i > first)
		i--; /* the one that may reach in */
	for (; i < end && times[i] < w->to_ns; i++) {
		uint64_t from_ns = times[i], to_ns = api_row_end(c, w, i, end, period_ns);
		uint32_t place = api_stack_place(c, w, i), cnt;

		if (from_ns < w->from_ns)
			from_ns = w->from_ns;
		if (from_ns < l->end_ns)
			from_ns = l->end_ns;
		if (to_ns > w->to_ns)
			to_ns = w->to_ns;
		if (to_ns <= from_ns || !api_wants(c, w, i))
			continue;
		labels[0] = place == COLUMNS_NONE ? API_LABEL_OUTSIDE :
			    place == 0		  ? API_LABEL_UNTYPED :
						    place;
		cnt = api_stack_labels(c, w->is_off ? c->offs.stack[i] : c->samples.stack[i],
				       labels + 1, &unused);
		api_line_add(call, l, labels, cnt + 1, from_ns, to_ns);
	}
	api_line_add(call, l, labels, 0, w->to_ns, w->to_ns);
}

void api_timed(struct api_call *call)
{
	const struct columns *c = call->c;
	uint64_t px = 1500, period_ns;
	uint32_t lanes[API_LANES_MAX];
	struct api_line *l = NULL;
	struct api_want want;
	struct json *j;

	if (!api_want_read(call, &want) || !api_number(call, "px", 1, API_PX_MAX, &px))
		return;
	switch (api_lanes(call, lanes)) {
	case 0:
		return;
	case 1:
		break;
	default:
		api_bad(call, "lanes must be one lane");
		return;
	}
	if (c->lanes.kind[lanes[0]] == COLUMNS_NOWHERE) {
		api_bad(call, "the lane of no worker holds many threads: their stacks have no one order");
		return;
	}
	l = calloc(1, sizeof(*l));
	j = l ? api_begin(call) : NULL;
	if (!j) {
		if (!l)
			api_bytes(call, NULL, 0);
		free(l);
		return;
	}
	period_ns = api_sample_ns(c);
	l->least_ns = (want.to_ns - want.from_ns) / px;
	json_put_text(j, "unit", want.is_off ? "ns" : "samples");
	json_key(j, "period");
	if (period_ns)
		json_u64(j, period_ns);
	else
		json_null(j);
	json_key(j, "boxes");
	json_list(j);
	api_line_lane(call, l, lanes[0], &want, period_ns ? period_ns : API_PERIOD_NS);
	json_list_end(j);
	json_put_u64(j, "small", l->small);
	json_put_u64(j, "over_cap", l->over_cap);
	api_end(call);
	free(l);
}
