// SPDX-License-Identifier: Apache-2.0
/* guide.c - the text. */
#include "guide.h"

#include "notice.h"

#include <stdio.h>

static const char guide_text[] =
	"HOW TO FIND OUT WHY A TOKIO PROGRAM IS SLOW\n"
	"\n"
	"1. Is the recording whole? What it does not hold is unknown, not absent.\n"
	"     dial9-view verify DIR\n"
	"     dial9-view report DIR          level, losses, coverage; then the tables\n"
	"2. What is wrong? Worst first, each with evidence and a next step.\n"
	"     dial9-view issues DIR\n"
	"     dial9-view issues --fail-on critical DIR     exit code 1: for scripts\n"
	"3. Follow one symptom:\n"
	"   requests take long, CPU is idle\n"
	"     dial9-view waits DIR                         woken, but not polled: why?\n"
	"     dial9-view waits --explain p:3.1 DIR         behind which polls?\n"
	"     dial9-view blame DIR                         who makes others wait?\n"
	"   a task hogs its worker\n"
	"     dial9-view polls --longest DIR               verdict: compute, blocking, lock ...\n"
	"     dial9-view flame --off DIR                   where polls lose the CPU\n"
	"     dial9-view flame DIR                         where polls use it\n"
	"   one worker is busy, others are not\n"
	"     dial9-view workers DIR\n"
	"     dial9-view sched DIR                         free workers, starvation, queues\n"
	"   one task is special\n"
	"     dial9-view tasks DIR\n"
	"     dial9-view polls --task t:1 DIR\n"
	"     dial9-view path --task t:1 DIR               what its end waited for, step by step\n"
	"   how bad is it, in numbers; better than before?\n"
	"     dial9-view hist DIR\n"
	"     dial9-view diff BEFORE AFTER                 type by type\n"
	"4. Narrow it down. All but report and verify take the same filters, joined by \"and\":\n"
	"     --from +1s --to +2s --task t:1 --type handler --worker w0 --runtime main\n"
	"5. See the events themselves.\n"
	"     dial9-view dump --from +1ms --to +2ms DIR\n"
	"\n"
	"WORDS\n"
	"  poll   a task's future runs on a worker; long ones (10 ms) starve the others\n"
	"  wait   from wake to poll: the task could run, but did not\n"
	"  harm   of a poll: the time that others stood ready behind it\n"
	"  type   where the task was spawned or, if that is not known, its future's type\n"
	"  w3, t:812, p:812.17   a worker, a task, the 17th poll seen of task 812: names that\n"
	"         other commands take (--worker, --task, --explain)\n"
	"\n"
	"FOR PROGRAMS\n"
	"  --json prints one document with a schema and its version; keys are added to a\n"
	"  version, never changed. Times are ns of CLOCK_MONOTONIC. null is unknown, 0 is 0.\n"
	"  Lists hold 20 rows: --limit 0 for all. The same files give the same bytes.\n"
	"  Exit codes: 0 ok, 1 failure or findings, 2 usage, 3 bad or partial input (what\n"
	"  could be read is printed all the same). Nothing is written, nothing is fetched.\n"
	"\n"
	"TRAPS\n"
	"  - A level below full leaves events out: look at the coverage line first.\n"
	"  - \"verdict unknown\" means that no times off CPU were recorded, not that it ran.\n"
	"  - Poll ends of level polls and wakes are inferred: a poll may look longer.\n"
	"  - A storm of short polls harms more than one long poll: blame adds it up.\n";

int guide_run(const struct request *req, const struct traceset *set)
{
	(void)req;
	(void)set;
	fputs(guide_text, stdout);
	return EXIT_OK;
}
