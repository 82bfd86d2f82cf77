// SPDX-License-Identifier: Apache-2.0
/* schedtext.c - one table for each analysis. */
#include "schedtext.h"

#include "core/columns.h"
#include "inquiry.h"
#include "plain.h"
#include "schedule.h"

#include <inttypes.h>

static void schedtext_runtime(FILE *out, const struct inquiry *q, uint32_t crew)
{
	const struct schedule *x = q->own;
	char name[4 * 30 + 1];
	size_t len;
	const char *text = columns_text(q->c, x->crews.at[crew].runtime, &len);

	plain_cut(name, sizeof(name), len ? text : "-", len ? len : 1, 30);
	fputs(name, out);
}

static void schedtext_share(FILE *out, int width, bool is_known, uint64_t part, uint64_t whole)
{
	char text[PLAIN_SZ];

	fprintf(out, " %*s", width, is_known ? plain_share(text, part, whole) : "-");
}

static void schedtext_avail(FILE *out, const struct inquiry *q)
{
	const struct schedule *x = q->own;
	char text[PLAIN_SZ];

	fputs("\nAVAILABILITY: was a worker free to take a task? In the worst window of\n"
	      "  workers",
	      out);
	for (int i = 0; i < AVAIL_WINDOWS; i++)
		fprintf(out, " %8s", plain_duration(text, avail_windows_ns[i]));
	fputs("  overall  no one free at longest             at  runtime\n", out);
	for (uint32_t i = 0; i < x->crews.cnt; i++) {
		const struct avail *a = &x->avail[i];
		uint64_t span_ns = a->to_ns - a->from_ns, in_ns;

		if (!crews_pass(&x->crews, i, &q->scope))
			continue;
		fprintf(out, "  %7" PRIu32, x->crews.at[i].cnt);
		for (int k = 0; k < AVAIL_WINDOWS; k++) {
			in_ns = avail_windows_ns[k];
			schedtext_share(out, 8, q->recorded.polls && in_ns <= span_ns,
					in_ns - a->window_ns[k], in_ns);
		}
		schedtext_share(out, 8, q->recorded.polls, span_ns - a->blackout_ns, span_ns);
		inquiry_duration(out, 12, q->recorded.polls, a->blackout_ns);
		inquiry_duration(out, 10, q->recorded.polls, a->longest_ns);
		fputs("  ", out);
		if (a->longest_ns)
			inquiry_when(out, q, a->longest_at_ns);
		else
			fprintf(out, "%13s", "-");
		fputs("  ", out);
		schedtext_runtime(out, q, i);
		fputc('\n', out);
	}
}

static void schedtext_sum(FILE *out, const struct inquiry *q, const char *what,
			  const struct starve_sum *sum, uint32_t workers)
{
	char handle[INQUIRY_HANDLE_SZ];

	fprintf(out, "    %-36s %7" PRIu64, what, sum->cnt);
	inquiry_duration(out, 8, true, sum->ns);
	inquiry_duration(out, 8, sum->cnt > 0, sum->worst_ns);
	fprintf(out, "  %s", inquiry_handle(handle, q->c, sum->worst));
	if (sum->peers)
		fprintf(out, ", %" PRIu32 " of %" PRIu32 " others asleep", sum->peers, workers - 1);
	fputc('\n', out);
}

