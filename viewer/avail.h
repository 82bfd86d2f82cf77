/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avail.h - the availability curve of a runtime: was there a worker that could take a task?
 *
 * A worker is taken while it polls, and while it waits for a CPU after a park. It is free while it
 * sleeps and between polls. A blackout is a time in which each worker of the runtime is taken; what
 * is not known of a worker (a poll without an end, time before its first event) is no blackout, so
 * that blackouts are at least what is said. For a window of length w the curve gives the worst
 * share of any window of that length in which a worker was free.
 */
#ifndef DIAL9_AVAIL_H
#define DIAL9_AVAIL_H

#include <stdint.h>

struct columns;
struct crew;
struct scope;

#define AVAIL_WINDOWS 5
#define AVAIL_BLACKOUTS_MAX (1u << 22) /* of the curve; further ones count in the sums alone */

extern const uint64_t avail_windows_ns[AVAIL_WINDOWS]; /* 1 ms to 10 s */

struct avail {
	uint64_t from_ns, to_ns; /* the time looked at */
	uint64_t blackouts, blackout_ns, longest_ns, longest_at_ns;
	/* most blackout in any window of each length; of those longer than the time looked at: all */
	uint64_t window_ns[AVAIL_WINDOWS];
	uint64_t over_cap; /* blackouts that the curve lacks */
};

/* 0 or -ENOMEM. Looks at the part of the recording that s's times let pass. */
int avail_of(const struct columns *c, const struct crew *crew, const struct scope *s,
	     struct avail *ret);

#endif /* DIAL9_AVAIL_H */
