// SPDX-License-Identifier: Apache-2.0
/* apirange.c - what happened in a span of time: split, task types, distributions, heat map. */
#include "api.h"

#include "apicall.h"
#include "core/pyramid.h"
#include "histogram.h"
#include "jsonout.h"
#include "summed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define API_TYPES_MAX 4096u /* types with figures of their own; further ones are one row */
#define API_TYPES_SHOWN 100u
#define API_HEAT_ROWS_MAX 128u

struct api_type {
	uint32_t place;
	uint32_t polls[API_BINS], waits[API_BINS]; /* to be drawn; the quantiles are not made of them */
	struct histogram poll, wait;
	uint64_t cnt, busy_ns, max_ns, off_ns, waits_cnt, wait_ns;
	uint32_t worst; /* poll */
};

struct api_types {
	struct api_type *at[API_TYPES_MAX];
	uint32_t cnt;
	uint32_t *of_text; /* number + 1 */
};

static struct api_type *api_type_of(struct api_types *t, uint32_t place)
{
	if (t->of_text[place] == 0) {
		/* the last row takes what has no room */
		if (t->cnt == API_TYPES_MAX)
			return t->at[API_TYPES_MAX - 1];
		t->at[t->cnt] = calloc(1, sizeof(**t->at));
		if (!t->at[t->cnt])
			return t->cnt ? t->at[t->cnt - 1] : NULL;
		t->at[t->cnt]->place = t->cnt == API_TYPES_MAX - 1 ? 1 : place;
		t->of_text[place] = ++t->cnt;
	}
	return t->at[t->of_text[place] - 1];
}

/* 0 or -ENOMEM. */
static int api_count_poll(struct api_type *t, const struct columns *c, uint32_t poll)
{
	uint64_t dur = c->polls.dur_ns[poll], wait = c->polls.start_ns[poll] - c->polls.ready_ns[poll];
	int err = 0;

	t->cnt++;
	if (!(c->polls.flags[poll] & COLUMNS_POLL_CUT)) {
		t->polls[api_bin(dur)]++;
		err = histogram_add(&t->poll, dur);
		t->busy_ns += dur;
		t->off_ns += c->polls.off_ns[poll];
		if (dur >= t->max_ns) {
			t->max_ns = dur;
			t->worst = poll;
		}
	}
	if (c->polls.ready_ns[poll] && c->polls.ready_ns[poll] <= c->polls.start_ns[poll]) {
		t->waits[api_bin(wait)]++;
		err = histogram_add(&t->wait, wait) ? -ENOMEM : err;
		t->waits_cnt++;
		t->wait_ns += wait;
	}
	return err;
}

static void api_put_bins(struct json *j, const char *key, const uint32_t bins[API_BINS])
{
	json_key(j, key);
	json_list(j); /* [bin, count] pairs, one after the other */
	for (uint32_t i = 0; i < API_BINS; i++)
		if (bins[i]) {
			json_u64(j, i);
			json_u64(j, bins[i]);
		}
	json_list_end(j);
}

static void api_put_quantiles(struct json *j, const char *key, const struct histogram *h)
{
	static const unsigned int permilles[] = { 500, 900, 990, 999 };

	json_key(j, key);
	json_list(j);
	for (size_t i = 0; i < sizeof(permilles) / sizeof(permilles[0]); i++)
		json_u64(j, histogram_quantile(h, permilles[i]));
	json_u64(j, h->cnt ? h->max : 0);
	json_list_end(j);
}

static void api_type_free(struct api_type *t)
{
	if (!t)
		return;
	histogram_done(&t->poll);
	histogram_done(&t->wait);
	free(t);
}

static void api_put_type(struct api_call *call, const struct api_type *t)
{
	struct json *j = call->j;

	json_map(j);
	api_text(j, "place", call->c, t->place);
	json_put_u64(j, "polls", t->cnt);
	json_put_u64(j, "busy", t->busy_ns);
	json_put_u64(j, "off", t->off_ns);
	json_put_u64(j, "waits", t->waits_cnt);
	json_put_u64(j, "wait", t->wait_ns);
	api_put_quantiles(j, "poll_q", &t->poll);
	api_put_quantiles(j, "wait_q", &t->wait);
	api_poll(call, "worst", t->worst);
	json_map_end(j);
}

static int api_type_order(const void *left, const void *right)
{
	const struct api_type *a = *(struct api_type *const *)left, *b = *(struct api_type *const *)right;

	if (a->busy_ns != b->busy_ns)
		return a->busy_ns < b->busy_ns ? 1 : -1;
	return (a->place > b->place) - (a->place < b->place);
}

