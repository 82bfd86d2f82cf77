// SPDX-License-Identifier: Apache-2.0
/* viewer_main.c - dial9-view: the table of commands, and the way from argv to one of them. */
#include "blame.h"
#include "command.h"
#include "convert.h"
#include "diff.h"
#include "dump.h"
#include "export.h"
#include "flame.h"
#include "guide.h"
#include "hist.h"
#include "issues.h"
#include "notice.h"
#include "pagelink.h"
#include "path.h"
#include "polls.h"
#include "report.h"
#include "schedule.h"
#include "serve.h"
#include "tasks.h"
#include "sql.h"
#include "traceset.h"
#include "verify.h"
#include "waits.h"
#include "workers.h"

#include <errno.h>
#include <string.h>

const struct command command_table[] = {
	{ "serve", "[--json] [--listen ADDRESS] [--port PORT] FILE|DIR",
	  "a page on it in your browser: timeline, findings, flamegraphs",
	  "Prints the URL of the page. Only this machine can open it, and only pages of its\n"
	  "own may ask it. On another address than loopback a token is needed, which stands\n"
	  "in the printed URL. New segments appear on the page as they are written.\n",
	  COMMAND_JSON | COMMAND_SERVE, 0, serve_run },
	{ "report", "[--json] [--top N] FILE|DIR",
	  "what the tasks and workers did: types, waits, long polls, samples",
	  "One page for each recording: how much of the time it covers at which level, what\n"
	  "was lost, and tables of task types, workers, the longest polls, time off CPU\n"
	  "inside polls, CPU samples and the blocking pool. Quantiles are within 1 %.\n"
	  "A wait runs from a task's first wake since its last poll began to its next poll.\n",
	  COMMAND_JSON | COMMAND_TOP, 0, report_run },
	{ "issues", "[--json] [--fail-on LEVEL] [filters] FILE|DIR",
	  "what is wrong, worst first: type, place, evidence, what to do",
	  "Findings by severity; ANALYSES.md has each definition. What was not recorded is\n"
	  "unknown: see the coverage line. With --fail-on a finding of that level or above\n"
	  "makes the exit code 1. A finding that another one explains is at most a warning.\n",
	  COMMAND_STUDY | COMMAND_FAIL_ON, 0, issues_run },
	{ "tasks", "[--json] [filters] FILE|DIR", "the life of each task, split into what it did",
	  "A life is running (on CPU in polls), off CPU in polls, ready (woken, not yet\n"
	  "polled) and idle; these sum to it. Where a poll's length is not known the rest\n"
	  "is unknown, not idle. Busiest first.\n",
	  COMMAND_STUDY, 0, tasks_run },
	{ "workers", "[--json] [filters] FILE|DIR",
	  "the time of each worker, split into what it did",
	  "Running and off CPU (both in polls), delayed (ready, but no CPU after a park),\n"
	  "between polls, parked, unknown; these sum to the time looked at.\n",
	  COMMAND_STUDY, 0, workers_run },
	{ "polls", "[--json] [--longest] [filters] FILE|DIR", "single polls, and why each was long",
	  "A poll's verdict is the largest part of it: compute, blocking, lock, preempted.\n"
	  "Polls whose start or end was not seen have no length and are not listed.\n",
	  COMMAND_STUDY | COMMAND_LONGEST, 0, polls_run },
	{ "waits", "[--json] [--explain POLL] [filters] FILE|DIR",
	  "the longest waits from wake to poll, and what each consists of",
	  "A wait runs from a task's first wake since its last poll began to its next poll;\n"
	  "if it was woken while it was polled, from that poll's end. Its parts are what\n"
	  "the worker that polls it in the end did meanwhile. --explain lists the polls\n"
	  "that one wait stood behind.\n",
	  COMMAND_STUDY | COMMAND_EXPLAIN, 0, waits_run },
	{ "blame", "[--json] [filters] FILE|DIR", "which types and polls made others wait",
	  "The harm of a poll is the time that others stood ready on its worker while it\n"
	  "ran: 2 ms before 500 tasks are worse than 20 ms before one. Filters choose whose\n"
	  "waits are counted, not whose polls.\n",
	  COMMAND_STUDY, 0, blame_run },
	{ "sched", "[--json] [filters] FILE|DIR",
	  "how the work was shared out: free workers, starvation, wakes",
	  "For each runtime: was a worker free, in the worst 1 ms to 10 s; waits of 5 ms\n"
	  "and more while another worker slept, or while all worked; tasks stuck in a LIFO\n"
	  "slot; wakes by kind; queues that build up; tasks that do not end; blocking pool.\n"
	  "ANALYSES.md has each definition with an example.\n",
	  COMMAND_STUDY, 0, schedule_run },
	{ "path", "[--json] [--explain POLL] [filters] FILE|DIR",
	  "what the end of a task or poll had to wait for, back through wakes",
	  "The critical path: running, before that ready, before that the poll that woke\n"
	  "it, and so on to the driver, a timer or a spawn. The path to the end of one poll\n"
	  "(--explain) or one task (--task) step by step; else the paths to the ends of all\n"
	  "tasks, summed by type.\n",
	  COMMAND_STUDY | COMMAND_EXPLAIN, 0, path_run },
	{ "hist", "[--json] [filters] FILE|DIR", "how long polls and waits are, as bars",
	  "Counts by powers of two, and quantiles (within 1 %), of poll lengths and of\n"
	  "waits from wake to poll.\n",
	  COMMAND_STUDY, 0, hist_run },
	{ "flame", "[--json] [--off] [--folded] [filters] FILE|DIR",
	  "where polls spend CPU, or lose it: a tree of stacks",
	  "CPU samples by task type and stack; --off counts the time (ns) that threads had\n"
	  "no CPU in polls. --folded prints \"type;outer;inner COUNT\" for flame graph tools.\n"
	  "The tree shows what is at least 1 % of all; --limit 0 shows everything.\n",
	  COMMAND_STUDY | COMMAND_OFF | COMMAND_FOLDED, 0, flame_run },
	{ "diff", "[--json] [filters] A B", "what changed between two recordings, type by type",
	  "Busy time and polls for each second, p99 of poll lengths and of waits; the types\n"
	  "whose busy time changed most stand first. What one level does not record is \"-\",\n"
	  "not a change. Filters are of both; relative times count from the start of each.\n",
	  COMMAND_STUDY | COMMAND_TWO_PATHS, 0, diff_run },
	{ "sql", "[--json] [--limit N] [filters] FILE|DIR [\"SELECT ...\"]",
	  "one SQL query over polls, wakes, parks, samples, tasks, ...",
	  "SQLite over the recording's columns, read-only. Without a query: tables,\n"
	  "columns, views and functions. Times are ns; what was not recorded is NULL. At\n"
	  "most 1000 rows unless --limit says otherwise, and 60 s unless --seconds does.\n"
	  "Filters leave rows out of the tables. Example:\n"
	  "  dial9-view sql DIR \"select type, count(*), max(dur_ns) from poll group by 1\"\n",
	  COMMAND_STUDY | COMMAND_SECONDS | COMMAND_QUERY, 0, sql_run },
	{ "export", "--output OUT [--force] [filters] FORMAT FILE|DIR",
	  "one recording in the format of another tool",
	  "perfetto, pprof, chrome, speedscope, firefox, folded (CPU stacks), csv (polls),\n"
	  "ndjson and sqlite (all tables of sql), html (a page to be mailed). Filters leave\n"
	  "rows out, as they do for sql.\n",
	  COMMAND_OUT | COMMAND_FORCE | COMMAND_FROM | COMMAND_UNTIL | COMMAND_FILTER |
		  COMMAND_TARGET,
	  COMMAND_OUT,
	  export_run },
	{ "dump", "[--json] [--kind NAME] [--from TIME] [--to TIME] FILE|DIR",
	  "every event, one a line",
	  "Events in file order: TIME NAME FIELD=VALUE ..., with --json one document each.\n"
	  "TIME is ns as recorded; as an option also +1.5s, +20ms, +300us since the start.\n"
	  "unknown: the recorder could not know the value (JSON: null). Integers are exact.\n",
	  COMMAND_JSON | COMMAND_KIND | COMMAND_FROM | COMMAND_UNTIL, 0, dump_run },
	{ "verify", "[--json] FILE|DIR", "are the files whole, and do their events make sense?",
	  "Decodes everything, counts events by name and checks what must hold: starts and\n"
	  "ends alternate, no task on two workers at once, no id used twice, no segment\n"
	  "missing. What the recording does not claim to hold is not judged.\n"
	  "Exits with 3 if a file is damaged, 1 if a check fails.\n",
	  COMMAND_JSON, 0, verify_run },
	{ "convert", "--to raw|gzip|zstd --output OUT [--force] FILE|DIR",
	  "one recording as one file, for other readers",
	  "The segments of a recording in one file; dial9's own viewer reads raw and gzip.\n"
	  "A cut-off or damaged tail ends at its last whole event (exit code 3 if damaged).\n",
	  COMMAND_FORMAT | COMMAND_OUT | COMMAND_FORCE, COMMAND_FORMAT | COMMAND_OUT, convert_run },
	{ "link", "[--json] [--explain POLL] [filters] FILE|DIR",
	  "where in the page the filters point: to be put behind serve's URL",
	  "One line for each recording: a path and query for the page of serve, with\n"
	  "the span, task, type, and with --explain the poll in view.\n",
	  COMMAND_STUDY | COMMAND_EXPLAIN, 0, pagelink_run },
	{ "guide", "", "from a symptom to its cause: which command, and what its words mean",
	  "Needs no recording.\n", COMMAND_NO_PATH, 0, guide_run },
	{ 0 },
};

int main(int argc, char **argv)
{
	static char buf[256 << 10];
	const struct command *command;
	struct traceset set = { 0 };
	struct request req;
	int code = command_parse(argc, argv, &command, &req), err;

	if (code != 1)
		return code;
	setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	err = req.path ? traceset_open(req.path, &set) : 0;
	/* nothing there yet is no reason not to watch it */
	if (err && !(err == -ENODATA && command->run == serve_run))
		code = err == -ENODATA ? EXIT_PARTIAL : EXIT_FINDINGS;
	else
		code = command->run(&req, &set);
	traceset_close(&set);
	if (fflush(stdout) != 0 || ferror(stdout))
		return notice(EXIT_FINDINGS, "standard output: cannot write it: %s",
			      strerror(errno));
	return code;
}
