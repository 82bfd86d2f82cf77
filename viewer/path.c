// SPDX-License-Identifier: Apache-2.0
/* path.c - one path with its steps, or all of them by type. */
#include "path.h"

#include "command.h"
#include "core/columns.h"
#include "critpath.h"
#include "inquiry.h"
#include "jsonout.h"
#include "placetable.h"
#include "plain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

struct path_type {
	uint32_t place; /* text */
	uint64_t running_ns, ready_ns, steps;
};

struct path_root {
	uint64_t cnt, ns; /* paths that end so, and their lengths */
};

struct path {
	const struct columns *c;
	struct placetable types;
	struct path_root roots[CRITPATH_ROOTS];
	uint64_t paths, ns, steps, left_out;
	struct critpath_step *at; /* of a single path */
	uint32_t cnt, cap;
	uint32_t poll; /* that the single path leads to; COLUMNS_NONE: all of them */
	bool is_single;
	int err;
};

static void path_step(void *ctx, const struct critpath_step *s)
{
	struct path *own = ctx;
	struct path_type *t = placetable_row(&own->types, own->c->polls.place[s->poll]);
	struct critpath_step *grown;

	if (!t) {
		own->err = -ENOMEM;
		return;
	}
	own->steps++;
	t->steps++;
	t->running_ns += s->to_ns - s->start_ns;
	t->ready_ns += s->start_ns - s->ready_ns;
	if (!own->is_single)
		return;
	if (own->cnt == own->cap) {
		grown = realloc(own->at, (own->cap ? 2 * own->cap : 64) * sizeof(*grown));
		if (!grown) {
			own->err = -ENOMEM;
			return;
		}
		own->at = grown;
		own->cap = own->cap ? 2 * own->cap : 64;
	}
	own->at[own->cnt++] = *s;
}

static void path_add(struct path *own, uint32_t poll)
{
	enum critpath_root root;
	uint64_t from_ns = 0, to_ns = own->c->polls.start_ns[poll] + own->c->polls.dur_ns[poll];

	root = critpath_walk(own->c, poll, path_step, own, &from_ns);
	own->paths++;
	own->ns += to_ns - from_ns;
	own->roots[root].cnt++;
	own->roots[root].ns += to_ns - from_ns;
}

static uint32_t path_last(const struct columns *c, uint32_t task)
{
	return c->tasks.polls_to[task] > c->tasks.polls_from[task]
		       ? c->task_polls.poll[c->tasks.polls_to[task] - 1]
		       : COLUMNS_NONE;
}

