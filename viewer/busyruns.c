// SPDX-License-Identifier: Apache-2.0
/* busyruns.c - insertion into ten places. */
#include "busyruns.h"

#include <string.h>

void busyruns_end(struct busyruns *b, struct busyrun *run)
{
	uint64_t ns = run->last_ns - run->first_ns;
	uint32_t at;

	if (run->task && ns >= BUSYRUNS_LONG_NS) {
		b->long_cnt++;
		for (at = 0; at < b->cnt && b->runs[at].last_ns - b->runs[at].first_ns >= ns;)
			at++;
		if (at < BUSYRUNS_MAX) {
			b->cnt += b->cnt < BUSYRUNS_MAX;
			memmove(&b->runs[at + 1], &b->runs[at],
				(b->cnt - 1 - at) * sizeof(b->runs[0]));
			b->runs[at] = *run;
		}
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
