// SPDX-License-Identifier: Apache-2.0
/* exportfirefox.c - a Firefox profile: what it is of, its counters, its threads. */
#include "firefox.h"

#include "core/columns.h"
#include "export.h"
#include "jsonout.h"

#include <errno.h>
#include <stdlib.h>

#define FIREFOX_VERSION 60
#define FIREFOX_GECKO_VERSION 31 /* of a format that we do not use; readers want a number */
#define FIREFOX_INTERVAL_MS 1.0 /* where the recording does not say */

static bool firefox_is_used(const struct columns *c, uint32_t lane)
{
	return c->lanes.polls_from[lane] < c->lanes.polls_to[lane] ||
	       c->lanes.parks_from[lane] < c->lanes.parks_to[lane] ||
	       c->lanes.samples_from[lane] < c->lanes.samples_to[lane] ||
	       c->lanes.offs_from[lane] < c->lanes.offs_to[lane];
}

/* ---- counters: the depth of each injection queue, as the steps between its samples ---- */

static void firefox_counter(struct firefox *f, uint32_t runtime, const char *pid, size_t pid_len)
{
	const struct columns *c = f->c;
	struct json *j = f->j;
	const char *name;
	uint64_t cnt = 0;
	size_t len;

	name = columns_text(c, runtime, &len);
	json_map(j);
	json_put_bytes(j, "name", len ? name : "queue", len ? len : 5);
	json_put_text(j, "category", "Tokio");
	json_put_text(j, "description", "tasks in the injection queue");
	json_put_bytes(j, "pid", pid, pid_len);
	json_put_u64(j, "mainThreadIndex", 0);
	json_key(j, "samples");
	json_map(j);
	for (int pass = 0; pass < 2; pass++) {
		int64_t before = 0;

		firefox_column(f, pass ? "count" : "time");
		for (uint32_t i = 0; i < c->queues.cnt; i++) {
			if (c->queues.runtime[i] != runtime ||
			    !export_has(f->x, c->queues.ts_ns[i]))
				continue;
			if (pass)
				json_i64(j, (int64_t)c->queues.depth[i] - before);
			else
				json_f64(j, firefox_ms(f, c->queues.ts_ns[i]));
			before = c->queues.depth[i];
			cnt += (uint64_t)pass;
		}
		json_list_end(j);
	}
	json_put_u64(j, "length", cnt);
	json_map_end(j);
	json_key(j, "display"); /* newer readers take it as it is, older ones do not look at it */
	json_map(j);
	json_put_text(j, "graphType", "line-accumulated");
	json_put_text(j, "unit", "");
	json_put_text(j, "color", "orange");
	json_put_null(j, "markerSchemaLocation");
	json_put_u64(j, "sortWeight", 50);
	json_put_bytes(j, "label", len ? name : "queue", len ? len : 5);
	firefox_column(f, "tooltipRows");
	json_map(j);
	json_put_text(j, "type", "value");
	json_put_text(j, "source", "accumulated");
	json_key(j, "format");
	json_map(j);
	json_put_text(j, "unit", "number");
	json_map_end(j);
	json_put_text(j, "label", "tasks queued");
	json_map_end(j);
	json_list_end(j);
	json_map_end(j);
	json_map_end(j);
}

static int firefox_counters(struct firefox *f, const char *pid, size_t pid_len)
{
	uint8_t *seen = calloc(f->c->texts.cnt, 1);

	if (!seen)
		return -ENOMEM;
	firefox_column(f, "counters");
	for (uint32_t i = 0; i < f->c->queues.cnt; i++) {
		if (!seen[f->c->queues.runtime[i]])
			firefox_counter(f, f->c->queues.runtime[i], pid, pid_len);
		seen[f->c->queues.runtime[i]] = 1;
	}
	json_list_end(f->j);
	free(seen);
	return 0;
}

/* ---- meta ---- */

struct firefox_field {
	const char *key, *label, *format;
};

static void firefox_schema(struct firefox *f, const char *name, const char *label,
			   const struct firefox_field *fields)
{
	struct json *j = f->j;

	json_map(j);
	json_put_text(j, "name", name);
	json_put_text(j, "tableLabel", label);
	json_put_text(j, "chartLabel", "{marker.name}");
	firefox_column(f, "display");
	json_text(j, "marker-chart");
	json_text(j, "marker-table");
	json_text(j, "timeline-overview");
	json_list_end(j);
	firefox_column(f, "fields");
	for (; fields->key; fields++) {
		json_map(j);
		json_put_text(j, "key", fields->key);
		json_put_text(j, "label", fields->label);
		json_put_text(j, "format", fields->format);
		json_map_end(j);
	}
	json_list_end(j);
	json_map_end(j);
}

