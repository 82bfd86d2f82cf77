// SPDX-License-Identifier: Apache-2.0
/* reporttext.c - the page: head, then one table each. */
#include "reporttext.h"

#include "labels.h"
#include "leaftable.h"
#include "offname.h"
#include "plain.h"
#include "report.h"
#include "reportcell.h"
#include "reporthead.h"
#include "tasktable.h"
#include "typetable.h"
#include "workertable.h"

#include <inttypes.h>

/* What was not looked for did not "not happen". */
static void reporttext_blind(FILE *out, const struct report *r)
{
	char text[PLAIN_SZ];

	if (r->blind_ns)
		fprintf(out,
			"  no polls were recorded %s of the time: busy, share and polls are of "
			"the rest\n",
			plain_share(text, r->blind_ns, r->span_ns));
}

static void reporttext_types(FILE *out, const struct report *r, uint64_t top)
{
	uint64_t polls = 0, waits = 0, panicked = 0, cancelled = 0;
	char text[PLAIN_SZ];

	if (r->types_cnt == 0) {
		fputs("\nTASK TYPES: no task was seen\n", out);
		return;
	}
	fprintf(out, "\nTASK TYPES, by time busy\n"
		     "                               --------- poll --------"
		     "     ------ wake-to-poll ----  ------- tasks --------\n"
		     "    busy   share    polls         p50     p99     max"
		     "         p50     p99     max  spawned  alive    ended  type\n");
	for (uint32_t i = 0; i < r->types_cnt; i++) {
		const struct type_row *row = typetable_row(r->account.types, r->types[i]);

		polls += row->polls;
		panicked += row->panicked;
		cancelled += row->cancelled;
		waits += row->wait.cnt;
		if (i >= reportcell_rows(r->types_cnt, top))
			continue;
		reportcell_duration(out, 7, row->poll.cnt > 0, row->busy_ns);
		reportcell_share(out, 7, row->poll.cnt > 0, row->busy_ns, r->busy_ns);
		fprintf(out, " %8" PRIu64 "    ", row->polls);
		reportcell_quantiles(out, &row->poll);
		fputs("    ", out);
		reportcell_quantiles(out, &row->wait);
		fprintf(out, " %8" PRIu64 " %6" PRIu64 " %8" PRIu64 "  ", row->spawned, row->seen,
			row->ended);
		reportcell_name(out, r, row->label);
		fputc('\n', out);
	}
	reportcell_more(out, r->types_cnt, top);
	if (panicked || cancelled)
		fprintf(out, "  of the ended %" PRIu64 " panicked, %" PRIu64 " were cancelled\n",
			panicked, cancelled);
	reporttext_blind(out, r);
	if (r->facts.partial[D9_EV_POLL_START])
		fputs("  partial: polls of some types could not be probed\n", out);
	if (r->facts.partial[D9_EV_WAKE])
		fputs("  partial: wakes by some code could not be probed\n", out);
	if (r->has_waits || waits)
		fprintf(out, "  wake-to-poll is known for %" PRIu64 " of %" PRIu64 " polls (%s)\n",
			waits, polls, plain_share(text, waits, polls));
	else
		fputs("  wake-to-poll is unknown: no wakes were recorded\n", out);
}

static void reporttext_workers(FILE *out, const struct report *r, uint64_t top)
{
	uint64_t unparks = 0, known = 0;
	char text[PLAIN_SZ];

	if (r->workers_cnt == 0)
		return;
	fputs("\nWORKERS\n  id     busy   share  parked   delay between unknown    polls  "
	      "runtime\n",
	      out);
	for (uint32_t i = 0; i < r->workers_cnt; i++) {
		const struct worker *w = workertable_get(r->account.workers, r->workers[i]);

		unparks += w->unparks;
		known += w->delays_known;
		if (i >= reportcell_rows(r->workers_cnt, top))
			continue;
		fprintf(out, "  %-4" PRIu32, r->workers[i]);
		reportcell_duration(out, 7, r->has_polls, w->busy_ns);
		reportcell_share(out, 7, r->has_polls, w->busy_ns, r->span_ns - r->blind_ns);
		reportcell_duration(out, 7, w->parks + w->unparks > 0, w->parked_ns);
		reportcell_duration(out, 7, w->delays_known > 0, w->delayed_ns);
		reportcell_duration(out, 7, true, w->between_ns);
		reportcell_duration(out, 7, true, w->unknown_ns);
		fprintf(out, " %8" PRIu64 "  ", w->polls);
		if (w->runtime == LABEL_UNKNOWN)
			fputs(reportcell_unknown, out);
		else
			reportcell_name(out, r, w->runtime);
		fputc('\n', out);
	}
	reportcell_more(out, r->workers_cnt, top);
	reporttext_blind(out, r);
	if (unparks && known < unparks)
		fprintf(out, "  kernel delay is known for %s of the unparks\n",
			plain_share(text, known, unparks));
}

