/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - what the account works out, told to an analysis as it comes.
 *
 * Calls come nearly in time order: a poll is told once nothing can cut it any more, which is when
 * its worker does the next thing. Each function may be NULL; none may keep a pointer it is given.
 */
#ifndef DIAL9_WATCH_H
#define DIAL9_WATCH_H

#include <stdint.h>

#include "moment.h"

struct worker_poll;

enum watch_state { WATCH_UNKNOWN, WATCH_BUSY, WATCH_PARKED, WATCH_DELAYED, WATCH_BETWEEN };
#define WATCH_STATES 5

struct watch_slice { /* of one worker's time; slices of a worker are contiguous */
	uint32_t worker;
	enum watch_state state;
	uint64_t from_ns, to_ns;
	const struct worker_poll *poll; /* while busy, else NULL */
};

struct watch_wait { /* from wake to poll, as account.h defines it */
	uint64_t task;
	uint32_t type; /* row of the type table */
	uint32_t worker; /* that polls it in the end */
	uint32_t nr; /* of that poll among the task's, from 1; 0 = a nested one */
	uint64_t from_ns, to_ns;
};

struct watch {
	void *ctx;
	void (*slice)(void *ctx, const struct watch_slice *s);
	/* a poll whose end is known; outer 0, or the length of polls nested in it is in `p` */
	void (*poll)(void *ctx, uint32_t worker, const struct worker_poll *p, uint64_t end_ns);
	void (*wait)(void *ctx, const struct watch_wait *w);
	/* off CPU inside a poll, or a sample: `type` is the row of the task's type, or
	 * WATCH_NO_TYPE outside polls */
	void (*off)(void *ctx, const struct moment *m, uint32_t type);
	void (*sample)(void *ctx, const struct moment *m, uint32_t worker, uint32_t type);
	/* any moment, before the account takes it */
	void (*moment)(void *ctx, const struct moment *m);
	/* any event, in file order, before it becomes a moment */
	void (*event)(void *ctx, const struct d9_ev *ev);
};

#define WATCH_NO_TYPE UINT32_MAX

#endif /* DIAL9_WATCH_H */