static double firefox_interval(const struct firefox *f)
{
	size_t len;
	const char *p = columns_text(f->c, columns_fact(f->c, "cpu.profile.frequency_hz"), &len);
	uint64_t hz = 0;

	for (size_t i = 0; i < len && p[i] >= '0' && p[i] <= '9' && hz < 1000000; i++)
		hz = hz * 10 + (uint64_t)(p[i] - '0');
	return hz ? 1e3 / (double)hz : FIREFOX_INTERVAL_MS;
}

static void firefox_meta(struct firefox *f)
{
	static const struct firefox_field poll[] = { { "task", "Task", "string" },
						     { "wait", "Wait before it", "duration" },
						     { "off", "Without CPU", "duration" },
						     { "end", "End", "string" },
						     { NULL, NULL, NULL } };
	static const struct firefox_field park[] = { { "delay", "Kernel delay", "duration" },
						     { NULL, NULL, NULL } };
	static const struct firefox_field off[] = { { "reason", "Reason", "string" },
						    { "syscall", "System call", "string" },
						    { NULL, NULL, NULL } };
	uint64_t first_ns = f->c->odd.first_ns, real_ns = 0;
	struct json *j = f->j;

	json_key(j, "meta");
	json_map(j);
	json_key(j, "interval");
	json_f64(j, firefox_interval(f));
	columns_realtime(f->c, first_ns, &real_ns);
	json_key(j, "startTime");
	json_f64(j, (double)real_ns / 1e6);
	json_put_u64(j, "startTimeAsClockMonotonicNanosecondsSinceBoot", first_ns);
	json_put_u64(j, "profilingStartTime", 0);
	json_key(j, "profilingEndTime");
	json_f64(j, firefox_ms(f, f->c->odd.last_ns));
	json_put_u64(j, "processType", 0);
	firefox_column(f, "categories");
	json_map(j);
	json_put_text(j, "name", "Other");
	json_put_text(j, "color", "grey");
	firefox_column(f, "subcategories");
	json_text(j, "Other");
	json_list_end(j);
	json_map_end(j);
	json_list_end(j);
	json_put_text(j, "product", f->x->name);
	json_put_u64(j, "stackwalk", 1);
	json_put_u64(j, "version", FIREFOX_GECKO_VERSION);
	json_put_u64(j, "preprocessedProfileVersion", FIREFOX_VERSION);
	json_key(j, "symbolicated");
	json_bool(j, true);
	json_put_text(j, "platform", "Linux");
	json_put_text(j, "importedFrom", "dial9-view");
	json_key(j, "usesOnlyOneStackType");
	json_bool(j, true);
	json_key(j, "sourceCodeIsNotOnSearchfox");
	json_bool(j, true);
	json_key(j, "keepProfileThreadOrder");
	json_bool(j, true);
	firefox_column(f, "markerSchema");
	firefox_schema(f, "poll", "task {marker.data.task}", poll);
	firefox_schema(f, "park", "kernel delay {marker.data.delay}", park);
	firefox_schema(f, "off", "{marker.data.reason} {marker.data.syscall}", off);
	json_list_end(j);
	json_map_end(j);
}

static int firefox_write(struct firefox *f)
{
	const struct columns *c = f->c;
	size_t pid_len;
	const char *pid = columns_text(c, columns_fact(c, "process.pid"), &pid_len);
	int err;

	if (pid_len == 0) {
		pid = "0";
		pid_len = 1;
	}
	json_map(f->j);
	firefox_meta(f);
	firefox_same(f, "libs", 0, true, 0);
	err = firefox_counters(f, pid, pid_len);
	firefox_shared(f);
	firefox_column(f, "threads");
	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++)
		if (firefox_is_used(c, lane))
			firefox_thread(f, lane, pid, pid_len);
	json_list_end(f->j);
	json_map_end(f->j);
	return err;
}

int export_firefox(const struct export *x)
{
	struct firefox f = { .x = x, .c = x->c };
	int err = firefox_make(&f), got;

	if (err == 0) {
		f.j = json_open(x->out, false);
		err = f.j ? firefox_write(&f) : -ENOMEM;
		got = json_close(f.j);
		err = err ? err : got;
	}
	firefox_done(&f);
	return err;
}
