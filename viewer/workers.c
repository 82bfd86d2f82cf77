// SPDX-License-Identifier: Apache-2.0
/*
 * workers.c - one row for each worker, as text and JSON.
 *
 * The parts of workertable.h, with the busy part cut once more into on and off CPU; they sum to the
 * time looked at, except that a filter by task or type leaves whole workers as they are.
 */
#include "workers.h"

#include "command.h"
#include "jsonout.h"
#include "labels.h"
#include "plain.h"
#include "report.h"
#include "study.h"
#include "workertable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct workers_row {
	uint64_t ns[WATCH_STATES], off_ns;
	uint64_t polls, longest_ns;
};

struct workers {
	struct workers_row *rows; /* MOMENT_WORKERS_MAX, made at the first slice */
};

static struct workers_row *workers_row(struct study *s, uint32_t worker)
{
	struct workers *own = s->own;

	if (!own->rows)
		own->rows = calloc(MOMENT_WORKERS_MAX, sizeof(*own->rows));
	if (!own->rows) {
		s->err = -ENOMEM;
		return NULL;
	}
	return &own->rows[worker];
}

static void workers_slice(struct study *s, const struct watch_slice *slice)
{
	struct workers_row *row = workers_row(s, slice->worker);

	if (row)
		row->ns[slice->state] += slice->to_ns - slice->from_ns;
}

static void workers_poll(struct study *s, uint32_t worker, const struct worker_poll *p,
			 uint64_t end_ns)
{
	struct workers_row *row = workers_row(s, worker);
	uint64_t ns = end_ns - p->start_ns;

	if (!row)
		return;
	row->polls++;
	row->off_ns += p->off_ns < ns ? p->off_ns : ns;
	if (ns > row->longest_ns)
		row->longest_ns = ns;
}

static bool workers_is_shown(const struct study *s, uint32_t id)
{
	return filter_worker(&s->filter, id);
}

/* What no slice tells of the time looked at is unknown: before a worker's first event, behind its
 * last. */
static struct workers_row workers_whole(const struct study *s, uint32_t id)
{
	const struct workers *own = s->own;
	const struct coverage *c = &s->report->coverage;
	uint64_t from_ns = c->first_ns, to_ns = c->last_ns, sum_ns = 0;
	struct workers_row ret = own->rows ? own->rows[id] : (struct workers_row){ 0 };

	if (s->filter.from_ns > from_ns)
		from_ns = s->filter.from_ns;
	if (s->filter.to_ns < to_ns)
		to_ns = s->filter.to_ns;
	for (int i = 0; i < WATCH_STATES; i++)
		sum_ns += ret.ns[i];
	if (to_ns > from_ns && to_ns - from_ns > sum_ns)
		ret.ns[WATCH_UNKNOWN] += to_ns - from_ns - sum_ns;
	if (ret.off_ns > ret.ns[WATCH_BUSY])
		ret.off_ns = ret.ns[WATCH_BUSY];
	return ret;
}

static void workers_text(FILE *out, struct study *s)
{
	const struct report *r = s->report;
	char text[PLAIN_SZ], name[128];
	const char *runtime;
	size_t len;

	fprintf(out, "\nWORKERS\n  %-5s %8s %8s %8s %8s %8s %8s %8s %9s %8s  %s\n", "", "running",
		"off CPU", "delayed", "between", "parked", "unknown", "sum", "polls", "longest",
		"runtime");
	for (uint32_t i = 0; i < r->workers_cnt; i++) {
		const struct worker *w = workertable_get(r->account.workers, r->workers[i]);
		struct workers_row row;
		uint64_t sum_ns = 0;

		if (!workers_is_shown(s, r->workers[i]))
			continue;
		row = workers_whole(s, r->workers[i]);
		for (int k = 0; k < WATCH_STATES; k++)
			sum_ns += row.ns[k];
		snprintf(text, sizeof(text), "w%" PRIu32, r->workers[i]);
		fprintf(out, "  %-5s", text);
		study_duration(out, 8, r->has_polls, row.ns[WATCH_BUSY] - row.off_ns);
		study_duration(out, 8, r->has_off, row.off_ns);
		study_duration(out, 8, w->delays_known > 0, row.ns[WATCH_DELAYED]);
		study_duration(out, 8, true, row.ns[WATCH_BETWEEN]);
		study_duration(out, 8, true, row.ns[WATCH_PARKED]);
		study_duration(out, 8, true, row.ns[WATCH_UNKNOWN]);
		study_duration(out, 8, true, sum_ns);
		fprintf(out, " %9" PRIu64, row.polls);
		study_duration(out, 8, row.polls > 0, row.longest_ns);
		runtime = labels_text(r->labels, w->runtime, &len);
		plain_cut(name, sizeof(name), runtime, len, 30);
		fprintf(out, "  %s\n", name);
	}
}

static void workers_json(struct json *j, struct study *s)
{
	static const char *const keys[WATCH_STATES] = { "unknown_ns", "busy_ns", "parked_ns",
							"delayed_ns", "between_ns" };
	const struct report *r = s->report;
	const char *runtime;
	size_t len;

	json_key(j, "workers");
	json_list(j);
	for (uint32_t i = 0; i < r->workers_cnt; i++) {
		const struct worker *w = workertable_get(r->account.workers, r->workers[i]);
		struct workers_row row;

		if (!workers_is_shown(s, r->workers[i]))
			continue;
		row = workers_whole(s, r->workers[i]);
		runtime = labels_text(r->labels, w->runtime, &len);
		json_map(j);
		json_put_u64(j, "worker", r->workers[i]);
		json_put_bytes(j, "runtime", runtime, len);
		for (int k = 0; k < WATCH_STATES; k++)
			json_put_u64(j, keys[k], row.ns[k]);
		if (r->has_off)
			json_put_u64(j, "busy_off_cpu_ns", row.off_ns);
		else
			json_put_null(j, "busy_off_cpu_ns");
		json_put_u64(j, "polls", row.polls);
		json_put_u64(j, "longest_poll_ns", row.longest_ns);
		json_map_end(j);
	}
	json_list_end(j);
}

static void workers_done(struct study *s)
{
	struct workers *own = s->own;

	free(own->rows);
}

int workers_run(const struct request *req, const struct traceset *set)
{
	static const struct study_ops ops = {
		.schema = "dial9-view.workers/1",
		.own_sz = sizeof(struct workers),
		.slice = workers_slice,
		.poll = workers_poll,
		.text = workers_text,
		.json = workers_json,
		.done = workers_done,
	};

	return study_run(req, set, &ops);
}
