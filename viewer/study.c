// SPDX-License-Identifier: Apache-2.0
/* study.c - from the account's watch through the filter to the analysis, and out. */
#include "study.h"

#include "command.h"
#include "jsonout.h"
#include "labels.h"
#include "notice.h"
#include "plain.h"
#include "report.h"
#include "series.h"
#include "studyhead.h"
#include "tasktable.h"
#include "traceset.h"
#include "typetable.h"
#include "workertable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct study_frame {
	struct study study;
	const struct study_ops *ops;
};

static bool study_passes(struct study *s, uint32_t worker, uint64_t task, uint32_t type,
			 uint64_t ts_ns)
{
	return filter_passes(&s->filter, s->report->account.types, s->report->labels, worker, task,
			     type, ts_ns);
}

static void study_on_slice(void *ctx, const struct watch_slice *slice)
{
	struct study_frame *f = ctx;
	struct study *s = &f->study;
	struct watch_slice cut = *slice;

	if (s->behind && behind_slice(s->behind, slice) != 0)
		s->err = -ENOMEM;
	if (!f->ops->slice || !filter_worker(&s->filter, slice->worker))
		return;
	if (cut.from_ns < s->filter.from_ns)
		cut.from_ns = s->filter.from_ns;
	if (cut.to_ns > s->filter.to_ns)
		cut.to_ns = s->filter.to_ns;
	if (cut.from_ns < cut.to_ns)
		f->ops->slice(s, &cut);
}

static void study_on_poll(void *ctx, uint32_t worker, const struct worker_poll *p, uint64_t end_ns)
{
	struct study_frame *f = ctx;

	if (f->ops->poll && study_passes(&f->study, worker, p->task, p->type, p->start_ns))
		f->ops->poll(&f->study, worker, p, end_ns);
}

static void study_on_wait(void *ctx, const struct watch_wait *w)
{
	struct study_frame *f = ctx;
	struct study *s = &f->study;
	struct behind_parts parts;

	if (!study_passes(s, w->worker, w->task, w->type, w->to_ns))
		return;
	if (s->behind) {
		behind_parts(s->behind, w, &parts);
		behind_charge(s->behind, w);
	}
	if (f->ops->wait)
		f->ops->wait(s, w, s->behind ? &parts : NULL);
}

static void study_on_harm(void *ctx, const struct behind_harm *h)
{
	struct study_frame *f = ctx;

	if (f->ops->harm)
		f->ops->harm(&f->study, h);
}

static void study_on_off(void *ctx, const struct moment *m, uint32_t type)
{
	struct study_frame *f = ctx;

	if (f->ops->off && study_passes(&f->study, m->worker, m->task, type, m->ts_ns))
		f->ops->off(&f->study, m, type);
}

static void study_on_sample(void *ctx, const struct moment *m, uint32_t worker, uint32_t type)
{
	struct study_frame *f = ctx;
	struct study *s = &f->study;
	uint64_t task = m->task; /* as agent:Sample has it */
	const struct worker *w = worker == MOMENT_NO_WORKER ? NULL :
				 workertable_get(s->report->account.workers, worker);

	if (w && w->state == WORKER_POLLING)
		task = w->poll.task;
	if (f->ops->sample && study_passes(s, worker, task, type, m->ts_ns))
		f->ops->sample(s, m, worker, type);
}

static void study_on_moment(void *ctx, const struct moment *m)
{
	struct study_frame *f = ctx;
	struct study *s = &f->study;

	if (!s->has_base) {
		s->has_base = true;
		s->base_ns = s->report->coverage.first_ns;
		filter_base(&s->filter, s->base_ns);
	}
	if (f->ops->moment && filter_time(&s->filter, m->ts_ns))
		f->ops->moment(s, m);
}

static void study_on_event(void *ctx, const struct d9_ev *ev)
{
	struct study_frame *f = ctx;

	filter_event(&f->study.filter, ev);
	if (f->ops->event)
		f->ops->event(&f->study, ev);
}

