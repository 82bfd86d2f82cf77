/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starts.h - where functions begin, from the binary search table of PT_GNU_EH_FRAME.
 *
 * Only the layout that linkers write is taken (sdata4, relative to the table); another one counts
 * as no table. A file may have a table that covers only part of its code, or none at all: "not
 * covered" is a normal answer, never a guess.
 */
#ifndef DIAL9_STARTS_H
#define DIAL9_STARTS_H

#include <stdbool.h>
#include <stdint.h>

struct image;

struct starts {
	struct image *img;
	uint64_t table; /* vaddr of the first entry */
	uint64_t cnt; /* 0 = no table */
};

/* Never fails: a missing or odd table gives cnt 0. Borrows `img`; nothing to free. */
void starts_open(struct starts *s, struct image *img);

/* The function that holds `vaddr`: *ret_start <= vaddr < *ret_end. -ENOENT: not covered. */
int starts_find(const struct starts *s, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end);

#endif /* DIAL9_STARTS_H */