static int path_compare(const void *left, const void *right)
{
	const struct path_type *a = left, *b = right;
	uint64_t a_ns = a->running_ns + a->ready_ns, b_ns = b->running_ns + b->ready_ns;
	int order = (a_ns < b_ns) - (a_ns > b_ns);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int path_work(struct inquiry *q)
{
	struct path *own = q->own;
	const struct columns *c = q->c;

	own->c = c;
	own->types.row_sz = sizeof(struct path_type);
	own->is_single = q->req->has_task;
	own->poll = COLUMNS_NONE;
	if (q->req->explain_nr)
		own->poll = inquiry_poll(c, q->req->task, q->req->explain_nr);
	else if (q->req->has_task && q->scope.task != COLUMNS_NONE)
		own->poll = path_last(c, q->scope.task);
	if (own->poll != COLUMNS_NONE)
		path_add(own, own->poll);
	for (uint32_t i = 0; !own->is_single && own->err == 0 && i < c->tasks.cnt; i++) {
		if (c->tasks.end_ns[i] == 0 || !scope_task(&q->scope, i) ||
		    !scope_time(&q->scope, c->tasks.end_ns[i]) || path_last(c, i) == COLUMNS_NONE)
			continue;
		if (own->steps < PATH_STEPS_MAX)
			path_add(own, path_last(c, i));
		else
			own->left_out++;
	}
	if (own->types.cnt)
		qsort(own->types.rows, own->types.cnt, sizeof(struct path_type), path_compare);
	return own->err;
}

static void path_text_single(FILE *out, const struct inquiry *q)
{
	const struct path *own = q->own;
	char handle[INQUIRY_HANDLE_SZ], worker[32];

	fprintf(out, "\nSTEPS, latest first\n  %-16s %5s %13s %8s %8s  %s\n", "poll", "on",
		"ran at", "for", "ready", "type");
	for (uint32_t i = 0; i < inquiry_rows(q, own->cnt); i++) {
		const struct critpath_step *s = &own->at[i];
		uint32_t lane = q->c->polls.lane[s->poll];

		snprintf(worker, sizeof(worker), "%s%" PRIu32,
			 q->c->lanes.kind[lane] == COLUMNS_WORKER ? "w" : "tid ",
			 q->c->lanes.id[lane]);
		fprintf(out, "  %-16s %5s ", inquiry_handle(handle, q->c, s->poll), worker);
		inquiry_when(out, q, s->start_ns);
		inquiry_duration(out, 8, true, s->to_ns - s->start_ns);
		inquiry_duration(out, 8, true, s->start_ns - s->ready_ns);
		fputs("  ", out);
		inquiry_type(out, q, q->c->polls.place[s->poll]);
		fputc('\n', out);
	}
	inquiry_more(out, q, own->cnt);
}

static void path_text(FILE *out, const struct inquiry *q)
{
	const struct path *own = q->own;
	const struct path_type *types = own->types.rows;
	char text[PLAIN_SZ];

	if (!q->recorded.wakes || !q->recorded.polls) {
		fputs("\nPATH: unknown, this recording holds no wakes or no polls\n", out);
		return;
	}
	if (own->paths == 0) {
		fputs(own->is_single	     ? "\nPATH: no such poll was recorded\n"
		      : q->recorded.tasks ? "\nPATHS: none, no task ended\n"
					     : "\nPATHS: unknown, no ends of tasks were recorded; "
					       "--task and --explain ask for one path\n",
		      out);
		return;
	}
	fprintf(out, "\nPATH%s: %" PRIu64 ", %s in all, %" PRIu64 " steps\n",
		own->is_single ? "" : "S to the ends of tasks", own->paths,
		plain_duration(text, own->ns), own->steps);
	for (int i = 0; i < CRITPATH_ROOTS; i++)
		if (own->roots[i].cnt)
			fprintf(out, "  began by %-32s %8" PRIu64 "  %s\n", critpath_root_name(i),
				own->roots[i].cnt, plain_share(text, own->roots[i].ns, own->ns));
	if (own->left_out)
		fprintf(out, "  %" PRIu64 " paths left out: beyond the cap of steps\n",
			own->left_out);
	fprintf(out, "\n  %8s %8s %8s %9s  %s\n", "running", "ready", "share", "steps", "type");
	for (uint32_t i = 0; i < inquiry_rows(q, own->types.cnt); i++) {
		const struct path_type *t = &types[i];

		fputc(' ', out);
		inquiry_duration(out, 8, true, t->running_ns);
		inquiry_duration(out, 8, true, t->ready_ns);
		fprintf(out, " %8s %9" PRIu64 "  ",
			plain_share(text, t->running_ns + t->ready_ns, own->ns), t->steps);
		inquiry_type(out, q, t->place);
		fputc('\n', out);
	}
	inquiry_more(out, q, own->types.cnt);
	if (own->is_single)
		path_text_single(out, q);
}

static void path_json_steps(struct json *j, const struct inquiry *q)
{
	const struct path *own = q->own;
	char handle[INQUIRY_HANDLE_SZ];

	json_key(j, "path");
	json_list(j);
	for (uint32_t i = 0; i < inquiry_rows(q, own->cnt); i++) {
		const struct critpath_step *s = &own->at[i];

		json_map(j);
		json_put_text(j, "poll", inquiry_handle(handle, q->c, s->poll));
		inquiry_json_type(j, q, "type", q->c->polls.place[s->poll]);
		json_put_u64(j, "start_ns", s->start_ns);
		json_put_u64(j, "running_ns", s->to_ns - s->start_ns);
		json_put_u64(j, "ready_ns", s->start_ns - s->ready_ns);
		json_map_end(j);
	}
	json_list_end(j);
}

static void path_json(struct json *j, const struct inquiry *q)
{
	const struct path *own = q->own;
	const struct path_type *types = own->types.rows;
	static const char *const keys[CRITPATH_ROOTS] = { "outside", "spawn", "unknown", "cut" };

	json_put_u64(j, "paths", own->paths);
	json_put_u64(j, "total_ns", own->ns);
	json_put_u64(j, "steps", own->steps);
	json_put_u64(j, "paths_left_out", own->left_out);
	json_key(j, "began_by");
	json_map(j);
	for (int i = 0; i < CRITPATH_ROOTS; i++) {
		json_key(j, keys[i]);
		json_map(j);
		json_put_u64(j, "paths", own->roots[i].cnt);
		json_put_u64(j, "total_ns", own->roots[i].ns);
		json_map_end(j);
	}
	json_map_end(j);
	json_key(j, "types");
	json_list(j);
	for (uint32_t i = 0; i < inquiry_rows(q, own->types.cnt); i++) {
		json_map(j);
		inquiry_json_type(j, q, "type", types[i].place);
		json_put_u64(j, "running_ns", types[i].running_ns);
		json_put_u64(j, "ready_ns", types[i].ready_ns);
		json_put_u64(j, "steps", types[i].steps);
		json_map_end(j);
	}
	json_list_end(j);
	if (own->is_single)
		path_json_steps(j, q);
}

static void path_done(struct inquiry *q)
{
	struct path *own = q->own;

	placetable_done(&own->types, true);
	free(own->at);
}

int path_run(const struct request *req, const struct traceset *set)
{
	static const struct inquiry_ops ops = {
		.schema = "dial9-view.path/1",
		.own_sz = sizeof(struct path),
		.work = path_work,
		.text = path_text,
		.json = path_json,
		.done = path_done,
	};

	return inquiry_run(req, set, &ops);
}