/* Of a lane's time without CPU in the span, what lies in polls that were recorded. */
static uint64_t api_off_in_polls(const struct columns *c, uint32_t lane, uint64_t from_ns,
				 uint64_t to_ns)
{
	uint32_t first = c->lanes.offs_from[lane], end = c->lanes.offs_to[lane];
	uint32_t i = columns_seek(c->offs.start_ns, first, end, from_ns);
	uint64_t sum = 0;

	if (i > first)
		i--; /* the one that may reach in */
	for (; i < end && c->offs.start_ns[i] < to_ns; i++) {
		uint64_t a = c->offs.start_ns[i], b = a + c->offs.dur_ns[i];

		if (a < from_ns)
			a = from_ns;
		if (b > to_ns)
			b = to_ns;
		sum += c->offs.poll[i] != COLUMNS_NONE && b > a ? b - a : 0;
	}
	return sum;
}

/*
 * The workers' time in the span, kind by kind; what is not known is what is left. Parks that were
 * added up count as the others do, and are told apart once more.
 */
static void api_put_split(struct api_call *call, const uint32_t *lanes, uint32_t cnt,
			  uint64_t from_ns, uint64_t to_ns)
{
	static const struct {
		const char *key;
		enum pyramid_plane plane;
	} parts[] = { { "polls", PYRAMID_POLLS },   { "parks", PYRAMID_PARKS },
		      { "offs", PYRAMID_OFFS },	    { "delays", PYRAMID_DELAYS },
		      { "samples", PYRAMID_SAMPLES }, { "wakes", PYRAMID_WAKES } };
	struct summed *by_lane = NULL, summed = { 0 };
	struct json *j = call->j;
	struct pyramid_cell cell;
	uint64_t sum, count, max, in_polls = 0;
	uint32_t workers = 0;

	if (summed_lanes(call->c, from_ns, to_ns, &by_lane) == 0)
		for (uint32_t i = 0; i < cnt; i++) {
			summed.parks += by_lane[lanes[i]].parks;
			summed.parked_ns += by_lane[lanes[i]].parked_ns;
			summed.delayed_ns += by_lane[lanes[i]].delayed_ns;
		}
	free(by_lane);

	json_key(j, "split");
	json_map(j);
	for (uint32_t i = 0; i < cnt; i++)
		if (call->c->lanes.kind[lanes[i]] == COLUMNS_WORKER) {
			workers++;
			in_polls += api_off_in_polls(call->c, lanes[i], from_ns, to_ns);
		}
	json_put_u64(j, "offs_in_polls", in_polls);
	json_put_u64(j, "workers", workers);
	json_put_u64(j, "wall", workers * (to_ns - from_ns));
	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
		sum = count = max = 0;
		for (uint32_t i = 0; i < cnt; i++) {
			if (call->c->lanes.kind[lanes[i]] != COLUMNS_WORKER ||
			    pyramid_query(call->c, parts[p].plane, lanes[i], from_ns, to_ns, 1, &cell) != 0)
				continue;
			sum += cell.sum;
			count += cell.cnt;
			if (cell.max > max)
				max = cell.max;
		}
		if (parts[p].plane == PYRAMID_PARKS) { /* the wait for a CPU is part of a park */
			sum += summed.parked_ns + summed.delayed_ns;
			count += summed.parks;
		} else if (parts[p].plane == PYRAMID_DELAYS) {
			sum += summed.delayed_ns;
		}
		json_key(j, parts[p].key);
		json_map(j);
		json_put_u64(j, "sum", sum);
		json_put_u64(j, "count", count);
		json_put_u64(j, "max", max);
		json_map_end(j);
	}
	json_key(j, "summed");
	json_map(j);
	json_put_u64(j, "parks", summed.parks);
	json_put_u64(j, "parked", summed.parked_ns);
	json_put_u64(j, "delayed", summed.delayed_ns);
	json_map_end(j);
	json_map_end(j);
}

