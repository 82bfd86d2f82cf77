// SPDX-License-Identifier: Apache-2.0
/* verify.c - feeds the checks and judges. */
#include "verify.h"

#include "command.h"
#include "jsonout.h"
#include "labels.h"
#include "notice.h"
#include "parksums.h"
#include "reorder.h"
#include "series.h"
#include "verifyprint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int verify_gap(struct verify *v)
{
	int err = reorder_flush(v->reorder);

	coverage_gap(&v->coverage);
	parksums_forget(v->parksums);
	return err ? err : invariants_gap(&v->invariants);
}

static int verify_begin(void *ctx, const struct traceset_recording *rec, size_t file)
{
	struct verify *v = ctx;
	const struct traceset_file *f = &rec->files[file];
	enum seam_kind seam = seam_next(&v->seam, &v->facts, rec, file);
	uint64_t missing;

	labels_new_file(v->labels);
	v->last_schema = NULL;
	if (!v->reorder) {
		v->reorder = reorder_new(v->facts.is_agent ? REORDER_SMALL : REORDER_LARGE,
					 invariants_moment, NULL, &v->invariants);
		if (!v->reorder)
			return -ENOMEM;
		/* earlier segments were evicted, or are not in what we were given */
		v->invariants.had_gap = f->number > 0;
	}
	v->invariants.results[INVARIANT_NUMBERS].looked += f->number != TRACESET_NO_NUMBER;
	if (seam == SEAM_BROKEN)
		v->exit_code = EXIT_PARTIAL;
	if (traceset_is_hole(rec, file, &missing)) {
		v->coverage.holes++;
		invariants_break(&v->invariants, INVARIANT_NUMBERS, 1, v->coverage.last_ns, 0, 0);
	}
	if (seam == SEAM_FOLLOWS)
		return 0;
	if (seam == SEAM_SESSION)
		coverage_session(&v->coverage);
	return verify_gap(v);
}

static void verify_count(struct verify *v, const struct d9_ev *ev)
{
	const struct d9_schema *s = ev->schema;
	uint32_t label, at = 0;

	/* a schema lives as long as its batch: the same pointer in it is the same name */
	if (v->last_schema != s || v->last_batch != ev->batch) {
		label = labels_put(v->labels, s->name, s->name_len);
		while (at < v->names_cnt && v->names[at].label != label)
			at++;
		if (at == v->names_cnt && at < VERIFY_NAMES_MAX)
			v->names[v->names_cnt++].label = label;
		v->last_name = at;
		v->last_schema = s;
		v->last_batch = ev->batch;
	}
	v->names[v->last_name].cnt++;
}

static void verify_sums(struct verify *v, const struct d9_ev *ev, const struct moment *m)
{
	if (m->kind == MOMENT_OFF_CPU)
		parksums_off_cpu(v->parksums, ev);
	if (m->kind != MOMENT_PARKS)
		return;
	v->invariants.results[INVARIANT_SUMS].looked++;
	if (!parksums_add(v->parksums, ev))
		invariants_break(&v->invariants, INVARIANT_SUMS, 1, ev->ts_ns,
				 m->worker == MOMENT_NO_WORKER ? 0 : m->worker, 0);
}

static int verify_event(void *ctx, const struct d9_ev *ev)
{
	struct verify *v = ctx;
	struct moment m;
	int got;

	coverage_event(&v->coverage, ev);
	verify_count(v, ev);
	got = moment_of(ev, NULL, &m);
	if (ev->schema->kind != D9_EV_OTHER)
		v->invariants.results[INVARIANT_FIELDS].looked++;
	if (got < 0)
		invariants_break(&v->invariants, INVARIANT_FIELDS, 1, ev->ts_ns, 0, 0);
	if (got <= 0)
		return 0;
	invariants_in_file(&v->invariants, &m);
	verify_sums(v, ev, &m);
	return reorder_put(v->reorder, &m);
}

static int verify_end(void *ctx, const struct traceset_recording *rec, size_t file,
		      const struct reader_end *end)
{
	struct verify *v = ctx;
	int code = reader_notice(&rec->files[file], end);

	v->exit_code = code > v->exit_code ? code : v->exit_code;
	v->ends[file] = *end;
	coverage_file(&v->coverage, end);
	v->invariants.results[INVARIANT_POOLS].looked += end->pooled;
	invariants_break(&v->invariants, INVARIANT_POOLS, end->unresolved, 0, 0, 0);
	return end->err && !end->is_open ? verify_gap(v) : 0;
}

static int verify_compare_names(const void *left, const void *right, void *ctx)
{
	const struct verify_name *a = left, *b = right;

	return labels_compare(ctx, a->label, b->label);
}

static int verify_finish(struct verify *v)
{
	int err = reorder_flush(v->reorder);

	coverage_finish(&v->coverage);
	invariants_finish(&v->invariants, &v->facts);
	v->has_unexplained = facts_claims(&v->facts, D9_EV_WAKE) &&
			     facts_claims(&v->facts, D9_EV_TASK_SPAWN) &&
			     facts_claims(&v->facts, D9_EV_AGENT_ALIVE);
	qsort_r(v->names, v->names_cnt, sizeof(v->names[0]), verify_compare_names, v->labels);
	for (int i = 0; i < INVARIANT_CNT; i++)
		if (v->invariants.results[i].is_judged && v->invariants.results[i].broken &&
		    v->exit_code == 0)
			v->exit_code = EXIT_FINDINGS;
	return err;
}

static int verify_recording(void *ctx, const struct request *req,
			    const struct traceset_recording *rec, struct json *json,
			    struct progress *progress, int *exit_code)
{
	struct verify *v = calloc(1, sizeof(*v));
	const struct reader_ops ops = { verify_begin, verify_event, verify_end,
					v ? &v->facts : NULL };
	int err = -ENOMEM;

	(void)ctx;
	(void)req;
	if (!v)
		return err;
	v->recording = rec;
	v->labels = labels_new();
	v->coverage.labels = v->labels;
	v->ends = calloc(rec->files_cnt, sizeof(*v->ends));
	v->parksums = parksums_new();
	if (v->labels && v->ends && v->parksums)
		err = invariants_init(&v->invariants);
	if (err == 0)
		err = reader_run(rec, &ops, v, progress);
	if (err == 0)
		err = verify_finish(v);
	if (err == 0 && json)
		verifyprint_json(json, v);
	else if (err == 0)
		verifyprint_text(stdout, v);
	if (v->exit_code > *exit_code)
		*exit_code = v->exit_code;
	reorder_free(v->reorder);
	invariants_done(&v->invariants);
	parksums_free(v->parksums);
	free(v->ends);
	labels_free(v->labels);
	free(v);
	return err;
}

static void verify_tail(void *ctx, struct json *json, int exit_code)
{
	(void)ctx;
	json_put_text(json, "verdict", verifyprint_verdict(exit_code));
}

int verify_run(const struct request *req, const struct traceset *set)
{
	static const struct series_ops series = { .schema = VERIFY_SCHEMA,
						  .one = verify_recording,
						  .tail = verify_tail };

	return series_run(req, set, &series, NULL);
}
