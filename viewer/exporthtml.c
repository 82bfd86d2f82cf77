// SPDX-License-Identifier: Apache-2.0
/*
 * exporthtml.c - a recording as one page to be mailed: findings, timeline, tables, flame graphs.
 * The figures are those of `issues` and `report`; the drawings are of the columns.
 */
#include "command.h"
#include "core/columns.h"
#include "export.h"
#include "facts.h"
#include "html.h"
#include "judge.h"
#include "labels.h"
#include "leaftable.h"
#include "notice.h"
#include "offname.h"
#include "pains.h"
#include "plain.h"
#include "report.h"
#include "study.h"
#include "tasktable.h"
#include "typetable.h"
#include "workertable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HTML_ROWS 40u /* of a table; further ones are counted below it */

struct exporthtml {
	struct pains pains; /* first: judge.h */
	struct findings findings;
};

static void put_more(FILE *out, uint64_t cnt, uint64_t shown)
{
	if (cnt > shown)
		fprintf(out, "<p class=\"note\">%" PRIu64 " more: dial9-view prints all.</p>\n",
			cnt - shown);
}

static void put_label(FILE *out, const struct study *s, uint32_t label)
{
	size_t len;
	const char *p = labels_text(s->report->labels, label, &len);

	html_cell(out, p, len);
}

static void put_note(FILE *out, const char *text)
{
	fprintf(out, "<p class=\"note\">%s</p>\n", text);
}

/* ---- head ---- */

