/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - bounded reads of a target's memory, and what a word there can be.
 *
 * All of it is hostile: it may be unmapped, self-referential or change between two reads. So
 * whoever looks copies once, judges the copy, and spends from a budget of reads. The reader is an
 * op, so that tests can feed any memory.
 */
#ifndef DIAL9_MEMORY_H
#define DIAL9_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_READ_MAX 16384 /* bytes in one read */

struct memory {
	/* as target_read: 0 when all `sz` bytes were read, -EFAULT, -ESRCH */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t sz);
	void *ctx;
	uint32_t reads_cnt; /* done since memory_budget */
	uint32_t reads_max; /* further ones fail with -E2BIG */
};

/* Starts a new budget: at most `reads_max` reads from here on. */
void memory_budget(struct memory *m, uint32_t reads_max);

/* All `sz` bytes or nothing. 0, -EFAULT (not mapped, or `sz` over MEMORY_READ_MAX, or the range
 * wraps), -ESRCH, -E2BIG (budget spent). */
int memory_read(struct memory *m, uint64_t addr, void *buf, size_t sz);

/* Up to `cnt` words from `addr`, fewer when a page in between is not mapped (one more read then).
 * Returns how many were read, 0 or negative errno. */
int memory_words(struct memory *m, uint64_t addr, uint64_t *words, size_t cnt);

/* The word can be the address of an 8-byte aligned object in user space. */
bool memory_is_ptr(uint64_t word);

/* The two words can be the counts (strong, weak) at the start of a live Rust ArcInner. */
bool memory_is_arc(uint64_t strong, uint64_t weak);

/* `addr` can be a live ArcInner: costs one read. */
bool memory_has_arc(struct memory *m, uint64_t addr);

#endif /* DIAL9_MEMORY_H */
