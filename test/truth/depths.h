/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depths.h - the length of the worker's run queue at each poll start, where ours was read.
 *
 * Within 1, but while another worker steals: it takes half of the queue at once, also in the half
 * microsecond between dial9's look and ours. Then ours is less, and that worker begins a poll of
 * what it took: one that does so within DEPTHS_THEFT_NS explains it. Nothing explains a longer one.
 */
#ifndef TRUTH_DEPTHS_H
#define TRUTH_DEPTHS_H

#include "test/truth/pair.h"
#include "test/truth/side.h"

#define DEPTHS_THEFT_NS 10000000ull /* the thief may be switched out before it */

/* After pair_all(). */
void depths_compare(struct pairing *p, const struct side *theirs, const struct side *ours);

#endif
