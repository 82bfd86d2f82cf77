// SPDX-License-Identifier: Apache-2.0
/*
 * pool.c - the encoder's interning tables. Contents are kept and compared, not only hashes: what
 * is interned comes from the target's memory, and a made-up collision must not swap two names.
 */
#include "pool.h"

#include <stdlib.h>

#include "bytes.h"

#define POOL_CAP_MAX (1u << 24)

struct pool_slot {
	uint32_t gen; /* slot is in use if equal to the pool's */
	uint32_t hash;
	uint32_t id;
	uint32_t len;
	size_t off; /* in the arena */
};

struct pool_table {
	struct pool_slot *slots;
	uint32_t mask;
	uint32_t cnt, cap;
};

struct d9_pool {
	struct pool_table table[POOL_KIND_CNT];
	uint8_t *arena;
	size_t arena_cap, arena_len;
	uint32_t gen;
};

static uint64_t hash_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

static uint32_t hash_bytes(const uint8_t *p, size_t len)
{
	uint64_t h = len * 0xc2b2ae3d27d4eb4full;
	uint64_t tail = 0;

	for (; len >= 8; p += 8, len -= 8)
		h = hash_mix(h, load64(p));
	if (len) {
		memcpy(&tail, p, len);
		h = hash_mix(h, tail);
	}
	h = hash_mix(h, h >> 32);
	return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

static int table_init(struct pool_table *t, uint32_t cap)
{
	uint32_t size = 16;

	while ((uint64_t)size * 3 / 4 < cap)
		size <<= 1;
	t->slots = calloc(size, sizeof(*t->slots));
	if (!t->slots)
		return -1;
	t->mask = size - 1;
	t->cap = cap;
	return 0;
}

struct d9_pool *d9_pool_new(uint32_t str_cap, uint32_t stack_cap, size_t arena_cap)
{
	struct d9_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	str_cap = str_cap ? str_cap : D9_POOL_STR_DEF;
	stack_cap = stack_cap ? stack_cap : D9_POOL_STACK_DEF;
	pool->arena_cap = arena_cap ? arena_cap : D9_POOL_SZ_DEF;
	pool->gen = 1;
	pool->arena = malloc(pool->arena_cap);
	if (!pool->arena || str_cap > POOL_CAP_MAX || stack_cap > POOL_CAP_MAX ||
	    table_init(&pool->table[POOL_STR], str_cap) ||
	    table_init(&pool->table[POOL_STACK], stack_cap)) {
		d9_pool_free(pool);
		return NULL;
	}
	return pool;
}

void d9_pool_free(struct d9_pool *pool)
{
	if (!pool)
		return;
	free(pool->table[POOL_STR].slots);
	free(pool->table[POOL_STACK].slots);
	free(pool->arena);
	free(pool);
}

void pool_reset(struct d9_pool *pool)
{
	pool->arena_len = 0;
	pool->table[POOL_STR].cnt = 0;
	pool->table[POOL_STACK].cnt = 0;
	if (++pool->gen)
		return;
	/* After 2^32 batches an old slot could look alive again. */
	for (int i = 0; i < POOL_KIND_CNT; i++)
		memset(pool->table[i].slots, 0,
		       ((size_t)pool->table[i].mask + 1) * sizeof(struct pool_slot));
	pool->gen = 1;
}

int pool_find(const struct d9_pool *pool, enum pool_kind kind, const void *p, size_t len,
	      uint32_t *ret_id, uint32_t *ret_at, uint32_t *ret_hash)
{
	const struct pool_table *t = &pool->table[kind];
	uint32_t hash = hash_bytes(p, len);
	uint32_t at = hash & t->mask;

	/* The table is never full, so a free slot ends the walk. */
	for (; t->slots[at].gen == pool->gen; at = (at + 1) & t->mask) {
		const struct pool_slot *s = &t->slots[at];

		if (s->hash == hash && s->len == len &&
		    (!len || !memcmp(pool->arena + s->off, p, len))) {
			*ret_id = s->id;
			return 0;
		}
	}
	if (t->cnt >= t->cap || len > pool->arena_cap - pool->arena_len)
		return -D9_E_POOL_FULL;
	*ret_id = t->cnt;
	*ret_at = at;
	*ret_hash = hash;
	return 1;
}

void pool_add(struct d9_pool *pool, enum pool_kind kind, const void *p, size_t len, uint32_t at,
	      uint32_t hash)
{
	struct pool_table *t = &pool->table[kind];

	t->slots[at] = (struct pool_slot){
		.gen = pool->gen,
		.hash = hash,
		.id = t->cnt++,
		.len = (uint32_t)len,
		.off = pool->arena_len,
	};
	store_bytes(pool->arena + pool->arena_len, p, len);
	pool->arena_len += len;
}
