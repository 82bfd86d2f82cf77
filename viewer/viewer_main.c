// SPDX-License-Identifier: Apache-2.0
/* viewer_main.c - dial9-view: the table of commands, and the way from argv to one of them. */
#include "command.h"
#include "convert.h"
#include "dump.h"
#include "issues.h"
#include "notice.h"
#include "report.h"
#include "traceset.h"
#include "verify.h"

#include <errno.h>
#include <string.h>

const struct command command_table[] = {
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
	err = traceset_open(req.path, &set);
	if (err)
		code = err == -ENODATA ? EXIT_PARTIAL : EXIT_FINDINGS;
	else
		code = command->run(&req, &set);
	traceset_close(&set);
	if (fflush(stdout) != 0 || ferror(stdout))
		return notice(EXIT_FINDINGS, "standard output: cannot write it: %s",
			      strerror(errno));
	return code;
}
