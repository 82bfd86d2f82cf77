// SPDX-License-Identifier: Apache-2.0
/* report.c - feeds the tables, sorts them, hands them to the printers. */
#include "report.h"

#include "command.h"
#include "jsonout.h"
#include "labels.h"
#include "leaftable.h"
#include "notice.h"
#include "relay.h"
#include "reorder.h"
#include "reportjson.h"
#include "reporttext.h"
#include "series.h"
#include "stacktable.h"
#include "typetable.h"
#include "watch.h"
#include "workertable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void report_gap(void *ctx)
{
	account_gap(ctx);
}

static void report_session(void *ctx)
{
	account_session(ctx);
}

static int report_begin(void *ctx, const struct traceset_recording *rec, size_t file)
{
	struct report *r = ctx;
	enum seam_kind seam = seam_next(&r->seam, &r->facts, rec, file);

	labels_new_file(r->labels);
	if (!r->relay) {
		/* a watch sees events as they are read and moments as they are taken: no two at once */
		r->relay = relay_new(r->facts.is_agent ? REORDER_SMALL : REORDER_LARGE,
				     account_moment, account_ahead, &r->account, !r->account.watch);
		if (!r->relay)
			return -ENOMEM;
	}
	if (seam == SEAM_BROKEN)
		r->exit_code = EXIT_PARTIAL;
	if (seam == SEAM_FOLLOWS)
		return 0;
	r->coverage.holes += seam == SEAM_HOLE;
	if (seam == SEAM_SESSION)
		coverage_session(&r->coverage);
	else
		coverage_gap(&r->coverage);
	return relay_flush(r->relay, seam == SEAM_SESSION ? report_session : report_gap);
}

/* 0 if the recording does not say how often it looked. */
static uint64_t report_sample_ns(const struct report *r)
{
	uint32_t label = coverage_fact(&r->coverage, "cpu.profile.frequency_hz");
	size_t len = 0;
	const char *text = label == LABEL_UNKNOWN ? "" : labels_text(r->labels, label, &len);
	uint64_t hz = 0;

	for (size_t i = 0; i < len && i < 9 && text[i] >= '0' && text[i] <= '9'; i++)
		hz = hz * 10 + (uint64_t)(text[i] - '0');
	return hz ? 1000000000 / hz : 0;
}

/* What a sample's event alone does not tell. */
static void report_sample(struct report *r, const struct d9_ev *ev, struct moment *m)
{
	const struct d9_value *stack = d9_val(ev, D9F_cpu_sample_callchain);

	if (m->ts_ns == r->sample.ts_ns && m->tid == r->sample.tid)
		m->task = r->sample.task;
	m->has_a = facts_claims(&r->facts, D9_EV_AGENT_SAMPLE);
	m->a = r->sample_ns;
	m->label = leaftable_find(r->account.leaves,
				  stack && stack->frames && stack->cnt ? stack->frames[0] : 0);
}

static int report_event(void *ctx, const struct d9_ev *ev)
{
	struct report *r = ctx;
	struct moment *m;
	int got;

	coverage_event(&r->coverage, ev);
	if (r->account.watch && r->account.watch->event)
		r->account.watch->event(r->account.watch->ctx, ev);
	if (r->stacks && ev->schema->kind == D9_EV_SYMBOL)
		stacktable_name(r->stacks, ev, r->labels);
	switch (ev->schema->kind) {
	case D9_EV_SYMBOL:
		leaftable_name(r->account.leaves, ev, r->labels);
		return 0;
	case D9_EV_SEGMENT_METADATA:
		r->sample_ns = report_sample_ns(r);
		return 0;
	case D9_EV_AGENT_BLOCKING:
		return account_blocking(&r->account, ev);
	case D9_EV_AGENT_SAMPLE:
		r->sample = (struct report_sample){ ev->ts_ns,
						    d9_u64(ev, D9F_agent_sample_task_id, 0),
						    (uint32_t)d9_u64(ev, D9F_agent_sample_tid, 0) };
		return 0;
	case D9_EV_AGENT_BLOCK_IN_PLACE:
		account_block_in_place(&r->account, ev);
		return 0;
	default:
		break;
	}
	m = relay_next(r->relay);
	if (!m)
		return -ENOMEM;
	got = moment_of(ev, r->labels, m);
	if (got <= 0) {
		r->coverage.broken += got < 0;
		return 0;
	}
	if (m->kind == MOMENT_SAMPLE)
		report_sample(r, ev, m);
	if (r->stacks && (m->kind == MOMENT_SAMPLE || m->kind == MOMENT_OFF_CPU))
		m->stack = stacktable_put(r->stacks,
					  d9_val(ev, m->kind == MOMENT_SAMPLE
							     ? D9F_cpu_sample_callchain
							     : D9F_agent_off_cpu_callchain));
	return relay_put(r->relay);
}

