/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starve.h - tasks that were ready while a worker slept, and workers that had too much or too
 * little to do.
 *
 * A late wait is one of STARVE_NS and more from wake to poll. It is starved if another worker of
 * the same runtime slept for more than half of it (a missed steal), saturated if none did; where
 * the runtime has one worker it is neither: single. A stuck queue is a poll of STARVE_NS and more
 * that began with tasks in its worker's own queue while another worker slept for more than half
 * of it.
 */
#ifndef DIAL9_STARVE_H
#define DIAL9_STARVE_H

#include <stdint.h>

struct crews;
struct scope;

#define STARVE_NS 5000000ull

struct starve_sum {
	uint64_t cnt, ns, worst_ns;
	uint32_t worst; /* row of polls; COLUMNS_NONE */
	uint32_t peers; /* that slept during the worst */
};

struct starve { /* of one crew */
	struct starve_sum starved, saturated, single, stuck;
	uint64_t queue_known, queue_unknown; /* long polls that tell their queue, that do not */
	/* the workers with most and least polls, rows of lanes, and how many these were */
	uint32_t most, least;
	uint64_t most_polls, least_polls;
	uint64_t busy_most_ns, busy_least_ns; /* greatest and least time in polls of one worker */
};

/* ret: one for each crew of x. */
void starve_of(const struct crews *x, const struct scope *s, struct starve *ret);

#endif /* DIAL9_STARVE_H */
