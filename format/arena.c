// SPDX-License-Identifier: Apache-2.0
/*
 * arena.c - chunked bump allocation; see arena.h.
 */
#include "arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

#define CHUNK_SZ (64u << 10)
#define ARENA_ALIGN 8u

struct arena_chunk {
	struct arena_chunk *next;
	size_t cap, len;
	_Alignas(ARENA_ALIGN) uint8_t data[];
};

void arena_init(struct arena *arena, uint64_t max)
{
	*arena = (struct arena){ .max = max };
}

void arena_done(struct arena *arena)
{
	struct arena_chunk *next;

	for (struct arena_chunk *c = arena->first; c; c = next) {
		next = c->next;
		free(c);
	}
	arena->first = arena->cur = NULL;
}

void arena_reset(struct arena *arena)
{
	arena->used = 0;
	arena->cur = arena->first;
	if (arena->cur)
		arena->cur->len = 0;
}

/* The next kept chunk if it is large enough, else a new one put before it. */
static struct arena_chunk *chunk_next(struct arena *arena, size_t sz)
{
	struct arena_chunk **at = arena->cur ? &arena->cur->next : &arena->first;
	struct arena_chunk *c = *at;

	if (!c || c->cap < sz) {
		size_t cap = sz > CHUNK_SZ ? sz : CHUNK_SZ;

		c = malloc(sizeof(*c) + cap);
		if (!c)
			return NULL;
		c->cap = cap;
		c->next = *at;
		*at = c;
	}
	c->len = 0;
	arena->cur = c;
	return c;
}

int arena_take(struct arena *arena, size_t sz, void **ret)
{
	struct arena_chunk *c = arena->cur;

	if (sz > arena->max)
		return -D9_E_LIMIT;
	sz = (sz + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (sz > arena->max - arena->used)
		return -D9_E_LIMIT;
	if (!c || sz > c->cap - c->len) {
		c = chunk_next(arena, sz);
		if (!c)
			return -ENOMEM;
	}
	*ret = c->data + c->len;
	c->len += sz;
	arena->used += sz;
	return 0;
}

int arena_copy(struct arena *arena, const void *p, size_t len, const char **ret)
{
	void *to;
	int rc = arena_take(arena, len + 1, &to);

	if (rc)
		return rc;
	if (len)
		memcpy(to, p, len);
	((char *)to)[len] = '\0';
	*ret = to;
	return 0;
}