static void reporttext_longest(FILE *out, const struct report *r)
{
	const struct longpolls *l = &r->account.longest;
	char text[OFFNAME_SZ];

	if (l->cnt == 0)
		return;
	fputs("\nLONGEST POLLS\n   length         start  worker       task  off CPU  mostly in"
	      "        samples  type\n",
	      out);
	for (uint32_t i = 0; i < l->cnt; i++) {
		const struct longpoll *p = &l->polls[i];
		uint64_t at_ns = p->poll.start_ns - r->coverage.first_ns;

		reportcell_duration(out, 8, true, p->ns);
		fprintf(out, "  +%" PRIu64 ".%06u s  %6" PRIu32 " %10" PRIu64 " ",
			at_ns / 1000000000, (unsigned int)(at_ns % 1000000000 / 1000), p->worker,
			p->poll.task);
		reportcell_duration(out, 7, r->has_off, p->poll.off_ns);
		fprintf(out, "  %-15s %8" PRIu32 "  ",
			p->poll.off_ns ? offname(text, p->poll.off_worst) : reportcell_unknown,
			p->poll.samples);
		reportcell_name(out, r, typetable_row(r->account.types, p->poll.type)->label);
		fputc('\n', out);
	}
}

static void reporttext_off(FILE *out, const struct report *r, uint64_t top)
{
	char text[OFFNAME_SZ];

	if (r->off_cnt == 0)
		return;
	fputs("\nOFF CPU INSIDE POLLS\n    total    count      max  in\n", out);
	for (uint32_t i = 0; i < reportcell_rows(r->off_cnt, top); i++) {
		const struct account_off *off = &r->account.off[r->off[i]];

		reportcell_duration(out, 8, true, off->sum_ns);
		fprintf(out, " %8" PRIu64, off->cnt);
		reportcell_duration(out, 8, true, off->max_ns);
		fprintf(out, "  %s\n", offname(text, r->off[i]));
	}
	reportcell_more(out, r->off_cnt, top);
}

static void reporttext_runs(FILE *out, const struct report *r)
{
	const struct busyruns *b = &r->account.runs;
	char text[PLAIN_SZ];

	if (b->cnt == 0)
		return;
	fprintf(out, "\nBUSY RUNS: %" PRIu64 " times one task in all samples of a worker for %s and"
		     " more\n  no polls were recorded: candidates for long polls, but a task that only"
		     " yields looks the same;\n  polls: what those of its type say that were recorded at"
		     " another time\n  at least         start       task  samples  polls      type\n",
		b->long_cnt, plain_duration(text, b->from_ns));
	for (uint32_t i = 0; i < b->cnt; i++) {
		const struct busyrun *run = &b->runs[i];
		const struct type_row *row = account_type_of(&r->account, run->task);
		uint64_t at_ns = run->first_ns - r->coverage.first_ns;

		reportcell_duration(out, 9, true, run->last_ns - run->first_ns);
		fprintf(out, "  +%" PRIu64 ".%06u s %10" PRIu64 " %8" PRIu32 "  %-9s  ",
			at_ns / 1000000000, (unsigned int)(at_ns % 1000000000 / 1000), run->task,
			run->samples,
			row ? busyruns_verdict(run, row->poll.cnt, row->poll.max) : "unknown");
		if (row)
			reportcell_name(out, r, row->label);
		else
			fputs(reportcell_unknown, out);
		fputc('\n', out);
	}
}

