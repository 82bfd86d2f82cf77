/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busyruns.h - what may have been long polls where polls were not recorded, longest first.
 *
 * A busy run is a row of CPU samples of one worker that all show the same task, with no park and no
 * other task between them; its length is at least the time from the first to the last. A task that
 * only yields looks the same: a run is a candidate, and never called a poll. Polls of its type that
 * were recorded at another time (a zoom) may confirm it (busyruns_verdict).
 */
#ifndef DIAL9_BUSYRUNS_H
#define DIAL9_BUSYRUNS_H

#include <stdint.h>

#define BUSYRUNS_MAX 10
#define BUSYRUNS_LONG_NS 10000000ull /* shorter ones are not kept: that is what a long poll is ... */

/*
 * ... but for quick samples, of which fewer ns show as much: three in a row, less what a clock may be
 * late. 0 = how often they were taken is not known.
 */
uint64_t busyruns_from_ns(uint64_t sample_ns);

struct busyrun { /* task 0: none is open */
	uint64_t task, first_ns, last_ns;
	uint32_t samples;
};

struct busyruns {
	uint64_t from_ns; /* the shortest that is kept; 0 = BUSYRUNS_LONG_NS */
	uint32_t cnt; /* of tasks: the longest run of each */
	struct busyrun runs[BUSYRUNS_MAX];
	uint64_t long_cnt; /* all that were long */
};

/* A sample of the run's worker shows `task`, 0 = none. */
void busyruns_sample(struct busyruns *b, struct busyrun *run, uint64_t ts_ns, uint64_t task);

/*
 * What the polls of the run's type say of it, those that were recorded at some other time and whose
 * length is known: "confirmed" (there was one as long as the run, or of BUSYRUNS_LONG_NS), "not seen"
 * (there was none), "unknown" (there are no such polls).
 */
const char *busyruns_verdict(const struct busyrun *run, uint64_t polls, uint64_t longest_ns);

/* The run is over, if one is open. */
void busyruns_end(struct busyruns *b, struct busyrun *run);

#endif /* DIAL9_BUSYRUNS_H */
