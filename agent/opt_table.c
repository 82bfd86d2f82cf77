// SPDX-License-Identifier: Apache-2.0
/* opt_table.c - the options, and the help that is printed from them. */
#include "opt_table.h"

#include "opt.h"
#include "plan.h"
#include "segment.h"
#include "wordcache.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#ifndef DIAL9_VERSION
#define DIAL9_VERSION "0.1.0"
#endif

#define MIB (1024ull * 1024)
#define HELP_COLUMNS 80
#define HELP_TEXT_COLUMN 30 /* where the text of an option begins */

static const struct opt_choice opt_levels[] = {
	{ "auto", OPT_LEVEL_AUTO }, { "stat", PLAN_STAT }, { "polls", PLAN_POLLS },
	{ "wakes", PLAN_WAKES },    { "full", PLAN_FULL }, { NULL, 0 }
};
static const struct opt_choice opt_compressions[] = {
	{ "zstd", SEGMENT_ZSTD }, { "gzip", SEGMENT_GZIP }, { "none", SEGMENT_NONE }, { NULL, 0 }
};
const struct opt_choice opt_truths[] = { { "true", 1 }, { "1", 1 },	{ "yes", 1 },
					 { "on", 1 },	{ "false", 0 }, { "0", 0 },
					 { "no", 0 },	{ "off", 0 },	{ NULL, 0 } };

#define AT(member) offsetof(struct opt, member)
#define MB_MAX (1ull << 34) /* 16 PiB: keeps MiB to bytes far from overflow */

/* clang-format off */
const struct opt_entry opt_table[] = {
	{ "pid", 'p', PID, AT(pids), "N", .min = 1, .max = INT_MAX,
	  .help = "process to record; may be repeated" },
	{ "level", 'l', CHOICE, AT(level), "LEVEL", .value = "auto", .choices = opt_levels,
	  .help = "stat, polls, wakes or full, at any cost" },
	{ "max-overhead", 0, SHARE, AT(max_overhead), "N%", .value = "3%", .max = 100,
	  .help = "of its CPU time, or none: levels keep it" },
	{ "on-demand", 0, ON_DEMAND, AT(on_demand), "WHAT", .help = NULL },
	{ "zoom", 0, ZOOM, AT(zoom), "WHAT", .set = OPT_ZOOM,
	  .help = "at SIGUSR1, or e.g. full:9s,poll>5ms; at once" },
	{ "duration", 'd', DURATION, AT(duration_ns), "TIME", .min = 1, .max = 366ull * 86400,
	  .help = "stop after 90, 10s, 5m or 2h" },
	{ "trace-dir", 'o', TEXT, AT(trace_dir), "DIR", "TRACE_DIR", "/var/lib/dial9/traces",
	  .help = "where to" },
	{ NULL, 0, TEXT, AT(task_words), .env = "TASK_WORDS", .value = WORDCACHE_PATH },
	{ "compress", 0, CHOICE, AT(compress), "HOW", .value = "zstd", .choices = opt_compressions,
	  .help = "zstd, gzip or none" },
	{ "rotation-secs", 0, NUMBER, AT(rotation_secs), "N", "ROTATION_SECS", "60",
	  .min = 1, .max = 86400, .scale = 1, .help = "longest time in one segment" },
	{ "max-disk-usage-mb", 0, NUMBER, AT(total_max_sz), "N", "MAX_DISK_USAGE_MB", "1024",
	  .min = 1, .max = MB_MAX, .scale = MIB, .help = "MiB kept of one target" },
	{ "max-file-size-mb", 0, NUMBER, AT(segment_max_sz), "N", "MAX_FILE_SIZE_MB",
	  .min = 1, .max = MB_MAX, .scale = MIB, .help = NULL },
	{ "max-total-mb", 0, NUMBER, AT(dir_max_sz), "N",
	  .min = 1, .max = MB_MAX, .scale = MIB,
	  .help = "MiB a segment; in DIR (no limit)" },
	{ "metadata", 'm', PAIR, AT(metadata), "K=V",
	  .help = "a fact to write into the trace; may be repeated" },
	{ "service-name", 0, TEXT, AT(service_name), "NAME", "SERVICE_NAME", .help = NULL },
	{ "runtime-name", 0, TEXT, AT(runtime_name), "NAME", "RUNTIME_NAME",
	  .help = "names in the trace" },
	{ "cpu-hz", 0, NUMBER, AT(cpu_hz), "N", "CPU_SAMPLE_HZ", "99", .min = 0, .max = 10000,
	  .scale = 1, .help = "CPU samples a second, 0 for none" },
	{ "ring-mb", 0, POWER, AT(ring_sz), "N", .value = "8", .min = 1, .max = 1024, .scale = MIB,
	  .help = "MiB of event ring a CPU, a power of two" },
	{ "allow-stepped", 0, SWITCH, AT(allow_stepped),
	  .help = NULL },
	{ "perf-uprobes", 0, SWITCH, AT(perf_uprobes),
	  .help = "at slow sites too; as before 6.6" },
	{ "wait", 0, SWITCH, AT(wait), .help = NULL },
	{ "best-effort", 0, SWITCH, AT(best_effort),
	  .help = "wait for a Tokio loaded later; warn, do not fail" },
	{ "dry-run", 'n', SWITCH, AT(dry_run), .help = NULL },
	{ "json", 0, SWITCH, AT(json), .help = "print the plan only; print as JSON" },
	{ "quiet", 'q', SWITCH, AT(quiet), .help = NULL },
	{ "verbose", 'v', SWITCH, AT(verbose), .help = "say only errors; say more" },
	{ "version", 'V', COMMAND, .set = OPT_VERSION },
	{ "help", 'h', COMMAND, .set = OPT_HELP, .help = "print that and exit" },
	{ NULL, 0, TRUTH, AT(has_task_events), .env = "TASK_TRACKING_ENABLED", .value = "true" },
	{ NULL, 0, TRUTH, AT(has_tokio_events), .env = "TOKIO_INSTRUMENTATION_ENABLED",
	  .value = "true" },
	/* after CPU_SAMPLE_HZ, which it switches off; --cpu-hz comes later and wins */
	{ NULL, 0, TRUTH, SIZE_MAX, .env = "CPU_PROFILE_ENABLED" },
};
/* clang-format on */

