// SPDX-License-Identifier: Apache-2.0
/* apifind.c - one poll, one task, the worst of a kind. */
#include "api.h"

#include "apicall.h"
#include "core/pyramid.h"
#include "jsonout.h"

#include <stdlib.h>
#include <string.h>

#define API_TASK_POLLS_MAX 4000u
#define API_WORST_MAX 1000u

/* Rows of task_polls before the first poll of the task that starts at or after ns. */
static uint32_t api_task_seek(const struct columns *c, uint32_t task, uint64_t ns)
{
	uint32_t at = c->tasks.polls_from[task], last = c->tasks.polls_to[task];

	while (at < last) {
		uint32_t mid = at + (last - at) / 2, row = c->task_polls.poll[mid];

		if (row < c->polls.cnt && c->polls.start_ns[row] < ns)
			at = mid + 1;
		else
			last = mid;
	}
	return at;
}

static uint32_t api_task_poll(const struct columns *c, uint32_t task, uint32_t at)
{
	return at >= c->tasks.polls_from[task] && at < c->tasks.polls_to[task]
		       ? c->task_polls.poll[at]
		       : COLUMNS_NONE;
}

/* at=START (relative ns) task=ID: the link's way; or row=ROW; or lane=N before=NS / after=NS. */
void api_one_poll(struct api_call *call)
{
	const struct columns *c = call->c;
	uint64_t row = COLUMNS_NONE, at = 0, id = 0, lane = 0;
	uint32_t task, nr, first, last;
	struct json *j;

	if (!api_number(call, "row", 0, UINT32_MAX, &row) ||
	    !api_number(call, "at", 0, UINT64_MAX >> 1, &at) ||
	    !api_number(call, "task", 0, UINT64_MAX, &id) ||
	    !api_number(call, "lane", 0, UINT32_MAX, &lane))
		return;
	at += call->base_ns;
	if (call->arg(call->ctx, "task")) {
		task = columns_task(c, id);
		row = task == COLUMNS_NONE ? COLUMNS_NONE
					   : api_task_poll(c, task, api_task_seek(c, task, at));
		if (row < c->polls.cnt && c->polls.start_ns[row] != at)
			row = COLUMNS_NONE;
	} else if (call->arg(call->ctx, "lane") && lane < c->lanes.cnt) {
		row = columns_poll_at(c, (uint32_t)lane, at);
	}
	if (row >= c->polls.cnt) {
		api_missing(call, "no such poll in this recording");
		return;
	}
	j = api_begin(call);
	if (!j)
		return;
	api_poll(call, "poll", (uint32_t)row);
	task = c->polls.task[row];
	nr = task < c->tasks.cnt ? api_task_seek(c, task, c->polls.start_ns[row]) : 0;
	if (task < c->tasks.cnt) {
		json_put_u64(j, "nr", nr - c->tasks.polls_from[task] + 1);
		json_put_u64(j, "of", c->tasks.polls_to[task] - c->tasks.polls_from[task]);
		api_poll(call, "task_before", nr ? api_task_poll(c, task, nr - 1) : COLUMNS_NONE);
		api_poll(call, "task_after", api_task_poll(c, task, nr + 1));
	}
	first = c->lanes.polls_from[c->polls.lane[row]];
	last = c->lanes.polls_to[c->polls.lane[row]];
	api_poll(call, "lane_before", row > first ? (uint32_t)row - 1 : COLUMNS_NONE);
	api_poll(call, "lane_after", row + 1 < last ? (uint32_t)row + 1 : COLUMNS_NONE);
	api_why(call, (uint32_t)row);
	api_end(call);
}