static int report_end(void *ctx, const struct traceset_recording *rec, size_t file,
		      const struct reader_end *end)
{
	struct report *r = ctx;
	int code = reader_notice(&rec->files[file], end);

	r->exit_code = code > r->exit_code ? code : r->exit_code;
	coverage_file(&r->coverage, end);
	if (!end->err || end->is_open)
		return 0;
	coverage_gap(&r->coverage); /* what stood behind the damage is missing */
	return relay_flush(r->relay, report_gap);
}

/* runtime.<name> = comma-separated worker ids. */
static void report_runtimes(struct report *r)
{
	for (uint32_t i = 0; i < r->coverage.facts_cnt; i++) {
		size_t key_len, ids_len, at = 0;
		const char *key = labels_text(r->labels, r->coverage.facts[i].key, &key_len);
		const char *ids = labels_text(r->labels, r->coverage.facts[i].value, &ids_len);
		uint32_t name;

		if (key_len < 8 || memcmp(key, "runtime.", 8) != 0)
			continue;
		name = labels_put(r->labels, key + 8, key_len - 8);
		while (at < ids_len) {
			uint32_t id = 0;

			for (; at < ids_len && ids[at] >= '0' && ids[at] <= '9'; at++)
				if (id < MOMENT_WORKERS_MAX)
					id = id * 10 + (uint32_t)(ids[at] - '0');
			if (id < workertable_cnt(r->account.workers))
				workertable_get(r->account.workers, id)->runtime = name;
			at++; /* the comma, or whatever stands in its place */
		}
	}
}

static int report_compare_types(const void *left, const void *right, void *ctx)
{
	const struct report *r = ctx;
	const struct type_row *a = typetable_row(r->account.types, *(const uint32_t *)left);
	const struct type_row *b = typetable_row(r->account.types, *(const uint32_t *)right);
	int order = (a->busy_ns < b->busy_ns) - (a->busy_ns > b->busy_ns);

	if (order == 0)
		order = (a->polls < b->polls) - (a->polls > b->polls);
	if (order == 0)
		order = (a->samples < b->samples) - (a->samples > b->samples);
	return order ? order : labels_compare(r->labels, a->label, b->label);
}

static int report_compare_blocking(const void *left, const void *right, void *ctx)
{
	const struct report *r = ctx;
	const struct type_row *a = typetable_row(r->account.types, *(const uint32_t *)left);
	const struct type_row *b = typetable_row(r->account.types, *(const uint32_t *)right);
	int order = (a->run.sum < b->run.sum) - (a->run.sum > b->run.sum);

	return order ? order : labels_compare(r->labels, a->label, b->label);
}

static int report_compare_off(const void *left, const void *right, void *ctx)
{
	const struct account_off *off = ctx;
	uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	int order = (off[i].sum_ns < off[k].sum_ns) - (off[i].sum_ns > off[k].sum_ns);

	return order ? order : (i > k) - (i < k);
}

