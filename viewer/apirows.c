// SPDX-License-Identifier: Apache-2.0
/* apirows.c - single polls and wakes, where few enough are in view to be drawn one by one. */
#include "api.h"

#include "apicall.h"
#include "jsonout.h"

#include <stdlib.h>

#define API_ROWS_MAX 4000u

/* [from, to) of the polls of a lane that touch the span. */
static void api_touching(const struct columns *c, uint32_t lane, uint64_t from_ns, uint64_t to_ns,
			 uint32_t *ret_from, uint32_t *ret_to)
{
	uint32_t first = c->lanes.polls_from[lane], last = c->lanes.polls_to[lane];
	uint32_t before = columns_poll_at(c, lane, from_ns);

	*ret_from = before != COLUMNS_NONE && before >= first && before < last ?
			    before :
			    columns_seek(c->polls.start_ns, first, last, from_ns);
	*ret_to = columns_seek(c->polls.start_ns, *ret_from, last, to_ns);
}

void api_rows(struct api_call *call)
{
	const struct columns *c = call->c;
	uint32_t lanes[API_LANES_MAX], cnt, from, to, all = 0;
	uint64_t from_ns, to_ns;
	struct json *j;

	if (!api_span(call, &from_ns, &to_ns))
		return;
	cnt = api_lanes(call, lanes);
	if (!cnt)
		return;
	j = api_begin(call);
	if (!j)
		return;
	json_key(j, "polls");
	json_list(j);
	for (uint32_t i = 0; i < cnt; i++) {
		api_touching(c, lanes[i], from_ns, to_ns, &from, &to);
		for (; from < to && all < API_ROWS_MAX; from++, all++)
			api_poll(call, NULL, from);
	}
	json_list_end(j);
	json_key(j, "capped");
	json_bool(j, all == API_ROWS_MAX);
	api_end(call);
}

static void api_put_wake(struct api_call *call, uint32_t wake)
{
	const struct columns *c = call->c;
	struct json *j = call->j;
	const uint32_t ids[2] = { c->wakes.task[wake], c->wakes.waker[wake] };
	static const char *const keys[2] = { "task", "waker" };
	char text[24];

	json_map(j);
	api_rel(j, "ts", call, c->wakes.ts_ns[wake]);
	json_put_u64(j, "lane", c->wakes.lane[wake]);
	json_put_u64(j, "flags", c->wakes.flags[wake]);
	for (int i = 0; i < 2; i++) {
		json_key(j, keys[i]);
		if (ids[i] < c->tasks.cnt) {
			snprintf(text, sizeof(text), "%llu", (unsigned long long)c->tasks.id[ids[i]]);
			json_text(j, text);
		} else {
			json_null(j);
		}
	}
	api_poll(call, "poll", c->wakes.poll[wake]);
	json_map_end(j);
}

/* poll=ROW: the wake that led to it, and the wakes that it issued with the polls they led to. */
void api_wakes(struct api_call *call)
{
	const struct columns *c = call->c;
	uint64_t poll = 0, end_ns;
	uint32_t from, to, lane, all = 0;
	struct json *j;

	if (c->polls.cnt == 0 || !api_number(call, "poll", 0, c->polls.cnt - 1, &poll)) {
		if (c->polls.cnt == 0)
			api_missing(call, "no polls were recorded");
		return;
	}
	j = api_begin(call);
	if (!j)
		return;
	json_key(j, "by");
	if (c->polls.wake[poll] < c->wakes.cnt)
		api_put_wake(call, c->polls.wake[poll]);
	else
		json_null(j);
	lane = c->polls.lane[poll];
	if (__builtin_add_overflow(c->polls.start_ns[poll], c->polls.dur_ns[poll], &end_ns))
		end_ns = UINT64_MAX;
	from = columns_seek(c->wakes.ts_ns, c->lanes.wakes_from[lane], c->lanes.wakes_to[lane],
			    c->polls.start_ns[poll]);
	to = c->lanes.wakes_to[lane];
	json_key(j, "issued");
	json_list(j);
	for (; from < to && c->wakes.ts_ns[from] <= end_ns && all < 500; from++) {
		uint32_t task = c->wakes.task[from], at, last;

		if (c->wakes.poll[from] != poll || task >= c->tasks.cnt)
			continue;
		all++;
		json_map(j);
		api_rel(j, "ts", call, c->wakes.ts_ns[from]);
		json_put_u64(j, "flags", c->wakes.flags[from]);
		/* the task's next poll */
		at = c->tasks.polls_from[task], last = c->tasks.polls_to[task];
		while (at < last) {
			uint32_t mid = at + (last - at) / 2, row = c->task_polls.poll[mid];

			if (row < c->polls.cnt && c->polls.start_ns[row] < c->wakes.ts_ns[from])
				at = mid + 1;
			else
				last = mid;
		}
		api_poll(call, "to",
			 at < c->tasks.polls_to[task] ? c->task_polls.poll[at] : COLUMNS_NONE);
		json_map_end(j);
	}
	json_list_end(j);
	api_end(call);
}
