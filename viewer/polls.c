// SPDX-License-Identifier: Apache-2.0
/* polls.c - the polls that pass the filter, as text and JSON. */
#include "polls.h"

#include "command.h"
#include "jsonout.h"
#include "keep.h"
#include "offname.h"
#include "plain.h"
#include "report.h"
#include "study.h"
#include "verdict.h"
#include "workertable.h"

#include <errno.h>
#include <inttypes.h>

struct polls {
	struct keep kept;
	uint64_t ns; /* of all that passed */
	bool is_open; /* kept was made */
};

struct polls_row {
	uint64_t ns;
	uint32_t worker;
	struct worker_poll poll;
};

static int polls_by_time(const void *left, const void *right)
{
	const struct polls_row *a = left, *b = right;
	int order = (a->poll.start_ns > b->poll.start_ns) - (a->poll.start_ns < b->poll.start_ns);

	return order ? order : (a->worker > b->worker) - (a->worker < b->worker);
}

static int polls_by_length(const void *left, const void *right)
{
	const struct polls_row *a = left, *b = right;
	int order = (a->ns < b->ns) - (a->ns > b->ns);

	return order ? order : polls_by_time(left, right);
}

static void polls_poll(struct study *s, uint32_t worker, const struct worker_poll *p,
		       uint64_t end_ns)
{
	struct polls *own = s->own;
	struct polls_row row = { end_ns - p->start_ns, worker, *p };

	if (!own->is_open)
		keep_init(&own->kept, sizeof(row), s->req->limit,
			  s->req->longest ? polls_by_length : polls_by_time);
	own->is_open = true;
	own->ns += row.ns;
	if (keep_add(&own->kept, &row) != 0)
		s->err = -ENOMEM;
}

static int polls_finish(struct study *s)
{
	struct polls *own = s->own;

	keep_sort(&own->kept);
	return 0;
}

static void polls_text(FILE *out, struct study *s)
{
	const struct polls *own = s->own;
	char text[PLAIN_SZ], handle[STUDY_HANDLE_SZ], off[OFFNAME_SZ];

	if (!s->report->has_polls) {
		fputs("\nPOLLS: unknown, this recording holds none\n", out);
		return;
	}
	fprintf(out, "\nPOLLS: %" PRIu64 " of known length, %s in all; %s\n", own->kept.seen,
		plain_duration(text, own->ns),
		s->req->longest ? "longest first" : "by time (--longest: longest first)");
	fprintf(out, "  %-16s %8s %13s %5s  %-9s %8s %-20s %6s  %s\n", "poll", "length", "at", "on",
		"verdict", "off CPU", "longest in", "wakes", "type");
	for (uint32_t i = 0; i < own->kept.cnt; i++) {
		const struct polls_row *row = keep_at(&own->kept, i);
		const struct worker_poll *p = &row->poll;
		enum verdict v = verdict_of(p, row->ns, s->report->has_off);

		fprintf(out, "  %-16s", study_poll_handle(handle, p->task, p->nr));
		study_duration(out, 8, true, row->ns);
		fputc(' ', out);
		study_when(out, s, p->start_ns);
		snprintf(text, sizeof(text), "w%" PRIu32, row->worker);
		fprintf(out, " %5s  %-9s", text, verdict_name(v));
		study_duration(out, 8, s->report->has_off, p->off_ns);
		fprintf(out, " %-20s %6" PRIu32 "  ", p->off_ns ? offname(off, p->off_worst) : "-",
			p->wakes);
		study_type(out, s, p->type, 60);
		fputc('\n', out);
	}
	study_more(out, s, own->kept.seen);
}

static void polls_json_one(struct json *j, const struct study *s, const struct polls_row *row)
{
	const struct worker_poll *p = &row->poll;
	char text[STUDY_HANDLE_SZ], off[OFFNAME_SZ];

	json_map(j);
	json_put_text(j, "poll", study_poll_handle(text, p->task, p->nr));
	json_put_u64(j, "task", p->task);
	json_put_u64(j, "worker", row->worker);
	study_json_type(j, s, "type", p->type);
	json_put_u64(j, "start_ns", p->start_ns);
	json_put_u64(j, "duration_ns", row->ns);
	json_put_text(j, "verdict", verdict_name(verdict_of(p, row->ns, s->report->has_off)));
	if (s->report->has_off)
		json_put_u64(j, "off_cpu_ns", p->off_ns);
	else
		json_put_null(j, "off_cpu_ns");
	if (p->off_ns)
		json_put_text(j, "off_cpu_longest_in", offname(off, p->off_worst));
	else
		json_put_null(j, "off_cpu_longest_in");
	json_put_u64(j, "nested_ns", p->nested_ns);
	json_put_u64(j, "cpu_samples", p->samples);
	json_put_u64(j, "wakes", p->wakes);
	json_map_end(j);
}

static void polls_json(struct json *j, struct study *s)
{
	const struct polls *own = s->own;

	if (s->report->has_polls)
		json_put_u64(j, "known", own->kept.seen);
	else
		json_put_null(j, "known");
	json_key(j, "polls");
	json_list(j);
	for (uint32_t i = 0; i < own->kept.cnt; i++)
		polls_json_one(j, s, keep_at(&own->kept, i));
	json_list_end(j);
}

static void polls_done(struct study *s)
{
	struct polls *own = s->own;

	keep_done(&own->kept);
}

int polls_run(const struct request *req, const struct traceset *set)
{
	static const struct study_ops ops = {
		.schema = "dial9-view.polls/1",
		.own_sz = sizeof(struct polls),
		.poll = polls_poll,
		.finish = polls_finish,
		.text = polls_text,
		.json = polls_json,
		.done = polls_done,
	};

	return study_run(req, set, &ops);
}