static void schedtext_starve(FILE *out, const struct inquiry *q)
{
	const struct schedule *x = q->own;

	fputs("\nSTARVATION AND IMBALANCE: waits and polls of 5 ms and more\n", out);
	for (uint32_t i = 0; i < x->crews.cnt; i++) {
		const struct starve *st = &x->starve[i];
		uint32_t workers = x->crews.at[i].cnt;

		if (!crews_pass(&x->crews, i, &q->scope))
			continue;
		fputs("  ", out);
		schedtext_runtime(out, q, i);
		fprintf(out, ": %" PRIu32 " worker%s\n    %-36s %7s %8s %8s  %s\n", workers,
			workers == 1 ? "" : "s", "", "count", "sum", "worst", "the worst");
		if (!q->recorded.wakes)
			fputs("    waits are unknown: no wakes were recorded\n", out);
		if (q->recorded.wakes && workers > 1) {
			schedtext_sum(out, q, "ready while another worker slept", &st->starved,
				      workers);
			schedtext_sum(out, q, "ready while all were at work", &st->saturated,
				      workers);
		} else if (q->recorded.wakes) {
			schedtext_sum(out, q, "ready, and the only worker at work", &st->single,
				      workers);
		}
		if (workers > 1 && st->queue_known)
			schedtext_sum(out, q, "long polls before a queue, likewise", &st->stuck,
				      workers);
		if (workers > 1 && st->queue_unknown)
			fprintf(out,
				"    of %" PRIu64 " long polls the queue behind them is unknown\n",
				st->queue_unknown);
		if (workers > 1 && st->most != COLUMNS_NONE && q->recorded.polls) {
			fprintf(out,
				"    polls: w%" PRIu32 " %" PRIu64 ", w%" PRIu32 " %" PRIu64
				"; time in polls: from",
				q->c->lanes.id[st->most], st->most_polls, q->c->lanes.id[st->least],
				st->least_polls);
			inquiry_duration(out, 0, true, st->busy_least_ns);
			fputs(" to", out);
			inquiry_duration(out, 0, true, st->busy_most_ns);
			fputc('\n', out);
		}
	}
}

static void schedtext_lifo(FILE *out, const struct inquiry *q)
{
	const struct lifo *l = &((const struct schedule *)q->own)->lifo;
	char handle[INQUIRY_HANDLE_SZ];

	if (!q->recorded.wakes) {
		fputs("\nLIFO STALLS: unknown, no wakes were recorded\n", out);
		return;
	}
	fprintf(out,
		"\nLIFO STALLS of 1 ms and more: %" PRIu64 " of %" PRIu64
		" polls that the poll before them woke\n",
		l->stalls, l->woken_polls);
	if (l->cnt)
		fprintf(out, "  %7s %8s %8s  %-16s %-16s %s\n", "count", "sum", "worst", "poll",
			"behind", "type");
	for (uint32_t i = 0; i < inquiry_rows(q, l->cnt); i++) {
		const struct lifo_type *t = &l->at[i];

		fprintf(out, "  %7" PRIu64, t->cnt);
		inquiry_duration(out, 8, true, t->ns);
		inquiry_duration(out, 8, true, t->worst_ns);
		fprintf(out, "  %-16s", inquiry_handle(handle, q->c, t->worst));
		fprintf(out, " %-16s ", inquiry_handle(handle, q->c, t->behind));
		inquiry_type(out, q, t->place);
		fputc('\n', out);
	}
	inquiry_more(out, q, l->cnt);
}

static void schedtext_wakes(FILE *out, const struct inquiry *q)
{
	const struct wakeups *w = &((const struct schedule *)q->own)->wakeups;

	if (!q->recorded.wakes) {
		fputs("\nWAKES: unknown, none were recorded\n", out);
		return;
	}
	fprintf(out, "\nWAKES: %" PRIu64 "%s\n  %9s %9s %9s %9s %9s %9s  %s\n", w->all.wakes,
		q->recorded.all_wakes ? ""
				      : "; redundant ones are not recorded, but for those in polls",
		"wakes", "effective", "in poll", "redundant", "by itself", "yield?", "type");
	for (uint32_t i = 0; i < inquiry_rows(q, w->cnt); i++) {
		const struct wakeups_type *t = &w->at[i];

		fprintf(out, "  %9" PRIu64 " %9" PRIu64 " %9" PRIu64, t->wakes, t->effective,
			t->in_poll);
		if (q->recorded.all_wakes || t->redundant)
			fprintf(out, " %9" PRIu64, t->redundant);
		else
			fprintf(out, " %9s", "-");
		fprintf(out, " %9" PRIu64 " %9" PRIu64 "  ", t->self, t->yields);
		inquiry_type(out, q, t->place);
		fputc('\n', out);
	}
	inquiry_more(out, q, w->cnt);
}

