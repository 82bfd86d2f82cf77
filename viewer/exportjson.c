// SPDX-License-Identifier: Apache-2.0
/* exportjson.c - Chrome's trace events and speedscope's file format. */
#include "core/columns.h"
#include "export.h"
#include "jsonout.h"
#include "summed.h"

#include <errno.h>
#include <stdio.h>

static void put_text(struct json *j, const char *key, const struct columns *c, uint32_t text,
		     const char *otherwise)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	if (len)
		json_put_bytes(j, key, p, len);
	else
		json_put_text(j, key, otherwise);
}

/* ---- Chrome: microseconds, "X" a slice, "s"/"f" a flow, "C" a counter, "M" a name ---- */

static void chrome_head(struct json *j, const char *phase, uint32_t lane, double us)
{
	json_map(j);
	json_put_text(j, "ph", phase);
	json_put_u64(j, "pid", 1);
	json_put_u64(j, "tid", lane + 1);
	json_key(j, "ts");
	json_f64(j, us);
}

static double us_of(const struct export *x, uint64_t ns)
{
	return (double)(int64_t)(ns - x->c->odd.first_ns) / 1e3;
}

static void chrome_names(struct json *j, const struct columns *c)
{
	char name[EXPORT_LANE_SZ];

	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
		export_lane_name(c, lane, name);
		chrome_head(j, "M", lane, 0);
		json_put_text(j, "name", "thread_name");
		json_key(j, "args");
		json_map(j);
		json_put_text(j, "name", name);
		json_map_end(j);
		json_map_end(j);
	}
}

static void chrome_flow(struct json *j, const struct export *x, uint32_t wake, const char *phase,
			uint32_t lane, uint64_t ns)
{
	chrome_head(j, phase, lane, us_of(x, ns));
	json_put_text(j, "name", "wake");
	json_put_text(j, "cat", "wake");
	json_put_u64(j, "id", wake + 1ull);
	if (*phase == 'f')
		json_put_text(j, "bp", "e");
	json_map_end(j);
}

static void chrome_poll(struct json *j, const struct export *x, uint32_t i)
{
	const struct columns *c = x->c;
	uint32_t wake = c->polls.wake[i], lane = c->polls.lane[i];

	chrome_head(j, "X", lane, us_of(x, c->polls.start_ns[i]));
	json_key(j, "dur");
	json_f64(j, (double)c->polls.dur_ns[i] / 1e3);
	put_text(j, "name", c, c->polls.place[i], "(unknown type)");
	json_put_text(j, "cat", "poll");
	json_key(j, "args");
	json_map(j);
	if (c->polls.task[i] != COLUMNS_NONE)
		json_put_u64(j, "task", c->tasks.id[c->polls.task[i]]);
	if (c->polls.ready_ns[i])
		json_put_u64(j, "wait_ns", c->polls.start_ns[i] - c->polls.ready_ns[i]);
	if (c->polls.flags[i] & COLUMNS_POLL_CUT)
		json_put_text(j, "end", "unknown");
	json_map_end(j);
	json_map_end(j);
	if (wake == COLUMNS_NONE || c->wakes.poll[wake] == COLUMNS_NONE)
		return;
	chrome_flow(j, x, wake, "s", c->wakes.lane[wake], c->wakes.ts_ns[wake]);
	chrome_flow(j, x, wake, "f", lane, c->polls.start_ns[i]);
}

/* A slice for each window in which parks were added up. */
static void chrome_summed(struct json *j, const struct export *x)
{
	struct summed_iter it = { 0 };
	char text[SUMMED_NAME_SZ];
	struct summed s;

	while (summed_next(x->c, &it, &s)) {
		if (s.lane == COLUMNS_NONE || !export_has(x, s.from_ns))
			continue;
		chrome_head(j, "X", s.lane, us_of(x, s.from_ns));
		json_key(j, "dur");
		json_f64(j, (double)(s.to_ns - s.from_ns) / 1e3);
		json_put_text(j, "name", summed_name(&s, text));
		json_put_text(j, "cat", "parks");
		json_key(j, "args");
		json_map(j);
		json_put_u64(j, "parks", s.parks);
		json_put_u64(j, "parked_ns", s.parked_ns);
		json_put_u64(j, "delayed_ns", s.delayed_ns);
		json_map_end(j);
		json_map_end(j);
	}
}