/* id=ID from= to=: the task, and its polls in the span. */
void api_task(struct api_call *call)
{
	const struct columns *c = call->c;
	uint64_t from_ns, to_ns, id = 0;
	uint32_t task, at, shown = 0;
	struct json *j;
	char text[24];

	if (!api_span(call, &from_ns, &to_ns) || !api_number(call, "id", 0, UINT64_MAX, &id))
		return;
	task = columns_task(c, id);
	if (task == COLUMNS_NONE) {
		api_missing(call, "no such task in this recording");
		return;
	}
	j = api_begin(call);
	if (!j)
		return;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)id);
	json_put_text(j, "id", text);
	api_text(j, "place", c, c->tasks.place[task]);
	json_key(j, "spawn");
	if (c->tasks.spawn_ns[task] >= call->base_ns && c->tasks.spawn_ns[task])
		json_u64(j, c->tasks.spawn_ns[task] - call->base_ns);
	else
		json_null(j);
	json_key(j, "end");
	if (c->tasks.end_ns[task] >= call->base_ns && c->tasks.end_ns[task])
		json_u64(j, c->tasks.end_ns[task] - call->base_ns);
	else
		json_null(j);
	json_put_u64(j, "busy", c->tasks.busy_ns[task]);
	json_put_u64(j, "worst", c->tasks.worst_ns[task]);
	json_put_u64(j, "polls_cnt", c->tasks.polls_to[task] - c->tasks.polls_from[task]);
	json_put_u64(j, "wakes_cnt", c->tasks.wakes_to[task] - c->tasks.wakes_from[task]);
	json_put_u64(j, "cause", c->tasks.cause[task]);
	at = api_task_seek(c, task, from_ns);
	if (at > c->tasks.polls_from[task])
		at--; /* the one that may reach in */
	json_key(j, "polls");
	json_list(j);
	for (; shown < API_TASK_POLLS_MAX; at++, shown++) {
		uint32_t row = api_task_poll(c, task, at);

		if (row >= c->polls.cnt || c->polls.start_ns[row] >= to_ns)
			break;
		api_poll(call, NULL, row);
	}
	json_list_end(j);
	json_key(j, "capped");
	json_bool(j, shown == API_TASK_POLLS_MAX);
	api_end(call);
}

struct api_hit {
	uint64_t value;
	uint32_t row;
};

static int api_hit_order(const void *left, const void *right)
{
	const struct api_hit *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

static uint64_t api_worst_value(const struct columns *c, unsigned int kind, uint32_t poll)
{
	if (kind == 1)
		return c->polls.start_ns[poll] - c->polls.ready_ns[poll];
	return kind == 2 ? c->polls.off_ns[poll] : c->polls.dur_ns[poll];
}

/* kind=long|late|blocked limit=N: the polls that hurt most. */
void api_worst(struct api_call *call)
{
	static const char *const kinds[PYRAMID_BAD_CLASSES] = { "long", "late", "blocked" };
	const struct columns *c = call->c;
	const char *text = call->arg(call->ctx, "kind");
	uint64_t limit = 50, from_ns, to_ns;
	struct api_hit *hits = NULL;
	uint32_t cnt = 0, room = 0;
	unsigned int kind = 0;
	struct json *j;

	while (text && kind < PYRAMID_BAD_CLASSES && strcmp(text, kinds[kind]) != 0)
		kind++;
	if (kind == PYRAMID_BAD_CLASSES) {
		api_bad(call, "kind must be long, late or blocked");
		return;
	}
	if (!api_span(call, &from_ns, &to_ns) ||
	    !api_number(call, "limit", 1, API_WORST_MAX, &limit))
		return;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
			uint32_t of = kind * c->lanes.cnt + lane;

			if (of >= c->bad_lanes.cnt)
				break;
			for (uint32_t i = c->bad_lanes.bads_from[of]; i < c->bad_lanes.bads_to[of];
			     i++) {
				uint32_t poll = c->bads.poll[i];

				if (poll >= c->polls.cnt || c->polls.start_ns[poll] < from_ns ||
				    c->polls.start_ns[poll] >= to_ns)
					continue;
				if (hits && cnt < room)
					hits[cnt++] =
						(struct api_hit){ api_worst_value(c, kind, poll),
								  poll };
				room += !hits;
			}
		}
		if (!hits)
			hits = calloc(room + 1, sizeof(*hits));
		if (!hits) {
			api_bytes(call, NULL, 0);
			return;
		}
	}
	qsort(hits, cnt, sizeof(*hits), api_hit_order);
	j = api_begin(call);
	if (j) {
		json_put_u64(j, "count", cnt);
		json_key(j, "polls");
		json_list(j);
		for (uint32_t i = 0; i < cnt && i < limit; i++)
			api_poll(call, NULL, hits[i].row);
		json_list_end(j);
		api_end(call);
	}
	free(hits);
}
