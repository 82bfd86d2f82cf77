/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - which instruction to probe, given where a thing happens.
 *
 * Only instructions that are always executed on the way count: the search ends at the first one
 * that can leave the straight line (a tail jump through the GOT is followed). The first that the
 * kernel emulates and at which the wanted value is still in a register, or at a known place on the
 * stack, is taken; the site is never inside a loop, a five-byte nop, or behind a lock prefix.
 */
#ifndef DIAL9_SITE_H
#define DIAL9_SITE_H

#include "plan.h"

#define SITE_INSNS_MAX 64 /* looked at from the place on */

struct image;
struct relocs;
struct starts;

struct site_query {
	uint64_t vaddr; /* first instruction that may be taken */
	uint8_t reg; /* holds the value there (enum wire_reg); CODE_NONE = none is wanted */
	bool is_entry; /* vaddr is a function's first instruction */
	bool pass_calls; /* go on behind indirect calls, with what they leave intact */
	bool pass_own_calls; /* the same, behind those only that go to this file's own code */
	bool allow_stepped, allow_stack; /* as in struct plan_options */
	int64_t popped_sz; /* bytes rsp already stands above its value at the place meant */
};

struct site_miss { /* why there is no site */
	const char *reason; /* static text */
	bool is_ret; /* the line ends in a return to the caller, at which ... */
	int64_t popped_sz; /* ... rsp stands this much above the place meant, behind the return */
};

/*
 * Sets vaddr, file_off, reg, stack_word, is_below_rbp, pushed_words, is_popped, is_emulated and
 * insn of *ret. -ENOENT: no instruction fits, and *ret_miss says why.
 */
int site_choose(struct image *img, struct relocs *relocs, const struct starts *starts,
		const struct site_query *q, struct plan_site *ret, struct site_miss *ret_miss);

#endif /* DIAL9_SITE_H */
