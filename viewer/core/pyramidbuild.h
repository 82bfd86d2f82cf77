/* SPDX-License-Identifier: Apache-2.0 */
/* pyramidbuild.h - how the trees of pyramid.h come about; private to the core. */
#ifndef DIAL9_PYRAMIDBUILD_H
#define DIAL9_PYRAMIDBUILD_H

#include <stdint.h>

struct columns;

/* Makes bads, bad_lanes, nodes and node_base (freed by who frees the columns). Needs the laned
 * tables. 0, -ENOMEM or -E2BIG. */
int pyramid_build(struct columns *c);

/* The first node of each (plane, lane): bases[PYRAMID_PLANES * lanes.cnt]. Returns how many nodes
 * there must be. Needs lanes and bad_lanes. */
uint64_t pyramid_bases(const struct columns *c, uint64_t *bases);

#endif /* DIAL9_PYRAMIDBUILD_H */
