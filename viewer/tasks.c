// SPDX-License-Identifier: Apache-2.0
/*
 * tasks.c - one row for each task that did something, as text and JSON.
 *
 * A life runs from the spawn, or from the first event about a task whose spawn was not seen, to its
 * end or the recording's. Its parts: running (on CPU in polls), off CPU in polls, ready (waits), and
 * idle, the rest. Where a poll has no known length the rest is unknown, not idle.
 */
#include "tasks.h"

#include "command.h"
#include "jsonout.h"
#include "plain.h"
#include "report.h"
#include "study.h"
#include "tasktable.h"
#include "workertable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define TASKS_MAX (1u << 20) /* rows; tasks beyond are counted */

struct tasks_row {
	uint64_t task;
	uint64_t first_ns, end_ns; /* end_ns 0: alive at the end */
	uint64_t poll_ns, nested_ns, off_ns, ready_ns;
	uint64_t longest_poll_ns, longest_wait_ns;
	uint32_t polls, known, waits; /* polls begun; those of known length */
	uint32_t type;
	bool is_spawned;
	UT_hash_handle hh;
};

struct tasks {
	struct tasks_row *rows; /* hash by task, then sorted */
	uint64_t over_cap;
};

static struct tasks_row *tasks_row(struct study *s, uint64_t task, uint64_t ts_ns)
{
	struct tasks *own = s->own;
	struct tasks_row *row;

	HASH_FIND(hh, own->rows, &task, sizeof(task), row);
	if (row || !task)
		return row;
	if (HASH_COUNT(own->rows) >= TASKS_MAX) {
		own->over_cap++;
		return NULL;
	}
	row = calloc(1, sizeof(*row));
	if (!row) {
		s->err = -ENOMEM;
		return NULL;
	}
	row->task = task;
	row->first_ns = ts_ns;
	row->type = TASK_TYPE_NONE;
	HASH_ADD(hh, own->rows, task, sizeof(row->task), row);
	return row;
}

/* Births and ends; which task a moment without a filter by task is about is not asked here. */
static void tasks_moment(struct study *s, const struct moment *m)
{
	struct tasks_row *row;

	if (m->kind != MOMENT_SPAWN && m->kind != MOMENT_ALIVE && m->kind != MOMENT_END)
		return;
	if (!filter_task(&s->filter, m->task))
		return;
	row = tasks_row(s, m->task, m->ts_ns);
	if (!row)
		return;
	if (m->kind == MOMENT_END) {
		row->end_ns = m->ts_ns;
		return;
	}
	row->is_spawned |= m->kind == MOMENT_SPAWN;
	row->type = typetable_find(s->report->account.types, m->label);
}

static void tasks_poll(struct study *s, uint32_t worker, const struct worker_poll *p,
		       uint64_t end_ns)
{
	struct tasks_row *row = tasks_row(s, p->task, p->start_ns);
	uint64_t ns = end_ns - p->start_ns;

	(void)worker;
	if (!row)
		return;
	row->type = p->type;
	row->known++;
	row->polls = p->nr > row->polls ? p->nr : row->polls;
	row->poll_ns += ns;
	row->nested_ns += p->nested_ns < ns ? p->nested_ns : ns;
	row->off_ns += p->off_ns < ns ? p->off_ns : ns;
	if (ns > row->longest_poll_ns)
		row->longest_poll_ns = ns;
}

static void tasks_wait(struct study *s, const struct watch_wait *w,
		       const struct behind_parts *parts)
{
	struct tasks_row *row = tasks_row(s, w->task, w->from_ns);
	uint64_t ns = w->to_ns - w->from_ns;

	(void)parts;
	if (!row)
		return;
	row->waits++;
	row->ready_ns += ns;
	if (ns > row->longest_wait_ns)
		row->longest_wait_ns = ns;
}

static int tasks_compare(const struct tasks_row *a, const struct tasks_row *b)
{
	int order = (a->poll_ns < b->poll_ns) - (a->poll_ns > b->poll_ns);

	if (order == 0)
		order = (a->ready_ns < b->ready_ns) - (a->ready_ns > b->ready_ns);
	return order ? order : (a->task > b->task) - (a->task < b->task);
}

/* Rows that the filter by type or worker left without anything go. */
static int tasks_finish(struct study *s)
{
	const bool has_choice = s->req->type || s->req->has_worker || s->req->runtime;
	struct tasks *own = s->own;
	struct tasks_row *row, *next;

	HASH_ITER(hh, own->rows, row, next) {
		if (!has_choice || row->known || row->waits)
			continue;
		HASH_DEL(own->rows, row);
		free(row);
	}
	HASH_SORT(own->rows, tasks_compare);
	return 0;
}

struct tasks_split {
	uint64_t life_ns, running_ns, off_ns, ready_ns, rest_ns;
	bool is_idle; /* the rest is */
};

static struct tasks_split tasks_split(const struct study *s, const struct tasks_row *row)
{
	uint64_t end_ns = row->end_ns ? row->end_ns : s->report->coverage.last_ns, used_ns;
	struct tasks_split ret = { .off_ns = row->off_ns, .ready_ns = row->ready_ns };

