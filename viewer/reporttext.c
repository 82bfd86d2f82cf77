// SPDX-License-Identifier: Apache-2.0
/* reporttext.c - the page: head, then one table each. */
#include "reporttext.h"

#include "labels.h"
#include "leaftable.h"
#include "offname.h"
#include "plain.h"
#include "report.h"
#include "reorder.h"
#include "tasktable.h"
#include "typetable.h"
#include "workertable.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define REPORTTEXT_NAME_COLUMNS 60 /* of a type or symbol: its end is kept */

static const char *const reporttext_unknown = "-";

static void reporttext_name(FILE *out, const struct report *r, uint32_t label)
{
	char name[4 * REPORTTEXT_NAME_COLUMNS + 1];
	const char *text;
	size_t len;

	text = labels_text(r->labels, label, &len);
	plain_cut_type(name, sizeof(name), text, len, REPORTTEXT_NAME_COLUMNS);
	fputs(name, out);
}

static void reporttext_duration(FILE *out, int width, bool is_known, uint64_t ns)
{
	char text[PLAIN_SZ];

	fprintf(out, " %*s", width, is_known ? plain_duration(text, ns) : reporttext_unknown);
}

static void reporttext_share(FILE *out, int width, bool is_known, uint64_t part, uint64_t whole)
{
	char text[PLAIN_SZ];

	fprintf(out, " %*s", width, is_known ? plain_share(text, part, whole) : reporttext_unknown);
}

static void reporttext_quantiles(FILE *out, const struct histogram *h)
{
	reporttext_duration(out, 7, h->cnt > 0, histogram_quantile(h, 500));
	reporttext_duration(out, 7, h->cnt > 0, histogram_quantile(h, 990));
	reporttext_duration(out, 7, h->cnt > 0, h->max);
}

/* How many rows of `cnt` are printed, and the line that says how many are not. */
static uint64_t reporttext_rows(uint64_t cnt, uint64_t top)
{
	return top && top < cnt ? top : cnt;
}

static void reporttext_more(FILE *out, uint64_t cnt, uint64_t top)
{
	if (top && top < cnt)
		fprintf(out, "  ... %" PRIu64 " more: --top 0 prints all\n", cnt - top);
}

static void reporttext_when(FILE *out, const struct report *r)
{
	const struct coverage *c = &r->coverage;
	uint64_t start_ns = c->clock_real_ns - (c->clock_mono_ns - c->first_ns);
	time_t secs = (time_t)(start_ns / 1000000000);
	char day[32], text[PLAIN_SZ];
	struct tm tm;

	fprintf(out, "  time      ");
	if (c->has_clock && gmtime_r(&secs, &tm) &&
	    strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm))
		fprintf(out, "%s.%03u UTC, ", day, (unsigned int)(start_ns % 1000000000 / 1000000));
	fprintf(out, "%s, %" PRIu32 " segment%s, %" PRIu64 " events\n",
		plain_duration(text, r->span_ns), c->files, c->files == 1 ? "" : "s", c->events);
}

static void reporttext_level(FILE *out, const struct report *r)
{
	const struct coverage *c = &r->coverage;
	uint64_t known_ns = 0;
	char text[PLAIN_SZ];

	if (c->levels_cnt == 0 && c->type_levels == 0)
		return; /* not a recording of dial9-agent */
	fprintf(out, "  level     ");
	for (uint32_t i = 0; i < c->levels_cnt; i++) {
		known_ns += c->levels[i].ns;
		fputs(i ? ", " : "", out);
		reporttext_name(out, r, c->levels[i].level);
		fprintf(out, " %s (", plain_share(text, c->levels[i].ns, r->span_ns));
		fputs(coverage_infers(c, i) ? "all poll ends are " : "poll ends ", out);
		reporttext_name(out, r, c->levels[i].ends);
		fputc(')', out);
	}
	if (known_ns < r->span_ns)
		fprintf(out, "%sunknown %s", c->levels_cnt ? ", " : "",
			plain_share(text, r->span_ns - known_ns, r->span_ns));
	fputc('\n', out);
	if (c->type_levels)
		fprintf(out, "            some types at a lower level %s of the time\n",
			plain_share(text, c->partial_ns, r->span_ns));
	if (c->levels_cnt > 1 || c->type_levels)
		fprintf(out, "            polls, wakes, spawns: of the time at a level that records them\n");
}

