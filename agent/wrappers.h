/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrappers.h - who calls a given function, directly or through a GOT slot.
 *
 * Needed where poll is reached by a tail jump from a small wrapper (RawTask::poll in builds
 * without LTO): it then returns to the wrapper's caller. Costs a second pass over all code, so it
 * is only asked when there is such a wrapper.
 */
#ifndef DIAL9_WRAPPERS_H
#define DIAL9_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WRAPPERS_FUNCS_MAX 16
#define WRAPPERS_MAX 4096 /* call places kept; further ones are counted */

struct image;
struct relocs;
struct starts;

struct wrappers {
	uint64_t funcs[WRAPPERS_FUNCS_MAX]; /* set by the user */
	size_t funcs_cnt;
	uint64_t *calls; /* addresses of the call or jump instructions, proven, rising */
	size_t cnt, cap, left_cnt;
};

/* Fills calls. 0, -EIO, -ENOMEM. Free with wrappers_done in any case. */
int wrappers_find(struct wrappers *c, struct image *img, struct relocs *relocs,
		 const struct starts *starts);
void wrappers_done(struct wrappers *c);

#endif /* DIAL9_WRAPPERS_H */
