/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diffs.h - how far two recordings of the same moments lie apart.
 */
#ifndef DIAL9_TRUTH_DIFFS_H
#define DIAL9_TRUTH_DIFFS_H

#include "test/truth/side.h"

struct diffs { /* in ns, unsigned; sorted by diffs_close() */
	SIDE_VEC(uint64_t) v;
};

void diffs_add(struct diffs *d, uint64_t a_ns, uint64_t b_ns);
void diffs_close(struct diffs *d);
uint64_t diffs_at(const struct diffs *d, unsigned permille); /* 1000: the largest; 0 of none */

#endif /* DIAL9_TRUTH_DIFFS_H */