static void put_wall_clock(FILE *out, const struct study *s)
{
	const struct coverage *c = &s->report->coverage;
	time_t s_unix =
		(time_t)((c->clock_real_ns - (c->clock_mono_ns - c->first_ns)) / 1000000000u);
	char text[40];
	struct tm tm;

	if (!c->has_clock || !gmtime_r(&s_unix, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fprintf(out, ", from %s", text);
}

static void put_head(FILE *out, const struct study *s)
{
	const struct coverage *c = &s->report->coverage;
	char span[PLAIN_SZ];

	fprintf(out, "<p>%" PRIu64 " events over %s", c->events,
		plain_duration(span, s->report->span_ns));
	if (c->has_pid)
		fprintf(out, " of process %" PRIu32, c->pid);
	put_wall_clock(out, s);
	fputs(".</p>\n", out);
	if (s->req->has_from || s->req->has_to || s->req->has_task || s->req->has_worker ||
	    s->req->type || s->req->runtime)
		put_note(out,
			 "Filtered: findings and drawings are of a part of it, the tables of all.");
	if (coverage_lost(c) || c->holes || c->damaged_files)
		fprintf(out,
			"<p class=\"warning\">Incomplete: %" PRIu64 " events lost, %" PRIu32
			" segments missing, %" PRIu32 " damaged.</p>\n",
			coverage_lost(c), c->holes, c->damaged_files);
	if (!s->report->has_waits)
		put_note(out, "Wakes were not recorded: how long tasks waited is unknown.");
	if (!s->report->has_polls)
		put_note(out, "Polls were not recorded one by one.");
}

/* ---- findings ---- */

static void put_finding(FILE *out, const struct study *s, const struct finding *f)
{
	static const char *const severity[] = { "info", "warning", "critical" };
	char text[STUDY_HANDLE_SZ];

	html_row(out);
	fprintf(out, "<td class=\"%s\">%s</td>", severity[f->severity], severity[f->severity]);
	fputs("<td>", out);
	html_text(out, f->kind);
	fputs("</td><td><p>", out);
	html_text(out, f->text);
	fputs("</p>", out);
	if (f->place[0]) {
		fputs("<p>at ", out);
		html_text(out, f->place);
		fputs("</p>", out);
	}
	if (f->has_task && f->nr) {
		fputs("<p class=\"note\">", out);
		html_text(out, study_poll_handle(text, f->task, f->nr));
		fputs("</p>", out);
	}
	fputs("<p class=\"note\">", out);
	html_text(out, f->next);
	fputs("</p></td>", out);
	if (f->type == TASK_TYPE_NONE)
		html_cell(out, "", 0);
	else
		put_label(out, s, typetable_row(s->report->account.types, f->type)->label);
	html_row_end(out);
}

static void put_findings(FILE *out, const struct study *s, const struct findings *f)
{
	static const char *const heads[] = { "severity", "kind", "what", "task type", NULL };
	uint32_t shown = f->cnt < HTML_ROWS ? f->cnt : HTML_ROWS;

	html_section(out, "Findings");
	if (f->cnt == 0) {
		put_note(out, "None. What was not recorded is unknown.");
		return;
	}
	html_table(out, heads);
	for (uint32_t i = 0; i < shown; i++)
		put_finding(out, s, &f->at[i]);
	html_table_end(out);
	put_more(out, f->cnt + f->over_cap, shown);
}

/* ---- tables ---- */

static void put_types(FILE *out, const struct study *s)
{
	static const char *const heads[] = { "task type", "#polls",    "#busy",		"#share",
					     "#p50",	  "#p99",      "#longest",	"#off CPU",
					     "#wait p50", "#wait p99", "#longest wait", NULL };
	const struct report *r = s->report;
	uint32_t shown = r->types_cnt < HTML_ROWS ? r->types_cnt : HTML_ROWS;

	html_section(out, "Task types");
	html_table(out, heads);
	for (uint32_t i = 0; i < shown; i++) {
		const struct type_row *t = typetable_row(r->account.types, r->types[i]);
		bool has_poll = t->poll.cnt > 0, has_wait = t->wait.cnt > 0;

		html_row(out);
		put_label(out, s, t->label);
		html_number(out, t->polls);
		html_duration(out, has_poll, t->busy_ns);
		html_share(out, t->busy_ns, r->busy_ns);
		html_duration(out, has_poll, histogram_quantile(&t->poll, 500));
		html_duration(out, has_poll, histogram_quantile(&t->poll, 990));
		html_duration(out, has_poll, t->poll.max);
		html_duration(out, r->has_off, t->off_cpu_ns);
		html_duration(out, has_wait, histogram_quantile(&t->wait, 500));
		html_duration(out, has_wait, histogram_quantile(&t->wait, 990));
		html_duration(out, has_wait, t->wait.max);
		html_row_end(out);
	}
	html_table_end(out);
	put_more(out, r->types_cnt, shown);
}

static void put_workers(FILE *out, const struct study *s)
{
	static const char *const heads[] = { "worker",	 "#busy",    "#parked", "#kernel delay",
					     "#between", "#unknown", "#polls",	NULL };
	const struct report *r = s->report;
	uint32_t shown = r->workers_cnt < HTML_ROWS ? r->workers_cnt : HTML_ROWS;

	html_section(out, "Workers");
	html_table(out, heads);
	for (uint32_t i = 0; i < shown; i++) {
		const struct worker *w = workertable_get(r->account.workers, r->workers[i]);
		char name[24];

		snprintf(name, sizeof(name), "%" PRIu32, r->workers[i]);
		html_row(out);
		html_cell(out, name, strlen(name));
		if (r->has_polls)
			html_share(out, w->busy_ns, r->span_ns);
		else
			html_duration(out, false, 0);
		html_share(out, w->parked_ns, r->span_ns);
		html_duration(out, w->delays_known > 0, w->delayed_ns);
		html_share(out, w->between_ns, r->span_ns);
		html_share(out, w->unknown_ns, r->span_ns);
		html_number(out, w->polls);
		html_row_end(out);
	}
	html_table_end(out);
	put_more(out, r->workers_cnt, shown);
}

static void put_longest(FILE *out, const struct study *s)
{
	static const char *const heads[] = { "task type",    "#length", "#off CPU", "in",
					     "#since start", "#worker", "#task",    NULL };
	const struct longpolls *l = &s->report->account.longest;
	char in[OFFNAME_SZ];

	html_section(out, "Longest polls");
	html_table(out, heads);
	for (uint32_t i = 0; i < l->cnt; i++) {
		const struct longpoll *p = &l->polls[i];

		html_row(out);
		put_label(out, s, typetable_row(s->report->account.types, p->poll.type)->label);
		html_duration(out, true, p->ns);
		html_duration(out, s->report->has_off, p->poll.off_ns);
		if (p->poll.off_ns)
			offname(in, p->poll.off_worst);
		else
			in[0] = '\0';
		html_cell(out, in, strlen(in));
		html_duration(out, true, p->poll.start_ns - s->report->coverage.first_ns);
		html_number(out, p->worker);
		html_number(out, p->poll.task);
		html_row_end(out);
	}
	html_table_end(out);
}

static void put_facts(FILE *out, const struct study *s)
{
	static const char *const heads[] = { "key", "value", NULL };
	const struct coverage *c = &s->report->coverage;

	fputs("<details>\n<summary>What the recording says about itself</summary>\n", out);
	html_table(out, heads);
	for (uint32_t i = 0; i < c->facts_cnt; i++) {
		html_row(out);
		put_label(out, s, c->facts[i].key);
		put_label(out, s, c->facts[i].value);
		html_row_end(out);
	}
	html_table_end(out);
	fputs("</details>\n", out);
}

/* ---- the page ---- */

static int exporthtml_finish(struct study *s)
{
	struct exporthtml *own = s->own;

	return judge(s, &own->findings);
}

static void exporthtml_text(FILE *unused, struct study *s)
{
	const struct export *x = s->ctx;
	const struct exporthtml *own = s->own;
	FILE *out = x->out;

	(void)unused; /* standard output: this goes to a file */
	html_begin(out, x->name);
	put_head(out, s);
	put_findings(out, s, &own->findings);
	html_section(out, "Timeline");
	html_lanes(out, x->c);
	put_types(out, s);
	put_workers(out, s);
	put_longest(out, s);
	html_section(out, "CPU samples");
	if (html_flame(out, x->c, false) != 0)
		s->err = -ENOMEM;
	html_section(out, "Without CPU, inside polls");
	if (html_flame(out, x->c, true) != 0)
		s->err = -ENOMEM;
	put_facts(out, s);
	html_end(out);
}

static void exporthtml_done(struct study *s)
{
	struct exporthtml *own = s->own;

	findings_done(&own->findings);
	pains_done(&own->pains);
}

int export_html(const struct export *x, const struct request *req, const struct traceset *set)
{
	const struct study_ops ops = {
		.ctx = (void *)(uintptr_t)x, /* only read */
		.own_sz = sizeof(struct exporthtml),
		.with_stacks = true,
		.with_behind = true,
		.is_bare = true,
		.slice = pains_slice,
		.poll = pains_poll,
		.wait = pains_wait,
		.off = pains_off,
		.moment = pains_moment,
		.event = pains_event,
		.finish = exporthtml_finish,
		.text = exporthtml_text,
		.done = exporthtml_done,
	};
	int code;

	notice_mute(true); /* what is wrong with the files was said when they were read for x->c */
	code = study_run(req, set, &ops);
	notice_mute(false);
	if (code == EXIT_OK || code == EXIT_PARTIAL)
		return 0;
	return notice(-ENOMEM, "%s: cannot be made a page of: out of memory", x->name);
}