static void schedtext_queue(FILE *out, const struct inquiry *q, const struct buildup_queue *b,
			    const char *name)
{
	fprintf(out, "  %-20s %9" PRIu64, name, b->samples);
	if (b->samples) {
		fprintf(out, " %7" PRIu64 " %7" PRIu64 "  ", b->sum / b->samples, b->max);
		inquiry_when(out, q, b->max_at_ns);
	} else {
		fprintf(out, " %7s %7s  %13s", "-", "-", "-");
	}
	fprintf(out, " %7" PRIu64, b->cnt);
	inquiry_duration(out, 8, b->cnt > 0, b->longest_ns);
	if (b->unknown)
		fprintf(out, "  (%" PRIu64 " unknown)", b->unknown);
	fputc('\n', out);
}

static void schedtext_queues(FILE *out, const struct inquiry *q)
{
	const struct buildup *b = &((const struct schedule *)q->own)->buildup;
	char name[4 * 20 + 1];

	fprintf(out,
		"\nQUEUES: build-ups are of more than %u tasks\n  %-20s %9s %7s %7s  %13s %7s "
		"%8s\n",
		BUILDUP_DEPTH, "", "samples", "mean", "deepest", "at", "buildup", "longest");
	for (uint32_t i = 0; i < b->global_cnt; i++) {
		size_t len;
		const char *p = columns_text(q->c, b->global[i].key, &len);

		plain_cut(name, sizeof(name), len ? p : "(injection)", len ? len : 11, 20);
		schedtext_queue(out, q, &b->global[i], name);
	}
	for (uint32_t i = 0; i < inquiry_rows(q, b->local_cnt); i++) {
		snprintf(name, sizeof(name), "w%" PRIu32, q->c->lanes.id[b->local[i].key]);
		schedtext_queue(out, q, &b->local[i], name);
	}
	inquiry_more(out, q, b->local_cnt);
	if (!b->global_cnt)
		fputs("  injection queues are unknown: no sample was recorded\n", out);
}

static void schedtext_leaks(FILE *out, const struct inquiry *q)
{
	const struct leaks *l = &((const struct schedule *)q->own)->leaks;

	if (!q->recorded.tasks) {
		fputs("\nTASKS ALIVE: unknown, no spawns were recorded\n", out);
		return;
	}
	fprintf(out,
		"\nTASKS ALIVE after a quarter, half, three quarters, all of the time; spawned "
		"before it: %" PRIu64 "\n  %8s %8s %8s %8s %9s %9s %8s  %8s  type\n",
		l->unseen, "1/4", "1/2", "3/4", "end", "spawned", "ended", "churn", "oldest");
	for (uint32_t i = 0; i < inquiry_rows(q, l->cnt); i++) {
		const struct leaks_type *t = &l->at[i];

		fputc(' ', out);
		for (int k = 0; k < LEAKS_QUARTERS; k++)
			fprintf(out, " %8" PRIu64, t->alive[k]);
		fprintf(out, " %9" PRIu64 " %9" PRIu64 " %8" PRIu64 " ", t->spawned, t->ended,
			t->churn);
		inquiry_duration(out, 8, t->oldest_ns > 0, t->oldest_ns);
		fputs(t->is_leak ? "  LEAK " : "  ", out);
		inquiry_type(out, q, t->place);
		fputc('\n', out);
	}
	inquiry_more(out, q, l->cnt);
}

