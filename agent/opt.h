/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.h - the command line and the DIAL9_ environment, as one struct.
 *
 * One table (opt.c) makes parsing, defaults and help, so that they cannot disagree. A flag wins
 * over the environment, which wins over the default. A bad value is an error that names the flag
 * or variable and the value; nothing is ever ignored in silence.
 */
#ifndef DIAL9_OPT_H
#define DIAL9_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "trigger.h"

#define OPT_PIDS_MAX 64 /* a further --pid is an error */
#define OPT_PAIRS_MAX 64 /* a further --metadata is an error */
#define OPT_LEVEL_AUTO -1 /* full, or what the budget affords of it */

enum opt_command { OPT_RECORD, OPT_DOCTOR, OPT_ZOOM, OPT_HELP, OPT_VERSION };

struct opt_pair {
	char *key, *value; /* owned; key is never empty */
};

struct opt {
	enum opt_command command;

	pid_t pids[OPT_PIDS_MAX]; /* unique, in the order given; OPT_RECORD has at least one */
	size_t pids_cnt;

	int level; /* enum plan_level: that one, fixed; or OPT_LEVEL_AUTO */
	double max_overhead; /* share of the target's CPU time, 0 = no limit; not if the level is fixed */
	struct trigger_options on_demand; /* a closer look for a while */
	const char *zoom; /* OPT_ZOOM: the look that a running agent is asked for */
	bool allow_stepped; /* take sites the kernel must single-step */
	bool perf_uprobes; /* one perf event a site even where one link for all would do */
	bool has_task_events; /* DIAL9_TASK_TRACKING_ENABLED: spawn and end of tasks */
	bool has_tokio_events; /* DIAL9_TOKIO_INSTRUMENTATION_ENABLED: any uprobe at all */
	uint64_t cpu_hz; /* CPU samples a second and CPU, 0 = none */
	uint64_t ring_sz; /* bytes of the event ring of each CPU, a power of two */
	uint64_t duration_ns; /* 0 = until a signal or the target's end */

	const char *trace_dir; /* borrowed from argv or the environment, as all strings but pairs */
	const char *task_words; /* DIAL9_TASK_WORDS: the file for wordcache.h */
	int compress; /* enum segment_compress */
	uint64_t rotation_secs;
	uint64_t total_max_sz; /* bytes one target's directory may hold */
	uint64_t segment_max_sz; /* bytes of one segment, 0 = min(100 MiB, total / 4) */
	uint64_t dir_max_sz; /* bytes the whole trace dir may hold, 0 = no such limit */

	const char *service_name; /* NULL = none */
	const char *runtime_name; /* NULL = derive it */
	struct opt_pair metadata[OPT_PAIRS_MAX]; /* in the order given; a later key wins */
	size_t metadata_cnt;

	bool dry_run; /* print the plan, attach nothing */
	bool json; /* print what is printed on standard output as JSON */
	bool wait; /* a target that carries no Tokio yet is waited for */
	bool best_effort; /* a target that cannot be recorded is a warning, not a failure */
	bool quiet, verbose; /* at most one is set, the last one given */
};

/*
 * Fills *ret from the defaults, the environment and argv (which getopt may reorder). 0, or
 * -EINVAL after one logged line that says what is wrong: the program then exits with 2.
 * opt_done frees what it holds, in either case.
 */
int opt_parse(int argc, char **argv, struct opt *ret);
void opt_done(struct opt *o);

/* The level to begin with, and the highest that may be taken, as enum plan_level. */
int opt_base_level(const struct opt *o);
int opt_top_level(const struct opt *o);
/* The one whose sites are planned: by some probes level stat learns to do without (calibration.h). */
int opt_plan_level(const struct opt *o);

/* The help of one 80x24 screen, and "dial9-agent <version>". */
void opt_print_help(FILE *out);
void opt_print_version(FILE *out);

#endif /* DIAL9_OPT_H */