int export_chrome(const struct export *x)
{
	const struct columns *c = x->c;
	struct json *j = json_open(x->out, false);

	if (!j)
		return -ENOMEM;
	json_map(j);
	json_put_text(j, "displayTimeUnit", "ns");
	json_key(j, "traceEvents");
	json_list(j);
	chrome_names(j, c);
	for (uint32_t i = 0; i < c->polls.cnt; i++)
		if (export_has(x, c->polls.start_ns[i]))
			chrome_poll(j, x, i);
	for (uint32_t i = 0; i < c->parks.cnt; i++) {
		if (!export_has(x, c->parks.start_ns[i]))
			continue;
		chrome_head(j, "X", c->parks.lane[i], us_of(x, c->parks.start_ns[i]));
		json_key(j, "dur");
		json_f64(j, (double)c->parks.dur_ns[i] / 1e3);
		json_put_text(j, "name", "parked");
		json_put_text(j, "cat", "park");
		json_map_end(j);
	}
	chrome_summed(j, x);
	for (uint32_t i = 0; i < c->queues.cnt; i++) {
		if (!export_has(x, c->queues.ts_ns[i]))
			continue;
		chrome_head(j, "C", 0, us_of(x, c->queues.ts_ns[i]));
		put_text(j, "name", c, c->queues.runtime[i], "runtime");
		json_key(j, "args");
		json_map(j);
		json_put_u64(j, "queued", c->queues.depth[i]);
		json_map_end(j);
		json_map_end(j);
	}
	json_list_end(j);
	json_map_end(j);
	return json_close(j);
}

/* ---- speedscope ---- */

/* Its frames are our frames, innermost name each. */
static void speedscope_frames(struct json *j, const struct columns *c)
{
	uint32_t symbol;
	char addr[32];

	json_key(j, "shared");
	json_map(j);
	json_key(j, "frames");
	json_list(j);
	for (uint32_t i = 0; i < c->frames.cnt; i++) {
		snprintf(addr, sizeof(addr), "0x%llx", (unsigned long long)c->frames.addr[i]);
		json_map(j);
		if (columns_symbol(c, i, 0, &symbol)) {
			put_text(j, "name", c, c->symbols.name[symbol], addr);
			if (c->symbols.file[symbol])
				put_text(j, "file", c, c->symbols.file[symbol], "");
			if (c->symbols.line[symbol])
				json_put_u64(j, "line", c->symbols.line[symbol]);
		} else {
			json_put_text(j, "name", addr);
		}
		json_map_end(j);
	}
	json_list_end(j);
	json_map_end(j);
}

static void speedscope_stack(struct json *j, const struct columns *c, uint32_t stack)
{
	json_list(j);
	for (uint32_t k = c->stacks.frames_to[stack]; k > c->stacks.frames_from[stack]; k--)
		json_u64(j, c->stack_frames.frame[k - 1]);
	json_list_end(j);
}

/* One profile: stacks, and the weight of each. */
static void speedscope_profile(struct json *j, const struct export *x, bool is_off)
{
	const struct columns *c = x->c;
	uint32_t cnt = is_off ? c->offs.cnt : c->samples.cnt;
	uint64_t sum = 0;

	json_map(j);
	json_put_text(j, "type", "sampled");
	json_put_text(j, "name", is_off ? "off CPU in polls" : "CPU samples");
	json_put_text(j, "unit", is_off ? "nanoseconds" : "none");
	json_put_u64(j, "startValue", 0);
	for (int pass = 0; pass < 2; pass++) {
		json_key(j, pass ? "weights" : "samples");
		json_list(j);
		for (uint32_t i = 0; i < cnt; i++) {
			uint32_t stack = is_off ? c->offs.stack[i] : c->samples.stack[i];

			if (!export_has(x, is_off ? c->offs.start_ns[i] : c->samples.ts_ns[i]) ||
			    (is_off ? c->offs.poll[i] == COLUMNS_NONE : c->samples.source[i] != 0))
				continue;
			if (pass == 0) {
				speedscope_stack(j, c, stack);
				continue;
			}
			json_u64(j, is_off ? c->offs.dur_ns[i] : 1);
			sum += is_off ? c->offs.dur_ns[i] : 1;
		}
		json_list_end(j);
	}
	json_put_u64(j, "endValue", sum);
	json_map_end(j);
}

int export_speedscope(const struct export *x)
{
	struct json *j = json_open(x->out, false);

	if (!j)
		return -ENOMEM;
	json_map(j);
	json_put_text(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_put_text(j, "exporter", "dial9-view");
	json_put_text(j, "name", x->name);
	speedscope_frames(j, x->c);
	json_key(j, "profiles");
	json_list(j);
	speedscope_profile(j, x, false);
	speedscope_profile(j, x, true);
	json_list_end(j);
	json_map_end(j);
	return json_close(j);
}
