// SPDX-License-Identifier: Apache-2.0
/* agent_main.c - dial9-agent: options in, exit code out. */
#include <errno.h>
#include <stdio.h>

#include "doctor.h"
#include "dryrun.h"
#include "log.h"
#include "opt.h"
#include "recorder.h"
#include "zoom.h"

enum { EXIT_OK = 0, EXIT_RUNTIME = 1, EXIT_USAGE = 2 };

/* What the command came to, if its reader got all of it. */
static int agent_said(int err)
{
	if ((fflush(stdout) || ferror(stdout)) && !err)
		err = log_error(-EIO, "cannot write to standard output: is its disk full?");
	return err;
}

static int agent_run(const struct opt *o)
{
	switch (o->command) {
	case OPT_HELP:
		opt_print_help(stdout);
		return agent_said(0);
	case OPT_VERSION:
		opt_print_version(stdout);
		return agent_said(0);
	case OPT_DOCTOR:
		return agent_said(doctor_run(o, stdout));
	case OPT_ZOOM:
		return zoom_run(o);
	case OPT_RECORD:
		return o->dry_run ? dryrun_run(o) : recorder_run(o);
	}
	return -1;
}

int main(int argc, char **argv)
{
	int code = EXIT_USAGE;
	struct opt o;

	if (!opt_parse(argc, argv, &o)) {
		log_set_level(o.quiet ? LOG_WARN : o.verbose ? LOG_DEBUG : LOG_INFO);
		code = agent_run(&o) ? EXIT_RUNTIME : EXIT_OK;
	}
	opt_done(&o);
	return code;
}