static void reporttext_losses(FILE *out, const struct report *r)
{
	uint64_t evicted = seam_evicted(r->recording);
	const struct coverage *c = &r->coverage;
	char text[PLAIN_SZ];

	fprintf(out, "  lost      %" PRIu64 " events (%s)\n", coverage_lost(c),
		plain_share(text, coverage_lost(c), coverage_lost(c) + c->events));
	for (uint32_t i = 0; i < c->losses_cnt; i++) {
		fprintf(out, "  %s    %" PRIu64 " ", c->losses[i].is_flaw ? "flawed" : "      ",
			c->losses[i].count);
		reporttext_name(out, r, c->losses[i].kind);
		fputs(": ", out);
		reporttext_name(out, r, c->losses[i].cause);
		if (c->losses[i].ns && !c->losses[i].is_flaw)
			fprintf(out, ", within %s", plain_duration(text, c->losses[i].ns));
		fputc('\n', out);
	}
	if (c->holes)
		fprintf(out, "  missing   segments at %" PRIu32 " place%s, %s of time\n", c->holes,
			c->holes == 1 ? "" : "s", plain_duration(text, c->gap_ns));
	if (evicted)
		fprintf(out, "  missing   segments 0-%" PRIu64 " are gone (evicted)\n", evicted - 1);
	if (c->sessions)
		fprintf(out, "  sessions  %" PRIu32 ", %s between them not recorded\n",
			c->sessions + 1, plain_duration(text, c->pause_ns));
	if (c->damaged_files || c->open_files)
		fprintf(out, "  segments  %" PRIu32 " damaged, %" PRIu32 " still open\n",
			c->damaged_files, c->open_files);
}

/* What a cap or a broken event left out: each line only if there is something to say. */
static void reporttext_limits(FILE *out, const struct report *r)
{
	const struct {
		uint64_t cnt;
		const char *what;
	} lines[] = {
		{ r->coverage.broken, "events lacked a field they must have" },
		{ reorder_late(r->reorder), "events came too late to be put in order" },
		{ tasktable_over_cap(r->account.tasks), "events of tasks beyond the table's cap" },
		{ labels_over_cap(r->labels), "strings beyond the cap, called (other)" },
		{ r->account.over_worker_cap, "events of worker ids of 4096 and more" },
		{ r->account.stray_ends, "poll ends without a start" },
		{ r->coverage.facts_over_cap, "metadata keys beyond the cap" },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (lines[i].cnt)
			fprintf(out, "  note      %" PRIu64 " %s\n", lines[i].cnt, lines[i].what);
}

static void reporttext_head(FILE *out, const struct report *r)
{
	const struct coverage *c = &r->coverage;
	uint32_t service = coverage_fact(c, "service_name");
	char text[PLAIN_SZ], more[PLAIN_SZ];

	plain_write(out, r->recording->name, strlen(r->recording->name));
	if (service != LABEL_UNKNOWN) {
		fputs("  ", out);
		reporttext_name(out, r, service);
	}
	if (c->has_pid)
		fprintf(out, "  pid %" PRIu32, c->pid);
	fputc('\n', out);
	reporttext_when(out, r);
	reporttext_level(out, r);
	if (c->levels_cnt || c->losses_cnt || c->holes || c->damaged_files || c->open_files)
		reporttext_losses(out, r);
	if (c->single_ends)
		fprintf(out, "  inferred  %" PRIu64 " single poll ends\n", c->single_ends);
	if (c->self_ns)
		fprintf(out, "  cost      agent %s of a CPU, target about %s of a CPU\n",
			plain_share(text, c->self_cpu_ns, c->self_ns),
			plain_share(more, c->target_cost_ns, c->self_ns));
	reporttext_limits(out, r);
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
		if (i >= reporttext_rows(r->types_cnt, top))
			continue;
		reporttext_duration(out, 7, row->poll.cnt > 0, row->busy_ns);
		reporttext_share(out, 7, row->poll.cnt > 0, row->busy_ns, r->busy_ns);
		fprintf(out, " %8" PRIu64 "    ", row->polls);
		reporttext_quantiles(out, &row->poll);
		fputs("    ", out);
		reporttext_quantiles(out, &row->wait);
		fprintf(out, " %8" PRIu64 " %6" PRIu64 " %8" PRIu64 "  ", row->spawned, row->seen,
			row->ended);
		reporttext_name(out, r, row->label);
		fputc('\n', out);
	}
	reporttext_more(out, r->types_cnt, top);
	if (panicked || cancelled)
		fprintf(out, "  of the ended %" PRIu64 " panicked, %" PRIu64 " were cancelled\n",
			panicked, cancelled);
	if (r->facts.partial[D9_EV_POLL_START])
		fputs("  partial: polls of some types could not be probed\n", out);
	if (r->facts.partial[D9_EV_WAKE])
		fputs("  partial: wakes by some code could not be probed\n", out);
	if (r->has_waits)
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
		if (i >= reporttext_rows(r->workers_cnt, top))
			continue;
		fprintf(out, "  %-4" PRIu32, r->workers[i]);
		reporttext_duration(out, 7, r->has_polls, w->busy_ns);
		reporttext_share(out, 7, r->has_polls, w->busy_ns, r->span_ns);
		reporttext_duration(out, 7, w->parks + w->unparks > 0, w->parked_ns);
		reporttext_duration(out, 7, w->delays_known > 0, w->delayed_ns);
		reporttext_duration(out, 7, true, w->between_ns);
		reporttext_duration(out, 7, true, w->unknown_ns);
		fprintf(out, " %8" PRIu64 "  ", w->polls);
		if (w->runtime == LABEL_UNKNOWN)
			fputs(reporttext_unknown, out);
		else
			reporttext_name(out, r, w->runtime);
		fputc('\n', out);
	}
	reporttext_more(out, r->workers_cnt, top);
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

		reporttext_duration(out, 8, true, p->ns);
		fprintf(out, "  +%" PRIu64 ".%06u s  %6" PRIu32 " %10" PRIu64 " ",
			at_ns / 1000000000, (unsigned int)(at_ns % 1000000000 / 1000), p->worker,
			p->poll.task);
		reporttext_duration(out, 7, r->has_off, p->poll.off_ns);
		fprintf(out, "  %-15s %8" PRIu32 "  ",
			p->poll.off_ns ? offname(text, p->poll.off_worst) : reporttext_unknown,
			p->poll.samples);
		reporttext_name(out, r, typetable_row(r->account.types, p->poll.type)->label);
		fputc('\n', out);
	}
}