void api_range(struct api_call *call)
{
	const struct columns *c = call->c;
	uint32_t lanes[API_LANES_MAX], cnt, from, to;
	struct api_types types = { 0 };
	struct api_type *all = calloc(1, sizeof(*all)), *t;
	uint64_t from_ns, to_ns;
	bool has_workers = false;
	struct json *j;

	types.of_text = calloc(c->texts.cnt + 1, sizeof(*types.of_text));
	if (!all || !types.of_text) {
		api_bytes(call, NULL, 0);
		goto out;
	}
	all->worst = COLUMNS_NONE;
	if (!api_span(call, &from_ns, &to_ns))
		goto out;
	cnt = api_lanes(call, lanes);
	for (uint32_t i = 0; i < cnt; i++)
		has_workers |= c->lanes.kind[lanes[i]] == COLUMNS_WORKER;
	for (uint32_t i = 0; i < cnt; i++) {
		/* nested polls lie within others, and blocking tasks are none: beside workers they
		 * would be counted twice or for what they are not */
		if (has_workers && c->lanes.kind[lanes[i]] != COLUMNS_WORKER)
			continue;
		from = columns_seek(c->polls.start_ns, c->lanes.polls_from[lanes[i]],
				    c->lanes.polls_to[lanes[i]], from_ns);
		to = columns_seek(c->polls.start_ns, from, c->lanes.polls_to[lanes[i]], to_ns);
		for (; from < to; from++) {
			t = api_type_of(&types, c->polls.place[from]);
			if (api_count_poll(all, c, from) != 0 ||
			    (t && api_count_poll(t, c, from) != 0)) {
				api_bytes(call, NULL, 0);
				goto out;
			}
		}
	}
	j = cnt ? api_begin(call) : NULL;
	if (!j)
		goto out;
	qsort(types.at, types.cnt, sizeof(types.at[0]), api_type_order);
	api_put_split(call, lanes, cnt, from_ns, to_ns);
	json_key(j, "all");
	api_put_type(call, all);
	api_put_bins(j, "poll_bins", all->polls);
	api_put_bins(j, "wait_bins", all->waits);
	json_put_u64(j, "types_cnt", types.cnt);
	json_key(j, "types");
	json_list(j);
	for (uint32_t i = 0; i < types.cnt && i < API_TYPES_SHOWN; i++)
		api_put_type(call, types.at[i]);
	json_list_end(j);
	api_end(call);
out:
	for (uint32_t i = 0; i < types.cnt; i++)
		api_type_free(types.at[i]);
	free(types.of_text);
	api_type_free(all);
}

/* what=polls|waits: how many of each length (3 rows to an octave) in each column of time. u32 each,
 * after a head of five: magic, columns, rows, the first row's number, generation. */
void api_heat(struct api_call *call)
{
	const struct columns *c = call->c;
	const char *what = call->arg(call->ctx, "what");
	bool is_wait = what && strcmp(what, "waits") == 0;
	uint32_t lanes[API_LANES_MAX], cnt, *to;
	uint64_t from_ns, to_ns, px = 300;

	if (what && !is_wait && strcmp(what, "polls") != 0) {
		api_bad(call, "what must be polls or waits");
		return;
	}
	if (!api_span(call, &from_ns, &to_ns) || !api_number(call, "px", 1, API_PX_MAX, &px))
		return;
	cnt = api_lanes(call, lanes);
	if (!cnt)
		return;
	to = calloc(5 + px * API_HEAT_ROWS_MAX, sizeof(*to));
	for (uint32_t i = 0; to && i < cnt; i++) {
		uint32_t row = columns_seek(c->polls.start_ns, c->lanes.polls_from[lanes[i]],
					    c->lanes.polls_to[lanes[i]], from_ns);
		uint32_t end = columns_seek(c->polls.start_ns, row, c->lanes.polls_to[lanes[i]], to_ns);

		for (; row < end; row++) {
			uint64_t start = c->polls.start_ns[row], ready = c->polls.ready_ns[row];
			uint64_t ns = is_wait ? start - ready : c->polls.dur_ns[row], x;
			uint32_t y;

			if (is_wait ? ready == 0 || ready > start :
				      (c->polls.flags[row] & COLUMNS_POLL_CUT) != 0)
				continue;
			/* unsorted rows, which only a hostile cache or trace has, end here */
			if (start < from_ns || start >= to_ns)
				continue;
			x = (uint64_t)((double)(start - from_ns) / (double)(to_ns - from_ns) * (double)px);
			y = api_bin(ns) * 3 / 8;
			if (x < px && y < API_HEAT_ROWS_MAX)
				to[5 + x * API_HEAT_ROWS_MAX + y]++;
		}
	}
	if (to) {
		to[0] = 0x31483944u; /* "D9H1" */
		to[1] = (uint32_t)px;
		to[2] = API_HEAT_ROWS_MAX;
		to[3] = 0;
		to[4] = (uint32_t)call->generation;
	}
	api_bytes(call, to, (5 + px * API_HEAT_ROWS_MAX) * sizeof(*to));
}