static int study_recording(void *ctx, const struct request *req,
			   const struct traceset_recording *rec, struct json *json,
			   struct progress *progress, int *exit_code)
{
	const struct study_ops *ops = ctx;
	struct study_frame f = { .ops = ops };
	struct study *s = &f.study;
	const struct watch watch = {
		&f,	      study_on_slice,  study_on_poll,	study_on_wait,
		study_on_off, study_on_sample, study_on_moment, study_on_event
	};
	int err = -ENOMEM;

	s->req = req;
	s->ctx = ops->ctx;
	s->report = report_new(rec, ops->with_stacks);
	s->own = calloc(1, ops->own_sz);
	if (ops->with_behind)
		s->behind = behind_new(study_on_harm, &f);
	filter_init(&s->filter, req);
	if (s->report && s->own && (s->behind || !ops->with_behind))
		err = report_read(s->report, &watch, progress);
	if (err == 0 && s->behind)
		behind_finish(s->behind);
	if (err == 0)
		err = s->err;
	if (err == 0 && ops->finish)
		err = ops->finish(s);
	if (err == 0 && json) {
		json_map(json);
		studyhead_json(json, s);
		ops->json(json, s);
		json_map_end(json);
	} else if (err == 0) {
		if (!req->folded && !ops->is_bare)
			studyhead_text(stdout, s);
		ops->text(stdout, s);
	}
	if (err == 0 && s->report->exit_code > s->exit_code)
		s->exit_code = s->report->exit_code;
	if (s->exit_code > *exit_code)
		*exit_code = s->exit_code;
	if (ops->done && s->own && s->report)
		ops->done(s);
	behind_free(s->behind);
	free(s->own);
	report_free(s->report);
	return err;
}

int study_run(const struct request *req, const struct traceset *set, const struct study_ops *ops)
{
	const struct series_ops series = {
		.schema = ops->schema,
		.is_bare = req->folded || ops->is_bare,
		.one = study_recording,
	};

	return series_run(req, set, &series, (void *)ops);
}

void study_when(FILE *out, const struct study *s, uint64_t ts_ns)
{
	char text[PLAIN_SZ];

	fputs(plain_since(text, s->base_ns, ts_ns), out);
}

void study_type(FILE *out, const struct study *s, uint32_t row, uint32_t columns)
{
	char name[4 * 256 + 1];
	const char *text = "-";
	size_t len = 1;

	if (row != TASK_TYPE_NONE)
		text = labels_text(s->report->labels,
				   typetable_row(s->report->account.types, row)->label, &len);
	plain_cut(name, sizeof(name), text, len, columns < 256 ? columns : 256);
	fputs(name, out);
}

void study_json_type(struct json *j, const struct study *s, const char *key, uint32_t row)
{
	const char *text;
	size_t len;

	if (row == TASK_TYPE_NONE ||
	    typetable_row(s->report->account.types, row)->label == LABEL_UNKNOWN) {
		json_put_null(j, key);
		return;
	}
	text = labels_text(s->report->labels, typetable_row(s->report->account.types, row)->label,
			   &len);
	json_put_bytes(j, key, text, len);
}

const char *study_poll_handle(char to[STUDY_HANDLE_SZ], uint64_t task, uint32_t nr)
{
	snprintf(to, STUDY_HANDLE_SZ, "p:%" PRIu64 ".%" PRIu32, task, nr);
	return to;
}

void study_duration(FILE *out, int width, bool is_known, uint64_t ns)
{
	char text[PLAIN_SZ];

	fprintf(out, " %*s", width, is_known ? plain_duration(text, ns) : "-");
}

uint64_t study_rows(const struct study *s, uint64_t cnt)
{
	return s->req->limit && s->req->limit < cnt ? s->req->limit : cnt;
}

void study_more(FILE *out, const struct study *s, uint64_t cnt)
{
	uint64_t rows = study_rows(s, cnt);

	if (rows < cnt)
		fprintf(out, "  %" PRIu64 " of %" PRIu64 ": --limit 0 prints all\n", rows, cnt);
}