	if (!row->end_ns && end_ns > s->filter.to_ns)
		end_ns = s->filter.to_ns;
	ret.running_ns = row->poll_ns > row->off_ns ? row->poll_ns - row->off_ns : 0;
	used_ns = row->poll_ns + row->ready_ns;
	ret.life_ns = end_ns > row->first_ns ? end_ns - row->first_ns : 0;
	if (ret.life_ns < used_ns) /* its end is stamped by another thread, a little earlier */
		ret.life_ns = used_ns;
	ret.rest_ns = ret.life_ns - used_ns;
	ret.is_idle = row->known == row->polls && s->report->has_waits;
	return ret;
}

static void tasks_text(FILE *out, struct study *s)
{
	const struct tasks *own = s->own;
	uint64_t left = study_rows(s, HASH_COUNT(own->rows));
	char handle[STUDY_HANDLE_SZ];

	fprintf(out, "\nTASKS: %u%s\n", HASH_COUNT(own->rows),
		s->report->has_polls ? "" : "; what they did is unknown, no polls recorded");
	fprintf(out, "  %-10s %8s %8s %8s %8s %8s %8s %7s %8s %8s  %s\n", "task", "life", "running",
		"off CPU", "ready", "idle", "unknown", "polls", "longest", "waited", "type");
	for (const struct tasks_row *row = own->rows; row && left; row = row->hh.next, left--) {
		struct tasks_split p = tasks_split(s, row);

		snprintf(handle, sizeof(handle), "t:%" PRIu64, row->task);
		fprintf(out, "  %-10s", handle);
		study_duration(out, 8, true, p.life_ns);
		study_duration(out, 8, s->report->has_polls, p.running_ns);
		study_duration(out, 8, s->report->has_off, p.off_ns);
		study_duration(out, 8, s->report->has_waits, p.ready_ns);
		study_duration(out, 8, p.is_idle, p.rest_ns);
		study_duration(out, 8, true, p.is_idle ? 0 : p.rest_ns);
		fprintf(out, " %7" PRIu32, row->polls);
		study_duration(out, 8, row->known > 0, row->longest_poll_ns);
		study_duration(out, 8, row->waits > 0, row->longest_wait_ns);
		fputs("  ", out);
		study_type(out, s, row->type, 60);
		fputc('\n', out);
	}
	study_more(out, s, HASH_COUNT(own->rows));
	if (own->over_cap)
		fprintf(out, "  %" PRIu64 " events of tasks beyond the cap of %u\n", own->over_cap,
			TASKS_MAX);
}

static void tasks_json_known(struct json *j, const char *key, bool is_known, uint64_t value)
{
	if (is_known)
		json_put_u64(j, key, value);
	else
		json_put_null(j, key);
}

static void tasks_json(struct json *j, struct study *s)
{
	const struct tasks *own = s->own;
	uint64_t left = study_rows(s, HASH_COUNT(own->rows));
	char handle[STUDY_HANDLE_SZ];

	json_put_u64(j, "known", HASH_COUNT(own->rows));
	json_put_u64(j, "events_over_cap", own->over_cap);
	json_key(j, "tasks");
	json_list(j);
	for (const struct tasks_row *row = own->rows; row && left; row = row->hh.next, left--) {
		struct tasks_split p = tasks_split(s, row);

		snprintf(handle, sizeof(handle), "t:%" PRIu64, row->task);
		json_map(j);
		json_put_text(j, "task", handle);
		study_json_type(j, s, "type", row->type);
		json_key(j, "spawn_seen");
		json_bool(j, row->is_spawned);
		json_put_u64(j, "first_ns", row->first_ns);
		tasks_json_known(j, "end_ns", row->end_ns > 0, row->end_ns);
		json_put_u64(j, "life_ns", p.life_ns);
		tasks_json_known(j, "running_ns", s->report->has_polls, p.running_ns);
		tasks_json_known(j, "off_cpu_ns", s->report->has_off, p.off_ns);
		tasks_json_known(j, "ready_ns", s->report->has_waits, p.ready_ns);
		tasks_json_known(j, "idle_ns", p.is_idle, p.rest_ns);
		json_put_u64(j, "unknown_ns", p.is_idle ? 0 : p.rest_ns);
		json_put_u64(j, "nested_ns", row->nested_ns);
		json_put_u64(j, "polls", row->polls);
		json_put_u64(j, "polls_of_known_length", row->known);
		tasks_json_known(j, "longest_poll_ns", row->known > 0, row->longest_poll_ns);
		tasks_json_known(j, "longest_wait_ns", row->waits > 0, row->longest_wait_ns);
		json_map_end(j);
	}
	json_list_end(j);
}

static void tasks_done(struct study *s)
{
	struct tasks *own = s->own;
	struct tasks_row *row, *next;

	HASH_ITER(hh, own->rows, row, next) {
		HASH_DEL(own->rows, row);
		free(row);
	}
}

int tasks_run(const struct request *req, const struct traceset *set)
{
	static const struct study_ops ops = {
		.schema = "dial9-view.tasks/1",
		.own_sz = sizeof(struct tasks),
		.poll = tasks_poll,
		.wait = tasks_wait,
		.moment = tasks_moment,
		.finish = tasks_finish,
		.text = tasks_text,
		.json = tasks_json,
		.done = tasks_done,
	};

	return study_run(req, set, &ops);
}
