/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polltypes.h - the task types of a plan, as far as their probes can be told apart.
 *
 * Poll functions are per type, so poll starts belong to types, and so do the places where these
 * functions return (ownends.h). Wakes do not, as Tokio has one schedule() per scheduler, nor do return
 * sites. Types that the linker has folded into one function are one here.
 */
#ifndef DIAL9_POLLTYPES_H
#define DIAL9_POLLTYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan;
struct plan_vtable;

#define POLLTYPES_NONE UINT32_MAX

struct polltypes {
	const struct plan *plan; /* borrowed */
	size_t cnt;
	uint32_t *of_site; /* by number in the plan: its type, for poll sites and own ends; else NONE */
	struct polltypes_type {
		uint32_t site; /* number of its poll site */
		/* all its ends can be seen without return sites: it may be kept while others are not */
		bool has_own_ends;
		bool has_stepped_ends; /* ... some of them single-stepped */
	} *types;
};

/* 0 or -ENOMEM. */
int polltypes_open(const struct plan *plan, struct polltypes *ret);
void polltypes_close(struct polltypes *p);

/* The vtables of a type, one after the other: *at is 0 at first. Returns NULL behind the last;
 * *ret_addr: where it stands in the process. */
const struct plan_vtable *polltypes_vtable(const struct polltypes *p, size_t type, size_t *at,
					   uint64_t *ret_addr);

#endif /* DIAL9_POLLTYPES_H */
