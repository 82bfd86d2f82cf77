/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callers.h - who calls a given function, directly or through a GOT slot.
 *
 * Needed where poll is reached by a tail jump from a small wrapper (RawTask::poll in builds
 * without LTO): it then returns to the wrapper's caller. Costs a second pass over all code, so it
 * is only asked when there is such a wrapper.
 */
#ifndef DIAL9_CALLERS_H
#define DIAL9_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLERS_FUNCS_MAX 16
#define CALLERS_MAX 4096 /* call places kept; further ones are counted */

struct image;
struct relocs;
struct starts;

struct callers {
	uint64_t funcs[CALLERS_FUNCS_MAX]; /* set by the user */
	size_t funcs_cnt;
	uint64_t *calls; /* addresses of the call or jump instructions, proven, rising */
	size_t cnt, cap, left_cnt;
};

/* Fills calls. 0, -EIO, -ENOMEM. Free with callers_done in any case. */
int callers_find(struct callers *c, struct image *img, struct relocs *relocs,
		 const struct starts *starts);
void callers_done(struct callers *c);

#endif /* DIAL9_CALLERS_H */
