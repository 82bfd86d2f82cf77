/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - the static counters that give out numbers, one of which is Tokio's task id.
 *
 * Tokio draws a task's id with `lock xadd` from a static u64 that starts at 1. The address stands
 * in the instruction (rip-relative), or comes into a register just before: from a GOT slot, or by the
 * lea or mov that GNU ld and mold make of that load. Other counters look the
 * same: which one is Tokio's shows only at run time, by its values, so all are candidates.
 */
#ifndef DIAL9_COUNTER_H
#define DIAL9_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_DRAWS_MAX 16384 /* xadd instructions kept in one file; further ones are counted */

struct image;
struct relocs;
struct scan_hit;
struct starts;

struct counter_draw { /* one lock xadd */
	uint64_t vaddr, counter; /* counter 0: by register, not resolved yet */
	uint64_t after; /* the next instruction, where `reg` holds the number drawn */
	uint64_t func; /* start of the function around it */
	uint32_t group_cnt; /* draws from the same counter */
	uint8_t reg;
};

struct counter_draws {
	struct counter_draw *draws;
	size_t cnt, cap, left_cnt;
};

/* Takes a SCAN_XADD hit. 0 or -ENOMEM. */
int counter_hit(struct counter_draws *c, struct image *img, const struct scan_hit *hit);

/* Decodes and resolves every hit, drops what is no draw from a static counter of start value 1,
 * follows the rest (counter_follow) and sorts by counter, the one with the most draws first.
 * 0, -EIO, -ENOMEM. */
int counter_settle(struct counter_draws *c, struct image *img, struct relocs *relocs,
		   const struct starts *starts);
/* Draw `at` stands in a function that only draws and returns the number, as optimising for size and
 * unoptimised code have it: draws of its callers take its place. 0, -EIO, -ENOMEM. */
int counter_follow(struct counter_draws *c, size_t at, struct image *img, struct relocs *relocs,
		   const struct starts *starts);
/* Takes a draw that was found otherwise. 0 or -ENOMEM. */
int counter_keep(struct counter_draws *c, const struct counter_draw *d);
void counter_done(struct counter_draws *c);

#endif /* DIAL9_COUNTER_H */
