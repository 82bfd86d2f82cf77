/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory of one batch of a reader: names, schemas, pool entries. Given out in order,
 * forgotten all at once at the next header; the chunks are kept and used again.
 */
#ifndef DIAL9_ARENA_H
#define DIAL9_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *first, *cur;
	uint64_t used, max;
};

/* max: bytes given out between two resets. */
void arena_init(struct arena *arena, uint64_t max);
void arena_done(struct arena *arena);
void arena_reset(struct arena *arena);

/* sz bytes, aligned for any type, not cleared. 0, -D9_E_LIMIT (max reached), -ENOMEM. */
int arena_take(struct arena *arena, size_t sz, void **ret);

/* Copy of len bytes with a NUL behind them. */
int arena_copy(struct arena *arena, const void *p, size_t len, const char **ret);

#endif
