/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named.h - spawn places found by their names, for unoptimised builds.
 *
 * There every small function is a function of its own, so the shapes of counter.h and bind.h do
 * not exist; but such builds have a symbol table.
 */
#ifndef DIAL9_NAMED_H
#define DIAL9_NAMED_H

#include "counter.h"

#define NAMED_MAX 8 /* functions taken of each name */

struct image;
struct relocs;
struct starts;

/*
 * Task Id::next: the number drawn is what its first call (of fetch_add) returns. Adds the draws of at
 * most NAMED_MAX of them, or their callers' (counter_follow). 0, -EIO, -ENOMEM.
 */
int named_draws(struct image *img, struct relocs *relocs, const struct starts *starts,
		struct counter_draws *draws);
/* Entries of bind_inner; the header is their second argument. Returns how many. */
size_t named_binds(struct image *img, uint64_t *ret_vaddrs);

#endif /* DIAL9_NAMED_H */
