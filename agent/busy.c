// SPDX-License-Identifier: Apache-2.0
#include "busy.h"

uint64_t busy_sample(struct busy *b, uint32_t tid, uint64_t task, uint64_t ts_ns)
{
	struct busy_run *r = &b->runs[tid % BUSY_THREADS_MAX];

	if (r->tid != tid || r->task != task || ts_ns < r->last_ns ||
	    ts_ns - r->last_ns > BUSY_GAP_FACTOR * b->period_ns)
		*r = (struct busy_run){ .tid = tid, .task = task, .first_ns = ts_ns };
	r->last_ns = ts_ns;
	return task ? ts_ns - r->first_ns : 0;
}
