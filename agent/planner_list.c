// SPDX-License-Identifier: Apache-2.0
/* planner_list.c - the lists of a plan grow: its sites, and its omissions. */
#include "planner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLANNER_OMISSIONS_MAX 4096 /* further ones are dropped: each has a reason seen before */

int planner_omit(struct planner *p, uint8_t kind, uint64_t vaddr, const char *reason)
{
	struct plan *plan = p->plan;
	struct plan_omission *o;

	if (plan->omissions_cnt == PLANNER_OMISSIONS_MAX)
		return 0;
	if (plan->omissions_cnt == p->omissions_cap) {
		size_t cap = p->omissions_cap ? p->omissions_cap * 2 : 32;

		o = realloc(plan->omissions, cap * sizeof(*o));
		if (!o)
			return -ENOMEM;
		plan->omissions = o;
		p->omissions_cap = cap;
	}
	o = &plan->omissions[plan->omissions_cnt++];
	*o = (struct plan_omission){ .kind = kind, .file = p->file, .vaddr = vaddr };
	strncpy(o->reason, reason, sizeof(o->reason) - 1);
	return 0;
}

int planner_append(struct planner *p, const struct plan_site *s)
{
	struct plan *plan = p->plan;

	if (plan->sites_cnt == p->sites_max)
		return planner_omit(p, s->kind, s->vaddr, "too many sites in this process");
	/* room for all at once: pages that are not touched cost nothing */
	if (!plan->sites && !(plan->sites = calloc(p->sites_max, sizeof(*plan->sites))))
		return -ENOMEM;
	plan->sites[plan->sites_cnt++] = *s;
	return 0;
}