static int report_sort(struct report *r)
{
	uint32_t cnt = typetable_cnt(r->account.types);
	uint32_t workers_cnt = workertable_cnt(r->account.workers);

	r->types = calloc(cnt, sizeof(*r->types));
	r->blocking = calloc(cnt, sizeof(*r->blocking));
	r->workers = calloc(workers_cnt + 1, sizeof(*r->workers));
	if (!r->types || !r->blocking || !r->workers)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++) {
		const struct type_row *row = typetable_row(r->account.types, i);

		r->busy_ns += row->busy_ns;
		if (row->polls || row->spawned || row->seen)
			r->types[r->types_cnt++] = i;
		if (row->blocking)
			r->blocking[r->blocking_cnt++] = i;
	}
	for (uint32_t i = 0; i < workers_cnt; i++)
		if (workertable_get(r->account.workers, i)->is_seen)
			r->workers[r->workers_cnt++] = i;
	for (uint32_t i = 0; i < sizeof(r->off) / sizeof(r->off[0]); i++)
		if (r->account.off[i].cnt)
			r->off[r->off_cnt++] = i;
	qsort_r(r->off, r->off_cnt, sizeof(r->off[0]), report_compare_off, r->account.off);
	qsort_r(r->types, r->types_cnt, sizeof(*r->types), report_compare_types, r);
	qsort_r(r->blocking, r->blocking_cnt, sizeof(*r->blocking), report_compare_blocking, r);
	return leaftable_rows(r->account.leaves, r->labels, &r->leaves, &r->leaves_cnt);
}

/* Was this kind recorded? Of recorders that claim nothing: did it occur? */
static bool report_has(const struct report *r, enum d9_event kind)
{
	return r->facts.has_claims ? facts_claims(&r->facts, kind) : r->coverage.kinds[kind] > 0;
}

static int report_finish(struct report *r)
{
	struct coverage *c = &r->coverage;
	int err = relay_end(r->relay);

	coverage_finish(c);
	account_finish(&r->account, c->first_ns, c->last_ns);
	r->span_ns = c->last_ns - c->first_ns;
	r->has_waits = report_has(r, D9_EV_WAKE);
	r->has_polls = report_has(r, D9_EV_POLL_START);
	r->blind_ns = coverage_blind_ns(c);
	r->has_off = report_has(r, D9_EV_AGENT_OFF_CPU);
	report_runtimes(r);
	if (err == 0)
		err = report_sort(r);
	return err ? err : r->account.err;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	free(r->types);
	free(r->blocking);
	free(r->workers);
	free(r->leaves);
	relay_free(r->relay);
	account_done(&r->account);
	stacktable_free(r->stacks);
	labels_free(r->labels);
	free(r);
}

struct report *report_new(const struct traceset_recording *rec, bool with_stacks)
{
	struct report *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return NULL;
	r->recording = rec;
	r->labels = labels_new();
	r->coverage.labels = r->labels;
	if (with_stacks)
		r->stacks = stacktable_new();
	err = account_init(&r->account, r->labels);
	if (err || !r->labels || (with_stacks && !r->stacks)) {
		report_free(r);
		return NULL;
	}
	return r;
}

int report_read(struct report *r, const struct watch *watch, struct progress *progress)
{
	const struct reader_ops ops = { report_begin, report_event, report_end, &r->facts };
	int err;

	r->account.watch = watch;
	err = reader_run(r->recording, &ops, r, progress);
	return err ? err : report_finish(r);
}

/* Reads one recording and prints its page. */
static int report_recording(void *ctx, const struct request *req,
			    const struct traceset_recording *rec, struct json *json,
			    struct progress *progress, int *exit_code)
{
	struct report *r = report_new(rec, false);
	int err = r ? report_read(r, NULL, progress) : -ENOMEM;

	(void)ctx;
	if (err == 0 && json)
		reportjson_put(json, r);
	else if (err == 0)
		reporttext_print(stdout, r, req->top);
	if (err == 0 && r->exit_code > *exit_code)
		*exit_code = r->exit_code;
	report_free(r);
	return err;
}

int report_run(const struct request *req, const struct traceset *set)
{
	static const struct series_ops series = { .schema = REPORT_SCHEMA,
						  .one = report_recording };

	return series_run(req, set, &series, NULL);
}
