/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrappers.h - who calls a given function, directly, through a GOT slot, or through a register that
 * was loaded from one.
 *
 * Needed where poll is called by a small wrapper that holds no site: RawTask::poll in builds
 * without LTO ends in a tail jump to poll, and in unoptimised ones returns at once. The poll's
 * end is then seen behind the call of the wrapper. Costs a second pass over all code, so it is
 * only asked when there is such a wrapper.
 */
#ifndef DIAL9_WRAPPERS_H
#define DIAL9_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WRAPPERS_FUNCS_MAX 64
#define WRAPPERS_MAX 4096 /* call places kept; further ones are counted */
#define WRAPPERS_DEPTH_MAX 3 /* wrappers of wrappers followed */

struct image;
struct relocs;
struct starts;

struct wrappers_func {
	uint64_t vaddr;
	uint64_t return_vaddr; /* where poll returns to; 0 = to the caller: poll is jumped to */
	bool is_loose; /* of an unoptimised build: see returns.h */
	int64_t popped_sz; /* rsp behind the wrapper's call, above its value behind poll's */
};

struct wrappers_call {
	uint64_t vaddr; /* of the call or jump instruction, proven */
	uint64_t caller; /* start of the function it stands in */
	size_t func; /* index of the function called */
};

struct wrappers {
	struct wrappers_func funcs[WRAPPERS_FUNCS_MAX]; /* set by wrappers_add */
	size_t funcs_cnt;
	struct wrappers_call *calls; /* rising */
	size_t cnt, cap, left_cnt;
};

/* -ENOSPC at the cap. A function that is there already counts as added. */
int wrappers_add(struct wrappers *w, const struct wrappers_func *func);
/* Fills calls. 0, -EIO, -ENOMEM. Free with wrappers_done in any case. */
int wrappers_find(struct wrappers *w, struct image *img, struct relocs *relocs,
		  const struct starts *starts);
void wrappers_done(struct wrappers *w);

#endif /* DIAL9_WRAPPERS_H */
