/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - what a batch has already put into its string and stack pools.
 * Two open-addressing tables at most three quarters full and one arena, sized at d9_pool_new.
 * Emptying is a new generation number, not a memset: batches may be short.
 */
#ifndef DIAL9_POOL_H
#define DIAL9_POOL_H

#include "trace.h"

enum pool_kind { POOL_STR, POOL_STACK, POOL_KIND_CNT };

/*
 * Look len bytes up. 0: *ret_id is its id. 1: it is new; *ret_id is the id it would get and *ret_at
 * the place to hand to pool_add() once its frame is written. -D9_E_POOL_FULL.
 */
int pool_find(const struct d9_pool *pool, enum pool_kind kind, const void *p, size_t len,
	      uint32_t *ret_id, uint32_t *ret_at, uint32_t *ret_hash);
void pool_add(struct d9_pool *pool, enum pool_kind kind, const void *p, size_t len, uint32_t at,
	      uint32_t hash);
void pool_reset(struct d9_pool *pool);

#endif