static void reporttext_off(FILE *out, const struct report *r, uint64_t top)
{
	char text[OFFNAME_SZ];

	if (r->off_cnt == 0)
		return;
	fputs("\nOFF CPU INSIDE POLLS\n    total    count      max  in\n", out);
	for (uint32_t i = 0; i < reporttext_rows(r->off_cnt, top); i++) {
		const struct account_off *off = &r->account.off[r->off[i]];

		reporttext_duration(out, 8, true, off->sum_ns);
		fprintf(out, " %8" PRIu64, off->cnt);
		reporttext_duration(out, 8, true, off->max_ns);
		fprintf(out, "  %s\n", offname(text, r->off[i]));
	}
	reporttext_more(out, r->off_cnt, top);
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
		" elsewhere\n  samples    share  of those in polls, by type\n",
		a->samples, a->samples_in_polls, a->samples_between, a->samples_blocking,
		a->samples_unknown);
	for (uint32_t i = 0, rows = 0; i < r->types_cnt; i++) {
		const struct type_row *row = typetable_row(a->types, r->types[i]);

		if (row->samples == 0 || (top && rows == top))
			continue;
		rows++;
		in_types += row->samples;
		fprintf(out, " %8" PRIu64 " %8s  ", row->samples,
			plain_share(text, row->samples, a->samples_in_polls));
		reporttext_name(out, r, row->label);
		fputc('\n', out);
	}
	if (in_types < a->samples_in_polls)
		fprintf(out, "  ... %" PRIu64 " more samples: --top 0 prints all types\n",
			a->samples_in_polls - in_types);
	fputs("  samples    share  in polls  of all, by function at the top of the stack\n", out);
	for (uint32_t i = 0; i < reporttext_rows(r->leaves_cnt, top); i++) {
		const struct leaf_row *leaf = &r->leaves[i];

		fprintf(out, " %8" PRIu64 " %8s %9" PRIu64 "  ", leaf->samples,
			plain_share(text, leaf->samples, a->samples), leaf->in_polls);
		if (leaf->label != LABEL_UNKNOWN)
			reporttext_name(out, r, leaf->label);
		else if (leaf->addr)
			fprintf(out, "0x%" PRIx64, leaf->addr);
		else
			fputs("(no stack)", out);
		fputc('\n', out);
	}
	reporttext_more(out, r->leaves_cnt, top);
}

static void reporttext_blocking(FILE *out, const struct report *r, uint64_t top)
{
	if (r->account.block_in_places) {
		fprintf(out, "\nBLOCK IN PLACE: %" PRIu64 " hand-offs,", r->account.block_in_places);
		reporttext_duration(out, 0, true, r->account.block_in_place_ns);
		fputs(" without a worker in all\n", out);
	}
	if (r->blocking_cnt == 0)
		return;
	fputs("\nBLOCKING POOL, by time run\n"
	      "                      -------- queued -------     ---------- run --------\n"
	      "     run    tasks         p50     p99     max         p50     p99     max  type\n",
	      out);
	for (uint32_t i = 0; i < reporttext_rows(r->blocking_cnt, top); i++) {
		const struct type_row *row = typetable_row(r->account.types, r->blocking[i]);

		reporttext_duration(out, 7, true, row->run.sum);
		fprintf(out, " %8" PRIu64 "    ", row->blocking);
		reporttext_quantiles(out, &row->queued);
		fputs("    ", out);
		reporttext_quantiles(out, &row->run);
		fputs("  ", out);
		reporttext_name(out, r, row->label);
		fputc('\n', out);
	}
	reporttext_more(out, r->blocking_cnt, top);
}

void reporttext_print(FILE *out, const struct report *r, uint64_t top)
{
	reporttext_head(out, r);
	reporttext_types(out, r, top);
	reporttext_workers(out, r, top);
	reporttext_longest(out, r);
	reporttext_off(out, r, top);
	reporttext_samples(out, r, top);
	reporttext_blocking(out, r, top);
}
