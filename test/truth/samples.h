/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - RuntimeMetricsEvent of ours against what dial9 knows.
 *
 * The global queue: the two sample at other moments, so theirs must lie within what ours say
 * around it, within 1. Tasks alive: ours against the spawns and ends that dial9 recorded until
 * then, within 1 of some value that held within SAMPLES_APART_NS of the sample.
 */
#ifndef TRUTH_SAMPLES_H
#define TRUTH_SAMPLES_H

#include "test/truth/pair.h"
#include "test/truth/side.h"

#define SAMPLES_AROUND_NS 25000000ull
#define SAMPLES_APART_NS 2000000ull

void samples_compare(struct pairing *p, const struct side *theirs, const struct side *ours);

#endif