const size_t opt_table_cnt = sizeof(opt_table) / sizeof(opt_table[0]);
_Static_assert(sizeof(opt_table) / sizeof(opt_table[0]) <= OPT_TABLE_MAX, "getopt's tables");

/* Names of the entry and of those that share its line; returns the columns used. */
static int opt_print_names(FILE *out, size_t first, size_t last)
{
	int columns = 0;

	for (size_t i = first; i <= last; i++) {
		const struct opt_entry *e = &opt_table[i];
		const char *arg = i == last && e->arg ? e->arg : NULL;

		columns += fprintf(out, "%s", i == first ? "  " : ", ");
		if (e->letter)
			columns += fprintf(out, "-%c, ", e->letter);
		columns += fprintf(out, "--%s%s%s", e->name, arg ? " " : "", arg ? arg : "");
	}
	return columns;
}

void opt_print_help(FILE *out)
{
	int column;
	size_t first = 0;

	fprintf(out, "usage: dial9-agent [options] --pid N...   |   dial9-agent doctor\n");
	for (size_t i = 0; i < opt_table_cnt; i++) {
		const struct opt_entry *e = &opt_table[i];

		if (!e->name) /* of the environment only: no part of the next line */
			first = i + 1;
		if (!e->name || !e->help)
			continue;
		column = opt_print_names(out, first, i);
		fprintf(out, "%*s%s", column < HELP_TEXT_COLUMN ? HELP_TEXT_COLUMN - column : 2, "",
			e->help);
		fprintf(out, e->value ? " (%s)\n" : "\n", e->value);
		first = i + 1;
	}
	column = fprintf(out, "Flags win over the environment, DIAL9_...:");
	for (size_t i = 0; i < opt_table_cnt; i++) {
		int len = opt_table[i].env ? (int)strlen(opt_table[i].env) + 1 : 0;

		if (len && column + len >= HELP_COLUMNS)
			column = fprintf(out, "\n ") - 1;
		if (len)
			column += fprintf(out, " %s", opt_table[i].env);
	}
	fprintf(out, "\n");
}

void opt_print_version(FILE *out)
{
	fprintf(out, "dial9-agent %s\n", DIAL9_VERSION);
}