static void reporttext_samples(FILE *out, const struct report *r, uint64_t top)
{
	const struct account *a = &r->account;
	uint64_t in_types = 0;
	char text[PLAIN_SZ];

	if (a->samples == 0)
		return;
	fprintf(out,
		"\nCPU SAMPLES: %" PRIu64 ", %" PRIu64 " in polls, %" PRIu64
		" on workers outside polls, %" PRIu64 " in the blocking pool, %" PRIu64
		" elsewhere\n",
		a->samples, a->samples_in_polls, a->samples_between, a->samples_blocking,
		a->samples_unknown);
	if (a->samples_by_id)
		fprintf(out, "  %" PRIu64 " of those in polls are known by the task id that the thread held\n",
			a->samples_by_id);
	if (a->samples_blind)
		fprintf(out, "  %" PRIu64 " on workers while no polls were recorded: in them or not\n",
			a->samples_blind);
	fputs("  samples    share      cpu  of those in polls, by type; cpu is estimated from them\n", out);
	for (uint32_t i = 0, rows = 0; i < r->types_cnt; i++) {
		const struct type_row *row = typetable_row(a->types, r->types[i]);

		if (row->samples == 0 || (top && rows == top))
			continue;
		rows++;
		in_types += row->samples;
		fprintf(out, " %8" PRIu64 " %8s", row->samples,
			plain_share(text, row->samples, a->samples_in_polls));
		reportcell_duration(out, 8, r->sample_ns > 0, row->samples * r->sample_ns);
		fputs("  ", out);
		reportcell_name(out, r, row->label);
		fputc('\n', out);
	}
	if (a->samples_untyped)
		fprintf(out, " %8" PRIu64 " %8s           of tasks whose type is unknown\n",
			a->samples_untyped,
			plain_share(text, a->samples_untyped, a->samples_in_polls));
	in_types += a->samples_untyped;
	if (in_types < a->samples_in_polls)
		fprintf(out, "  ... %" PRIu64 " more samples: --top 0 prints all types\n",
			a->samples_in_polls - in_types);
	fputs("  samples    share  in polls  of all, by function at the top of the stack\n", out);
	for (uint32_t i = 0; i < reportcell_rows(r->leaves_cnt, top); i++) {
		const struct leaf_row *leaf = &r->leaves[i];

		fprintf(out, " %8" PRIu64 " %8s %9" PRIu64 "  ", leaf->samples,
			plain_share(text, leaf->samples, a->samples), leaf->in_polls);
		if (leaf->label != LABEL_UNKNOWN)
			reportcell_name(out, r, leaf->label);
		else if (leaf->addr)
			fprintf(out, "0x%" PRIx64, leaf->addr);
		else
			fputs("(no stack)", out);
		fputc('\n', out);
	}
	reportcell_more(out, r->leaves_cnt, top);
}

static void reporttext_blocking(FILE *out, const struct report *r, uint64_t top)
{
	if (r->account.block_in_places) {
		fprintf(out, "\nBLOCK IN PLACE: %" PRIu64 " hand-offs,", r->account.block_in_places);
		reportcell_duration(out, 0, true, r->account.block_in_place_ns);
		fputs(" without a worker in all\n", out);
	}
	if (r->blocking_cnt == 0)
		return;
	fputs("\nBLOCKING POOL, by time run\n"
	      "                      -------- queued -------     ---------- run --------\n"
	      "     run    tasks         p50     p99     max         p50     p99     max  type\n",
	      out);
	for (uint32_t i = 0; i < reportcell_rows(r->blocking_cnt, top); i++) {
		const struct type_row *row = typetable_row(r->account.types, r->blocking[i]);

		reportcell_duration(out, 7, true, row->run.sum);
		fprintf(out, " %8" PRIu64 "    ", row->blocking);
		reportcell_quantiles(out, &row->queued);
		fputs("    ", out);
		reportcell_quantiles(out, &row->run);
		fputs("  ", out);
		reportcell_name(out, r, row->label);
		fputc('\n', out);
	}
	reportcell_more(out, r->blocking_cnt, top);
}

void reporttext_print(FILE *out, const struct report *r, uint64_t top)
{
	reporthead_print(out, r);
	reporttext_types(out, r, top);
	reporttext_workers(out, r, top);
	reporttext_longest(out, r);
	reporttext_off(out, r, top);
	reporttext_runs(out, r);
	reporttext_samples(out, r, top);
	reporttext_blocking(out, r, top);
}
