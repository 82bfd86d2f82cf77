/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guess.h - how wrong are inferred ends? (levels polls and wakes)
 *
 * Each poll's end in our trace against dial9's of the same poll, told apart by what showed us that
 * the poll was over: the next start on that worker, the worker's park, another event of its thread
 * (a wake, a lost CPU), or another worker's poll of the task (rule 9). A poll that lost its worker
 * in block_in_place is left out: we end it at the hand-off, by definition.
 */
#ifndef TRUTH_GUESS_H
#define TRUTH_GUESS_H

#include "test/truth/pair.h"
#include "test/truth/side.h"

enum guess_kind { GUESS_NEXT, GUESS_PARK, GUESS_OTHER, GUESS_ELSEWHERE, GUESS_CNT };

struct guesses {
	struct diffs all, by[GUESS_CNT]; /* between the two ends */
	uint64_t early; /* ours lies before dial9's, by more than a hook takes */
	uint64_t handed; /* left out */
	uint64_t ours_ns, theirs_ns; /* spent in these polls */
};

void guess_all(struct guesses *g, const struct pairing *p, const struct side *theirs,
	       const struct side *ours);
void guesses_free(struct guesses *g);

#endif
