/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blockpool.h - the blocking pool: how many threads worked at once, and whether work had to wait.
 *
 * It is saturated while a task has stood in its queue for more than BLOCKPOOL_QUEUED_NS: a thread takes
 * less than that to start. Its limit (max_blocking_threads, 512 unless set) is not recorded.
 */
#ifndef DIAL9_BLOCKPOOL_H
#define DIAL9_BLOCKPOOL_H

#include "histogram.h"

#include <stdint.h>

struct columns;
struct scope;

#define BLOCKPOOL_QUEUED_NS 1000000ull
#define BLOCKPOOL_LONG_NS 10000000ull

struct blockpool {
	uint64_t tasks, queue_known; /* runs; those that tell when they were queued */
	uint32_t threads; /* that ran any */
	uint64_t busy_ns; /* sum of all runs */
	uint64_t most_busy, most_busy_at_ns; /* threads at work at once */
	uint64_t most_queued, most_queued_at_ns; /* tasks queued at once */
	uint64_t saturated_ns; /* see above */
	uint64_t long_cnt; /* runs of BLOCKPOOL_LONG_NS and more */
	struct histogram queued, run;
};

/* 0 or -ENOMEM; blockpool_done frees in either case. */
int blockpool_of(const struct columns *c, const struct scope *s, struct blockpool *ret);
void blockpool_done(struct blockpool *p);

#endif /* DIAL9_BLOCKPOOL_H */
