/* SPDX-License-Identifier: Apache-2.0 */
/*
 * returns.h - the places that call a task's poll function, and so see it return.
 *
 * Source: `(header.vtable.poll)(header)`. In code: a load of word 2 of the header, then within
 * RETURNS_INSNS_MAX instructions an indirect call or jump through slot 0 of what was loaded, with
 * the header in rdi.
 */
#ifndef DIAL9_RETURNS_H
#define DIAL9_RETURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RETURNS_INSNS_MAX 6 /* from the load to the call */
#define RETURNS_MAX 16384 /* candidates kept in one file; further ones are counted */

struct image;
struct scan_hit;
struct starts;

struct returns {
	uint64_t *loads; /* addresses where such a load may stand, rising */
	size_t loads_cnt, loads_cap, left_cnt;
};

struct returns_call {
	uint64_t func; /* start of the calling function (returns_prove only) */
	uint64_t call; /* the indirect call or jump */
	uint64_t after; /* where the callee returns to */
	bool is_jump; /* a tail jump: returns to the caller's caller */
	bool is_wrapper; /* the header is func's own argument: see wrappers.h */
	bool is_loose; /* rdi was loaded from memory (unoptimised code): may be another object */
};

/* Takes a SCAN_CALL hit; keeps it when the bytes before it fit. 0 or -ENOMEM. */
int returns_hit(struct returns *r, const struct scan_hit *hit);
/* Decodes candidate i from its function's start. -ENOENT: it is not such a call. */
int returns_prove(const struct returns *r, size_t i, struct image *img, const struct starts *starts,
		  struct returns_call *ret);
void returns_done(struct returns *r);

#endif /* DIAL9_RETURNS_H */
