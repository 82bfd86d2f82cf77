// SPDX-License-Identifier: Apache-2.0
/* apibusy.c - what may have been long polls where polls were not recorded (busyruns.h), in columns. */
#include "api.h"

#include "apicall.h"
#include "apistack.h"
#include "busyruns.h"
#include "jsonout.h"

#include <stdlib.h>

#define API_RUNS_MAX 200u /* the longest; all are counted */

struct api_run {
	struct busyrun run; /* task: its row + 1 */
	uint32_t lane;
};

struct api_runs {
	uint64_t from_ns, to_ns; /* those that overlap this */
	uint64_t least_ns, cnt;
	uint32_t kept, limit;
	struct api_run runs[API_RUNS_MAX]; /* longest first */
};

struct api_run_type { /* polls of a type that were recorded at some other time */
	uint64_t polls, longest_ns;
};

static uint64_t api_run_ns(const struct busyrun *run)
{
	return run->last_ns - run->first_ns;
}

static void api_run_end(struct api_runs *r, struct api_run *open)
{
	const struct busyrun run = open->run;
	uint32_t at;

	open->run = (struct busyrun){ 0 };
	if (!run.task || api_run_ns(&run) < r->least_ns || run.first_ns >= r->to_ns ||
	    run.last_ns < r->from_ns)
		return;
	r->cnt++;
	for (at = r->kept; at && api_run_ns(&r->runs[at - 1].run) < api_run_ns(&run);)
		at--;
	if (at == r->limit)
		return;
	if (r->kept < r->limit)
		r->kept++;
	for (uint32_t i = r->kept - 1; i > at; i--)
		r->runs[i] = r->runs[i - 1];
	r->runs[at] = (struct api_run){ run, open->lane };
}

/* As account.c has it: a park, another task or a sample of none ends a run; samples of recorded polls
 * are no part of any. */
static void api_runs_lane(struct api_runs *r, const struct columns *c, uint32_t lane)
{
	struct api_run open = { .lane = lane };
	uint32_t park = c->lanes.parks_from[lane];

	for (uint32_t i = c->lanes.samples_from[lane]; i < c->lanes.samples_to[lane]; i++) {
		uint64_t ts_ns = c->samples.ts_ns[i];
		uint64_t task = c->samples.task[i] == COLUMNS_NONE ? 0 : c->samples.task[i] + 1ull;

		if (c->samples.source[i] != 0 || c->samples.poll[i] != COLUMNS_NONE)
			continue;
		for (; park < c->lanes.parks_to[lane] && c->parks.start_ns[park] <= ts_ns; park++)
			if (c->parks.start_ns[park] > open.run.last_ns)
				api_run_end(r, &open);
		if (task != open.run.task || ts_ns < open.run.last_ns)
			api_run_end(r, &open);
		if (!task)
			continue;
		if (!open.run.task)
			open.run = (struct busyrun){ .task = task, .first_ns = ts_ns };
		open.run.last_ns = ts_ns;
		open.run.samples++;
	}
	api_run_end(r, &open);
}

/* By place; NULL: out of memory. */
static struct api_run_type *api_run_types(const struct columns *c)
{
	struct api_run_type *types = calloc(c->texts.cnt + 1, sizeof(*types));

	for (uint32_t i = 0; types && i < c->tasks.cnt; i++) {
		struct api_run_type *t = &types[c->tasks.place[i]];

		t->polls += c->tasks.worst_ns[i] ? c->tasks.polls_to[i] - c->tasks.polls_from[i] : 0;
		if (c->tasks.worst_ns[i] > t->longest_ns)
			t->longest_ns = c->tasks.worst_ns[i];
	}
	return types;
}

static void api_run_put(struct api_call *call, const struct api_run *run,
			const struct api_run_type *types)
{
	const struct columns *c = call->c;
	uint32_t task = (uint32_t)(run->run.task - 1), place = c->tasks.place[task];
	const struct api_run_type *t = &types[place];
	struct json *j = call->j;
	char id[24];

	snprintf(id, sizeof(id), "%llu", (unsigned long long)c->tasks.id[task]);
	json_map(j);
	api_rel(j, "start", call, run->run.first_ns);
	json_put_u64(j, "dur", api_run_ns(&run->run));
	json_put_u64(j, "lane", run->lane);
	json_put_text(j, "task", id);
	api_text(j, "place", c, place);
	json_put_u64(j, "samples", run->run.samples);
	json_put_text(j, "polls",
		      place ? busyruns_verdict(&run->run, t->polls, t->longest_ns) : "unknown");
	json_map_end(j);
}

/* limit=N: the longest of the workers' runs that overlap from to. */
void api_busy(struct api_call *call)
{
	const struct columns *c = call->c;
	struct api_runs *r = calloc(1, sizeof(*r));
	struct api_run_type *types = r ? api_run_types(c) : NULL;
	uint64_t limit = API_RUNS_MAX;
	struct json *j;

	if (!types) {
		api_bytes(call, NULL, 0);
		goto out;
	}
	if (!api_span(call, &r->from_ns, &r->to_ns) ||
	    !api_number(call, "limit", 1, API_RUNS_MAX, &limit))
		goto out;
	r->limit = (uint32_t)limit;
	r->least_ns = busyruns_from_ns(api_sample_ns(c));
	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++)
		if (c->lanes.kind[lane] == COLUMNS_WORKER)
			api_runs_lane(r, c, lane);
	j = api_begin(call);
	if (!j)
		goto out;
	json_put_u64(j, "least", r->least_ns);
	json_put_u64(j, "count", r->cnt);
	json_key(j, "runs");
	json_list(j);
	for (uint32_t i = 0; i < r->kept; i++)
		api_run_put(call, &r->runs[i], types);
	json_list_end(j);
	api_end(call);
out:
	free(types);
	free(r);
}
