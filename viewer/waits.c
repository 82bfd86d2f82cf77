// SPDX-License-Identifier: Apache-2.0
/* waits.c - the longest waits and their parts, as text and JSON. */
#include "waits.h"

#include "command.h"
#include "jsonout.h"
#include "keep.h"
#include "plain.h"
#include "report.h"
#include "study.h"

#include <errno.h>
#include <inttypes.h>

#define WAITS_BEHIND_MAX 1000 /* polls listed of one wait */

struct waits {
	bool is_open; /* kept, before were made */
	struct keep kept;
	struct keep before; /* --explain: struct behind_harm, by time */
	uint64_t ns;
	struct behind_parts parts; /* of all waits */
};

struct waits_row {
	struct watch_wait wait;
	struct behind_parts parts;
};

/* As WATCH_*: what the worker that polls in the end did meanwhile. */
static const char *const waits_part_keys[WATCH_STATES] = { "unknown_ns", "behind_polls_ns",
							   "worker_asleep_ns", "no_cpu_ns",
							   "between_polls_ns" };

static int waits_by_length(const void *left, const void *right)
{
	const struct watch_wait *a = &((const struct waits_row *)left)->wait;
	const struct watch_wait *b = &((const struct waits_row *)right)->wait;
	uint64_t a_ns = a->to_ns - a->from_ns, b_ns = b->to_ns - b->from_ns;
	int order = (a_ns < b_ns) - (a_ns > b_ns);

	if (order == 0)
		order = (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
	return order ? order : (a->task > b->task) - (a->task < b->task);
}

static int waits_before_by_time(const void *left, const void *right)
{
	const struct behind_harm *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void waits_before(void *ctx, const struct behind_harm *h)
{
	struct study *s = ctx;
	struct waits *own = s->own;

	if (keep_add(&own->before, h) != 0)
		s->err = -ENOMEM;
}

static void waits_wait(struct study *s, const struct watch_wait *w,
		       const struct behind_parts *parts)
{
	struct waits *own = s->own;
	struct waits_row row = { *w, *parts };

	if (!own->is_open) {
		keep_init(&own->kept, sizeof(row), s->req->limit, waits_by_length);
		keep_init(&own->before, sizeof(struct behind_harm), WAITS_BEHIND_MAX,
			  waits_before_by_time);
		own->is_open = true;
	}
	if (s->req->explain_nr && s->req->explain_nr != w->nr)
		return;
	if (s->req->explain_nr)
		behind_polls(s->behind, w, waits_before, s);
	own->ns += w->to_ns - w->from_ns;
	for (int i = 0; i < WATCH_STATES; i++)
		own->parts.ns[i] += parts->ns[i];
	if (keep_add(&own->kept, &row) != 0)
		s->err = -ENOMEM;
}

static int waits_finish(struct study *s)
{
	struct waits *own = s->own;

	keep_sort(&own->kept);
	keep_sort(&own->before);
	return 0;
}

static void waits_text_head(FILE *out, const struct waits *own)
{
	static const char *const words[WATCH_STATES] = { "unknown", "behind other polls",
							 "worker asleep", "worker without CPU",
							 "worker between polls" };
	char text[PLAIN_SZ];

	fprintf(out, "\nWAITS from wake to poll: %" PRIu64 ", %s in all\n", own->kept.seen,
		plain_duration(text, own->ns));
	for (int i = 1; i <= WATCH_STATES; i++) { /* unknown stands last */
		int part = i % WATCH_STATES;

		fprintf(out, "  %-21s %8s", words[part], plain_duration(text, own->parts.ns[part]));
		fprintf(out, "  %s\n", plain_share(text, own->parts.ns[part], own->ns));
	}
}

static void waits_text_before(FILE *out, const struct study *s)
{
	const struct waits *own = s->own;
	char handle[STUDY_HANDLE_SZ];

	fprintf(out, "\nIT STOOD BEHIND %" PRIu64 " polls%s\n  %-16s %8s %13s %8s  %s\n",
		own->before.seen,
		own->before.seen > own->before.cnt ? " (the first of them)" : "", "poll", "length",
		"at", "of it", "type");
	for (uint32_t i = 0; i < own->before.cnt; i++) {
		const struct behind_harm *h = keep_at(&own->before, i);

		fprintf(out, "  %-16s", study_poll_handle(handle, h->task, h->nr));
		study_duration(out, 8, true, h->end_ns - h->start_ns);
		fputc(' ', out);
		study_when(out, s, h->start_ns);
		study_duration(out, 8, true, h->ns);
		fputs("  ", out);
		study_type(out, s, h->type, 60);
		fputc('\n', out);
	}
}

static void waits_text(FILE *out, struct study *s)
{
	const struct waits *own = s->own;
	char text[STUDY_HANDLE_SZ];

	if (!s->report->has_waits) {
		fputs("\nWAITS: unknown, this recording holds no wakes\n", out);
		return;
	}
	waits_text_head(out, own);
	fprintf(out, "\nTHE LONGEST\n  %-16s %8s %13s %5s %8s %8s %8s %8s  %s\n", "until poll",
		"wait", "woken at", "on", "polls", "asleep", "no CPU", "between", "type");
	for (uint32_t i = 0; i < own->kept.cnt; i++) {
		const struct waits_row *row = keep_at(&own->kept, i);
		const struct watch_wait *w = &row->wait;

		fprintf(out, "  %-16s", study_poll_handle(text, w->task, w->nr));
		study_duration(out, 8, true, w->to_ns - w->from_ns);
		fputc(' ', out);
		study_when(out, s, w->from_ns);
		snprintf(text, sizeof(text), "w%" PRIu32, w->worker);
		fprintf(out, " %5s", text);
		for (int part = WATCH_BUSY; part < WATCH_STATES; part++)
			study_duration(out, 8, true, row->parts.ns[part]);
		fputs("  ", out);
		study_type(out, s, w->type, 60);
		fputc('\n', out);
	}
	study_more(out, s, own->kept.seen);
	if (s->req->explain_nr && own->kept.cnt)
		waits_text_before(out, s);
	else if (s->req->explain_nr)
		fputs("  none: that poll follows no wake that was recorded\n", out);
}

static void waits_json_parts(struct json *j, const struct behind_parts *parts)
{
	json_key(j, "parts");
	json_map(j);
	for (int i = 0; i < WATCH_STATES; i++)
		json_put_u64(j, waits_part_keys[i], parts->ns[i]);
	json_map_end(j);
}

static void waits_json_before(struct json *j, const struct study *s)
{
	const struct waits *own = s->own;
	char text[STUDY_HANDLE_SZ];

	json_put_u64(j, "behind_polls", own->before.seen);
	json_key(j, "behind");
	json_list(j);
	for (uint32_t i = 0; i < own->before.cnt; i++) {
		const struct behind_harm *h = keep_at(&own->before, i);

		json_map(j);
		json_put_text(j, "poll", study_poll_handle(text, h->task, h->nr));
		study_json_type(j, s, "type", h->type);
		json_put_u64(j, "start_ns", h->start_ns);
		json_put_u64(j, "duration_ns", h->end_ns - h->start_ns);
		json_put_u64(j, "shared_ns", h->ns);
		json_map_end(j);
	}
	json_list_end(j);
}

static void waits_json(struct json *j, struct study *s)
{
	const struct waits *own = s->own;
	char text[STUDY_HANDLE_SZ];

	if (s->report->has_waits)
		json_put_u64(j, "known", own->kept.seen);
	else
		json_put_null(j, "known");
	json_put_u64(j, "total_ns", own->ns);
	waits_json_parts(j, &own->parts);
	json_key(j, "waits");
	json_list(j);
	for (uint32_t i = 0; i < own->kept.cnt; i++) {
		const struct waits_row *row = keep_at(&own->kept, i);

		json_map(j);
		json_put_text(j, "until", study_poll_handle(text, row->wait.task, row->wait.nr));
		json_put_u64(j, "task", row->wait.task);
		json_put_u64(j, "worker", row->wait.worker);
		study_json_type(j, s, "type", row->wait.type);
		json_put_u64(j, "from_ns", row->wait.from_ns);
		json_put_u64(j, "duration_ns", row->wait.to_ns - row->wait.from_ns);
		waits_json_parts(j, &row->parts);
		json_map_end(j);
	}
	json_list_end(j);
	if (s->req->explain_nr)
		waits_json_before(j, s);
}

static void waits_done(struct study *s)
{
	struct waits *own = s->own;

	keep_done(&own->kept);
	keep_done(&own->before);
}

int waits_run(const struct request *req, const struct traceset *set)
{
	static const struct study_ops ops = {
		.schema = "dial9-view.waits/1",
		.own_sz = sizeof(struct waits),
		.with_behind = true,
		.wait = waits_wait,
		.finish = waits_finish,
		.text = waits_text,
		.json = waits_json,
		.done = waits_done,
	};

	return study_run(req, set, &ops);
}
