/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibration.h - what level stat has to know before it can do without probes.
 *
 * It begins with the probes of level wakes, until taskword.h knows where threads note the task they
 * poll, and a little longer, in which each thread shows where its note rests. Then all probes go. An
 * idle target costs nothing while it is waited for, and one with little to do next to nothing; a busy one
 * that shows nothing is given up, and so is one where it cannot be learnt: level stat has no task ids
 * then, which the log and the metadata say.
 */
#ifndef DIAL9_CALIBRATION_H
#define DIAL9_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ladder;
struct metadata;
struct taskword;

#define CALIBRATION_RESTS_NS 300000000ull /* probes stay so long after the task word is learnt */
/* A target hit so often a second has shown all it can, and is given up. One that is not is given time:
 * its hits cost less than 0.5 % of a CPU. */
#define CALIBRATION_BUSY_HITS 5000
#define CALIBRATION_PATIENT_NS 60000000000ull

struct calibration { /* all borrowed; zeroed otherwise */
	struct ladder *ladder;
	const struct taskword *taskword;
	struct metadata *metadata;
	pid_t pid;
	uint64_t start_ns;
	uint64_t known_ns; /* when the task word was first seen to be known, 0 = not yet */
	bool is_on; /* probes are in the target for it */
};

/* Pure: is it time to go to level stat? is_learning: the word may still be learnt. */
bool calibration_is_over(const struct calibration *c, bool is_learning, uint64_t hits,
			 uint64_t now_ns);

/* Every tick while it is on, with the probe hits so far. May end it: the level is stat then. */
void calibration_tick(struct calibration *c, uint64_t hits, uint64_t now_ns);

#endif /* DIAL9_CALIBRATION_H */
