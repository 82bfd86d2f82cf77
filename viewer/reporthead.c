// SPDX-License-Identifier: Apache-2.0
/* reporthead.c - time, level, losses, cost, and what caps left out. */
#include "reporthead.h"

#include "labels.h"
#include "plain.h"
#include "relay.h"
#include "report.h"
#include "reportcell.h"
#include "tasktable.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static void reporthead_when(FILE *out, const struct report *r)
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

#define REPORTHEAD_TYPES_MAX 8 /* types at a level of their own that are named */

static void reporthead_level(FILE *out, const struct report *r)
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
		reportcell_name(out, r, c->levels[i].level);
		fprintf(out, " %s (", plain_share(text, c->levels[i].ns, r->span_ns));
		fputs(coverage_infers(c, i) ? "all poll ends are " : "poll ends ", out);
		reportcell_name(out, r, c->levels[i].ends);
		fputc(')', out);
	}
	if (known_ns < r->span_ns)
		fprintf(out, "%sunknown %s", c->levels_cnt ? ", " : "",
			plain_share(text, r->span_ns - known_ns, r->span_ns));
	fputc('\n', out);
	if (c->type_levels)
		fprintf(out, "            some types at a lower level %s of the time\n",
			plain_share(text, c->partial_ns, r->span_ns));
	for (uint32_t i = 0; i < c->types_cnt && i < REPORTHEAD_TYPES_MAX; i++) {
		fputs("              ", out);
		reportcell_name(out, r, c->types[i].level);
		fprintf(out, " %s  ", plain_share(text, c->types[i].ns, r->span_ns));
		reportcell_name(out, r, c->types[i].type);
		fputc('\n', out);
	}
	if (c->types_cnt > REPORTHEAD_TYPES_MAX)
		fprintf(out, "              and %" PRIu32 " more: --json lists them\n",
			c->types_cnt - REPORTHEAD_TYPES_MAX);
	if (c->levels_cnt > 1 || c->type_levels)
		fprintf(out, "            polls, wakes, spawns: of the time at a level that records them\n");
}

static void reporthead_losses(FILE *out, const struct report *r)
{
	uint64_t evicted = seam_evicted(r->recording);
	const struct coverage *c = &r->coverage;
	char text[PLAIN_SZ];

	fprintf(out, "  lost      %" PRIu64 " events (%s)\n", coverage_lost(c),
		plain_share(text, coverage_lost(c), coverage_lost(c) + c->events));
	for (uint32_t i = 0; i < c->losses_cnt; i++) {
		fprintf(out, "  %s    %" PRIu64 " ", c->losses[i].is_flaw ? "flawed" : "      ",
			c->losses[i].count);
		reportcell_name(out, r, c->losses[i].kind);
		fputs(": ", out);
		reportcell_name(out, r, c->losses[i].cause);
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
static void reporthead_limits(FILE *out, const struct report *r)
{
	const struct {
		uint64_t cnt;
		const char *what;
	} lines[] = {
		{ r->coverage.broken, "events lacked a field they must have" },
		{ relay_late(r->relay), "events came too late to be put in order" },
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

void reporthead_print(FILE *out, const struct report *r)
{
	const struct coverage *c = &r->coverage;
	uint32_t service = coverage_fact(c, "service_name");
	char text[PLAIN_SZ], more[PLAIN_SZ];

	plain_write(out, r->recording->name, strlen(r->recording->name));
	if (service != LABEL_UNKNOWN) {
		fputs("  ", out);
		reportcell_name(out, r, service);
	}
	if (c->has_pid)
		fprintf(out, "  pid %" PRIu32, c->pid);
	fputc('\n', out);
	reporthead_when(out, r);
	reporthead_level(out, r);
	if (c->levels_cnt || c->losses_cnt || c->holes || c->damaged_files || c->open_files)
		reporthead_losses(out, r);
	if (c->single_ends)
		fprintf(out, "  inferred  %" PRIu64 " single poll ends\n", c->single_ends);
	if (c->self_ns)
		fprintf(out, "  cost      agent %s of a CPU, target about %s of a CPU\n",
			plain_share(text, c->self_cpu_ns, c->self_ns),
			plain_share(more, c->target_cost_ns, c->self_ns));
	reporthead_limits(out, r);
}