static void schedtext_pool(FILE *out, const struct inquiry *q)
{
	const struct blockpool *p = &((const struct schedule *)q->own)->pool;

	if (!q->recorded.blocking) {
		fputs("\nBLOCKING POOL: unknown, it was not recorded\n", out);
		return;
	}
	fprintf(out,
		"\nBLOCKING POOL: %" PRIu64 " tasks on %" PRIu32 " threads; its limit is not "
		"recorded (512 unless set)\n",
		p->tasks, p->threads);
	if (p->tasks == 0)
		return;
	fprintf(out, "  at work at once: %" PRIu64 " at ", p->most_busy);
	inquiry_when(out, q, p->most_busy_at_ns);
	fprintf(out, "; runs of 10 ms and more: %" PRIu64 "\n  run p50", p->long_cnt);
	inquiry_duration(out, 0, true, histogram_quantile(&p->run, 500));
	fputs(", p99", out);
	inquiry_duration(out, 0, true, histogram_quantile(&p->run, 990));
	fputs(", worst", out);
	inquiry_duration(out, 0, true, p->run.max);
	fprintf(out, "\n  queued, known of %" PRIu64 ": p50", p->queue_known);
	inquiry_duration(out, 0, p->queued.cnt > 0, histogram_quantile(&p->queued, 500));
	fputs(", p99", out);
	inquiry_duration(out, 0, p->queued.cnt > 0, histogram_quantile(&p->queued, 990));
	fputs(", worst", out);
	inquiry_duration(out, 0, p->queued.cnt > 0, p->queued.max);
	fprintf(out, "; %" PRIu64 " at once\n  saturated (a task queued for over 1 ms) for",
		p->most_queued);
	inquiry_duration(out, 0, p->queue_known > 0, p->saturated_ns);
	fputc('\n', out);
}

static void schedtext_spans(FILE *out, const struct inquiry *q)
{
	const struct userspans *x = &((const struct schedule *)q->own)->spans;
	char handle[INQUIRY_HANDLE_SZ];

	if (x->spans == 0 && x->unmatched == 0)
		return; /* only dial9's tracing layer records any */
	fprintf(out,
		"\nSPANS: %" PRIu64 ", %" PRIu64 " entered and not left; polls with more than "
		"%u: %" PRIu64,
		x->spans, x->unmatched, USERSPANS_MANY, x->crowded_polls);
	if (x->located < x->spans)
		fprintf(out, " (of %" PRIu64 " spans the worker is unknown)",
			x->spans - x->located);
	if (x->most > USERSPANS_MANY)
		fprintf(out, ", most %" PRIu32 " in %s", x->most,
			inquiry_handle(handle, q->c, x->most_poll));
	fprintf(out, "\n  %8s %8s %8s %8s %8s  name\n", "spans", "sum", "p50", "max", "outliers");
	for (uint32_t i = 0; i < inquiry_rows(q, x->cnt); i++) {
		const struct userspans_name *n = &x->at[i];

		fprintf(out, "  %8" PRIu64, n->cnt);
		inquiry_duration(out, 8, true, n->sum_ns);
		inquiry_duration(out, 8, true, n->p50_ns);
		inquiry_duration(out, 8, true, n->max_ns);
		fprintf(out, " %8" PRIu64 "  ", n->outliers);
		inquiry_type(out, q, n->name);
		fputc('\n', out);
	}
	inquiry_more(out, q, x->cnt);
}

static void schedtext_summed(FILE *out, const struct inquiry *q)
{
	const struct summed *all = ((const struct schedule *)q->own)->summed;
	char text[PLAIN_SZ];
	bool has_head = false;

	for (uint32_t i = 0; i < q->c->lanes.cnt; i++) {
		if (!all[i].parks || !scope_lane(&q->scope, i))
			continue;
		if (!has_head)
			fputs("\nPARKS ADDED UP: of busy threads while polls were not recorded; how long in all, not"
			      " when:\n  nothing above knows of them\n  worker    parks   parked    share    delay\n",
			      out);
		has_head = true;
		fprintf(out, "  w%-5" PRIu32 " %8" PRIu64, q->c->lanes.id[i], all[i].parks);
		inquiry_duration(out, 8, true, all[i].parked_ns);
		fprintf(out, " %8s",
			plain_share(text, all[i].parked_ns, all[i].to_ns - all[i].from_ns));
		inquiry_duration(out, 8, true, all[i].delayed_ns);
		fputc('\n', out);
	}
}

void schedtext_print(FILE *out, const struct inquiry *q)
{
	schedtext_avail(out, q);
	schedtext_starve(out, q);
	schedtext_lifo(out, q);
	schedtext_wakes(out, q);
	schedtext_queues(out, q);
	schedtext_leaks(out, q);
	schedtext_pool(out, q);
	schedtext_spans(out, q);
	schedtext_summed(out, q);
}
