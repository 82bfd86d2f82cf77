/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace.h - how often the agent looks into the rings: each 10 ms while much comes, each 50 ms while
 * little does.
 *
 * A look that finds little costs about 0.15 ms of CPU all the same, most of it system calls: a
 * hundred a second would be the dearest part of a recording at level stat, and the whole price of an
 * idle one. The rings hold many times what comes between two looks at the slow pace.
 */
#ifndef DIAL9_PACE_H
#define DIAL9_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_FAST_NS 10000000ull
#define PACE_SLOW_NS 50000000ull
#define PACE_CALM_NS 1000000000ull /* little for so long: slow */
/* Little is at most so many records in PACE_FAST_NS. */
#define PACE_LITTLE_SPARSE 100 /* no probe is in any target */
#define PACE_LITTLE 20 /* there are some: queue depths are wanted each 10 ms, if anything goes on */

struct pace {
	int fd; /* becomes readable at each tick; -1 = not open */
	uint64_t period_ns;
	uint64_t looked_ns, busy_ns; /* the last look, and the last one that found more than little */
};

/* 0, -errno. At the fast pace. */
int pace_open(struct pace *p, uint64_t now_ns);
void pace_close(struct pace *p);

/* Is it time? Takes the tick from the descriptor. */
bool pace_is_due(struct pace *p);

/* What this look has found. `is_sparse`: no probe is in any target, or about to be. */
void pace_found(struct pace *p, uint64_t records_cnt, bool is_sparse, uint64_t now_ns);

#endif /* DIAL9_PACE_H */
