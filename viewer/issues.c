// SPDX-License-Identifier: Apache-2.0
/* issues.c - findings as text and JSON. */
#include "issues.h"

#include "command.h"
#include "jsonout.h"
#include "judge.h"
#include "judgecolumns.h"
#include "notice.h"
#include "pains.h"
#include "plain.h"
#include "study.h"
#include "tasktable.h"

#include <inttypes.h>
#include <string.h>

struct issues {
	struct pains pains; /* first: judge.h */
	struct findings findings;
};

static const char *const issues_severity[] = { "info", "warning", "critical" };

static int issues_finish(struct study *s)
{
	struct issues *own = s->own;
	int err = judge(s, &own->findings);

	if (err == 0)
		err = judgecolumns(s, &own->findings);
	if (err == 0)
		findings_sort(&own->findings, s);
	for (uint32_t i = 0; err == 0 && i < own->findings.cnt; i++)
		if (s->req->fail_on && (int)own->findings.at[i].severity >= (int)s->req->fail_on)
			s->exit_code = EXIT_FINDINGS;
	return err;
}

static void issues_evidence(FILE *out, const struct study *s, const struct finding *f)
{
	char text[STUDY_HANDLE_SZ];

	if (!f->has_task && !f->has_worker && !f->has_span)
		return;
	fputs("      see      ", out);
	if (f->has_task && f->nr)
		fprintf(out, " %s", study_poll_handle(text, f->task, f->nr));
	else if (f->has_task)
		fprintf(out, " t:%" PRIu64, f->task);
	if (f->has_worker)
		fprintf(out, " on w%" PRIu32, f->worker);
	if (f->has_span) {
		fputs(" at ", out);
		study_when(out, s, f->from_ns);
		fprintf(out, " (--from %" PRIu64 " --to %" PRIu64 ")", f->from_ns, f->to_ns);
	}
	fputc('\n', out);
}

static void issues_one(FILE *out, const struct study *s, const struct finding *f, uint32_t nr)
{
	fprintf(out, "  iss:%-3" PRIu32 "%-9s %s\n      what      %s\n", nr + 1,
		issues_severity[f->severity], f->kind, f->text);
	if (f->type != TASK_TYPE_NONE) {
		fputs("      type      ", out);
		study_type(out, s, f->type, 200);
		fputc('\n', out);
	}
	if (f->place[0]) {
		fputs("      place     ", out);
		plain_write(out, f->place, strlen(f->place));
		fputc('\n', out);
	}
	issues_evidence(out, s, f);
	if (f->explained)
		fprintf(out, "      because of %s\n", f->explained);
	fprintf(out, "      next      %s\n", f->next);
}

static void issues_text(FILE *out, struct study *s)
{
	const struct issues *own = s->own;
	const struct findings *f = &own->findings;
	uint32_t counts[3] = { 0 };

	for (uint32_t i = 0; i < f->cnt; i++)
		counts[f->at[i].severity]++;
	fprintf(out, "\nISSUES: %" PRIu32 " critical, %" PRIu32 " warnings, %" PRIu32 " infos\n",
		counts[SEVERITY_CRITICAL], counts[SEVERITY_WARNING], counts[SEVERITY_INFO]);
	for (uint32_t i = 0; i < study_rows(s, f->cnt); i++)
		issues_one(out, s, &f->at[i], i);
	study_more(out, s, f->cnt);
	if (f->over_cap)
		fprintf(out, "  %" PRIu64 " more findings beyond the cap\n", f->over_cap);
	if (own->pains.calls_over_cap)
		fprintf(out, "  %" PRIu64 " times off CPU beyond the cap of calls\n",
			own->pains.calls_over_cap);
}

static void issues_json_one(struct json *j, const struct study *s, const struct finding *f,
			    uint32_t nr)
{
	char text[STUDY_HANDLE_SZ];

	snprintf(text, sizeof(text), "iss:%" PRIu32, nr + 1);
	json_map(j);
	json_put_text(j, "id", text);
	json_put_text(j, "kind", f->kind);
	json_put_text(j, "severity", issues_severity[f->severity]);
	json_put_text(j, "text", f->text);
	study_json_type(j, s, "type", f->type);
	if (f->place[0])
		json_put_text(j, "place", f->place);
	else
		json_put_null(j, "place");
	json_put_u64(j, "count", f->cnt);
	json_put_u64(j, "worst_ns", f->worst_ns);
	json_put_u64(j, "total_ns", f->total_ns);
	if (f->explained)
		json_put_text(j, "explained_by", f->explained);
	else
		json_put_null(j, "explained_by");
	json_put_text(j, "next", f->next);
	json_key(j, "evidence");
	json_map(j);
	if (f->has_task && f->nr)
		json_put_text(j, "poll", study_poll_handle(text, f->task, f->nr));
	if (f->has_task)
		json_put_u64(j, "task", f->task);
	if (f->has_worker)
		json_put_u64(j, "worker", f->worker);
	if (f->has_span) {
		json_put_u64(j, "from_ns", f->from_ns);
		json_put_u64(j, "to_ns", f->to_ns);
	}
	json_map_end(j);
	json_map_end(j);
}

static void issues_json(struct json *j, struct study *s)
{
	const struct issues *own = s->own;
	const struct findings *f = &own->findings;
	uint64_t rows = study_rows(s, f->cnt);

	json_put_u64(j, "findings", f->cnt + f->over_cap);
	json_key(j, "issues");
	json_list(j);
	for (uint32_t i = 0; i < rows; i++)
		issues_json_one(j, s, &f->at[i], i);
	json_list_end(j);
}

static void issues_done(struct study *s)
{
	struct issues *own = s->own;

	findings_done(&own->findings);
	pains_done(&own->pains);
}

int issues_run(const struct request *req, const struct traceset *set)
{
	static const struct study_ops ops = {
		.schema = "dial9-view.issues/1",
		.own_sz = sizeof(struct issues),
		.with_stacks = true,
		.with_behind = true,
		.slice = pains_slice,
		.poll = pains_poll,
		.wait = pains_wait,
		.off = pains_off,
		.sample = pains_sample,
		.moment = pains_moment,
		.event = pains_event,
		.finish = issues_finish,
		.text = issues_text,
		.json = issues_json,
		.done = issues_done,
	};

	return study_run(req, set, &ops);
}
