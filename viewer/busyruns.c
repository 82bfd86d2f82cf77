// SPDX-License-Identifier: Apache-2.0
/* busyruns.c - insertion into ten places. */
#include "busyruns.h"

#include <string.h>

uint64_t busyruns_from_ns(uint64_t sample_ns)
{
	uint64_t from_ns = sample_ns / 4 * 7;

	return !sample_ns || from_ns > BUSYRUNS_LONG_NS ? BUSYRUNS_LONG_NS : from_ns;
}

static uint64_t busyruns_ns(const struct busyrun *run)
{
	return run->last_ns - run->first_ns;
}

/* One task that is always busy must not be the whole list: its longest run stands for it. */
static void busyruns_keep(struct busyruns *b, const struct busyrun *run)
{
	uint32_t at, old;

	for (old = 0; old < b->cnt && b->runs[old].task != run->task;)
		old++;
	for (at = 0; at < b->cnt && busyruns_ns(&b->runs[at]) >= busyruns_ns(run);)
		at++;
	if (at > old || at == BUSYRUNS_MAX)
		return;
	if (old == b->cnt && b->cnt < BUSYRUNS_MAX)
		b->cnt++;
	if (old == BUSYRUNS_MAX)
		old--;
	memmove(&b->runs[at + 1], &b->runs[at], (old - at) * sizeof(b->runs[0]));
	b->runs[at] = *run;
}

void busyruns_end(struct busyruns *b, struct busyrun *run)
{
	if (run->task && busyruns_ns(run) >= (b->from_ns ? b->from_ns : BUSYRUNS_LONG_NS)) {
		b->long_cnt++;
		busyruns_keep(b, run);
	}
	*run = (struct busyrun){ 0 };
}

void busyruns_sample(struct busyruns *b, struct busyrun *run, uint64_t ts_ns, uint64_t task)
{
	if (run->task != task || ts_ns < run->last_ns)
		busyruns_end(b, run);
	if (!task)
		return;
	if (!run->task)
		*run = (struct busyrun){ .task = task, .first_ns = ts_ns };
	run->last_ns = ts_ns;
	run->samples++;
}

const char *busyruns_verdict(const struct busyrun *run, uint64_t polls, uint64_t longest_ns)
{
	if (!polls)
		return "unknown";
	return longest_ns >= BUSYRUNS_LONG_NS || longest_ns >= busyruns_ns(run) ? "confirmed" :
										   "not seen";
}
