/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - RuntimeMetricsEvent of ours against what dial9 knows.
 *
 * The global queue: the two sample at other moments, and it fills and empties within microseconds;
 * so only depths that stood are compared (dial9's samples before and after say the same, within 1),
 * and must lie within what ours say around it, within 1.
 *
 * Tasks alive: ours against the spawns and ends that dial9 recorded until then. Each worker can be
 * in the middle of one, so it must agree within their number with some value that held within
 * SAMPLES_APART_NS. We know of a runtime when its records have passed the order window: the time
 * around the coming and going of one is left out.
 */
#ifndef TRUTH_SAMPLES_H
#define TRUTH_SAMPLES_H

#include "test/truth/pair.h"
#include "test/truth/side.h"

#define SAMPLES_AROUND_NS 25000000ull
#define SAMPLES_APART_NS 2000000ull
#define SAMPLES_SETTLE_NS 100000000ull

void samples_compare(struct pairing *p, const struct side *theirs, const struct side *ours);

#endif
