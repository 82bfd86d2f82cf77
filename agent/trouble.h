/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trouble.h - a directory that cannot be written to: what is said of it in the log, and how often.
 *
 * At once, then at growing intervals, and when it works again. A trouble that comes and goes is
 * told like one that stays: only one that has been away for TROUBLE_CALM_NS is told at once again.
 * Times are the caller's, from one clock.
 */
#ifndef DIAL9_TROUBLE_H
#define DIAL9_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

#define TROUBLE_FIRST_NS 10000000000ull /* between the first two times; then three times as long each */
#define TROUBLE_LAST_NS 3600000000000ull /* ... up to this */
#define TROUBLE_CALM_NS 60000000000ull

struct trouble { /* zeroed at first; read only outside */
	uint64_t since_ns; /* 0 = all is well */
	uint64_t over_ns; /* when the last one was over */
	uint64_t due_ns, wait_ns; /* of the next time it is told */
	bool is_told; /* this one, already */
};

/* Writing to `path` failed with err < 0 (of libdial9trace): says so, if it is time to. */
void trouble_met(struct trouble *t, const char *path, int err, uint64_t now_ns);

/* It was written to: says so, if the trouble was told. */
void trouble_over(struct trouble *t, const char *path, uint64_t now_ns);

/* The pure half. Is the trouble, which is there, to be told now? Is it, which is over, to be told
 * over? Then *ret_lasted_ns is how long it was. */
bool trouble_is_due(struct trouble *t, uint64_t now_ns);
bool trouble_is_over(struct trouble *t, uint64_t now_ns, uint64_t *ret_lasted_ns);

#endif /* DIAL9_TROUBLE_H */
