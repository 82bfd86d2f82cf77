/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planner.h - the sites of one file, added to a plan in the making.
 *
 * plan.c walks the files and owns what is opened; this room turns an open file whose task types
 * are known into sites and omissions.
 */
#ifndef DIAL9_PLANNER_H
#define DIAL9_PLANNER_H

#include "bind.h"
#include "counter.h"
#include "plan.h"
#include "returns.h"
#include "starts.h"

struct image;
struct relocs;

struct planner {
	struct plan *plan;
	const struct plan_options *opt;
	size_t sites_max; /* at most PLAN_SITES_MAX */
	size_t omissions_cap; /* of the plan's array */
	/* the file at hand: opened and closed by the caller */
	uint32_t file; /* index into plan->files */
	struct image *img;
	struct relocs *relocs;
	struct starts starts;
	/* candidates of the pass over its code; empty between files */
	struct returns returns;
	struct counter_draws draws;
	struct binds binds;
};

/* Adds every site that the level wants of the file at hand. 0, -ENOMEM, -EIO. */
int planner_sites(struct planner *p);
/* Adds the raise site at the unwinder's entry `vaddr`. 0 or -ENOMEM. */
int planner_raise(struct planner *p, uint64_t vaddr);
/* Adds a site that is all known. 0, also when there is no room and that is noted; or -ENOMEM. */
int planner_append(struct planner *p, const struct plan_site *s);
/* Notes what was left out. `reason` is copied. 0 or -ENOMEM. */
int planner_omit(struct planner *p, uint8_t kind, uint64_t vaddr, const char *reason);

#endif /* DIAL9_PLANNER_H */
