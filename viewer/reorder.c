// SPDX-License-Identifier: Apache-2.0
/* reorder.c - a heap of the heads of sorted blocks. */
#include "reorder.h"

#include "momentblock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define REORDER_AHEAD 6u /* moments fetched before they are given out */

struct reorder_head {
	uint64_t ts_ns; /* of the block's head */
	uint64_t number; /* of blocks in file order: among equal stamps the earlier goes first */
	struct momentblock *block;
};

struct reorder {
	struct reorder_head *heap; /* full blocks, the earliest head first */
	uint32_t heap_cnt;
	struct reorder_head *packed; /* room for another such heap */
	struct momentblock *filling, *spare;
	uint32_t cnt, cap; /* moments */
	uint64_t blocks; /* filled so far */
	uint64_t last_ns; /* stamp of the last moment given out */
	uint64_t late;
	int (*out)(void *ctx, const struct moment *m);
	void (*ahead)(void *ctx, const struct moment *m);
	void *ctx;
};

/* Heads in the heap at most: blocks of which half is left. */
static uint32_t reorder_heads_max(const struct reorder *r)
{
	return 2 * (r->cap / MOMENTBLOCK_CNT + 2);
}

/* How many are given out when the window is full: few, so that it stays wide, and so that whoever
 * fills it is not kept waiting; but of a small window half, or its blocks would hold a handful. */
static uint32_t reorder_piece(const struct reorder *r)
{
	return r->cap >= 16 * MOMENTBLOCK_CNT ? r->cap / 16 : r->cap / 2;
}

static struct momentblock *reorder_block_new(struct reorder *r)
{
	struct momentblock *b = r->spare;

	if (b)
		r->spare = b->next;
	else
		return momentblock_new();
	momentblock_clear(b);
	return b;
}

struct reorder *reorder_new(uint32_t cap, int (*out)(void *ctx, const struct moment *m),
			    void (*ahead)(void *ctx, const struct moment *m), void *ctx)
{
	struct reorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct reorder){ .cap = cap, .out = out, .ahead = ahead, .ctx = ctx };
	r->heap = malloc(reorder_heads_max(r) * sizeof(*r->heap));
	r->packed = malloc(reorder_heads_max(r) * sizeof(*r->packed));
	r->filling = reorder_block_new(r);
	if (!r->heap || !r->packed || !r->filling) {
		reorder_free(r);
		return NULL;
	}
	return r;
}

void reorder_free(struct reorder *r)
{
	if (!r)
		return;
	while (r->heap_cnt)
		free(r->heap[--r->heap_cnt].block);
	while (r->spare) {
		struct momentblock *next = r->spare->next;

		free(r->spare);
		r->spare = next;
	}
	free(r->filling);
	free(r->heap);
	free(r->packed);
	free(r);
}

static bool reorder_is_before(const struct reorder_head *a, const struct reorder_head *b)
{
	return a->ts_ns < b->ts_ns || (a->ts_ns == b->ts_ns && a->number < b->number);
}

/* Puts a head that grew, at the top of the heap, where it belongs. */
static void reorder_sift_down(struct reorder *r)
{
	struct reorder_head x = r->heap[0];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < r->heap_cnt) {
		child += child + 1 < r->heap_cnt &&
			 reorder_is_before(&r->heap[child + 1], &r->heap[child]);
		if (!reorder_is_before(&r->heap[child], &x))
			break;
		r->heap[at] = r->heap[child];
		at = child;
	}
	r->heap[at] = x;
}

static void reorder_push(struct reorder *r, const struct reorder_head *x)
{
	uint32_t at = r->heap_cnt++;

	for (; at > 0 && reorder_is_before(x, &r->heap[(at - 1) / 2]); at = (at - 1) / 2)
		r->heap[at] = r->heap[(at - 1) / 2];
	r->heap[at] = *x;
}

/* A filled block takes its place among the others. */
static void reorder_add(struct reorder *r, struct momentblock *b)
{
	if (b->cnt == 0) {
		b->next = r->spare;
		r->spare = b;
		return;
	}
	momentblock_sort(b);
	reorder_push(r, &(struct reorder_head){ momentblock_at(b, 0)->ts_ns, r->blocks++, b });
}

/* The block that fills does not fill any more. */
static void reorder_seal(struct reorder *r)
{
	struct momentblock *b = r->filling;

	r->filling = NULL;
	if (b)
		reorder_add(r, b);
}

static void reorder_fetch(const struct reorder *r, const struct momentblock *b)
{
	uint32_t i = b->head + REORDER_AHEAD;

	/* a moment may lie on two lines of the cache */
	if (i + REORDER_AHEAD < b->cnt) {
		__builtin_prefetch(momentblock_at(b, i + REORDER_AHEAD));
		__builtin_prefetch(momentblock_at(b, i + REORDER_AHEAD) + 1);
	}
	if (r->ahead && i < b->cnt)
		r->ahead(r->ctx, momentblock_at(b, i));
}

/* Removes the top's head, now that it was used. */
static void reorder_step(struct reorder *r)
{
	struct momentblock *b = r->heap[0].block;

	if (++b->head < b->cnt) {
		r->heap[0].ts_ns = momentblock_at(b, b->head)->ts_ns;
	} else {
		b->next = r->spare;
		r->spare = b;
		r->heap[0] = r->heap[--r->heap_cnt];
	}
	reorder_sift_down(r);
}

/* Makes sure that the block that fills has a place. */
static bool reorder_room(struct reorder *r)
{
	if (r->filling && r->filling->cnt < MOMENTBLOCK_CNT)
		return true;
	reorder_seal(r);
	r->filling = reorder_block_new(r);
	return r->filling;
}

static void reorder_append(struct reorder *r, const struct moment *m)
{
	*momentblock_next(r->filling) = *m;
	momentblock_add(r->filling);
	r->cnt++;
}

/* Many blocks of which little is left: puts it into few, in order. Without memory for that the
 * rest is lost. */
static int reorder_pack(struct reorder *r)
{
	struct reorder to = { .heap = r->packed, .packed = r->heap, .blocks = r->blocks };
	int err = 0;

	while (r->heap_cnt) {
		const struct momentblock *b = r->heap[0].block;

		if (!to.spare && r->spare) { /* what is emptied here is filled there */
			to.spare = r->spare;
			r->spare = r->spare->next;
			to.spare->next = NULL;
		}
		if (err == 0 && !reorder_room(&to))
			err = -ENOMEM;
		if (err == 0)
			reorder_append(&to, momentblock_at(b, b->head));
		reorder_step(r);
	}
	reorder_seal(&to);
	while (to.spare) {
		struct momentblock *b = to.spare;

		to.spare = b->next;
		b->next = r->spare;
		r->spare = b;
	}
	r->heap = to.heap;
	r->heap_cnt = to.heap_cnt;
	r->packed = to.packed;
	r->blocks = to.blocks;
	r->cnt = to.cnt;
	return err;
}

/* Gives out the `cnt` earliest. After an error of `out` they are dropped. */
static int reorder_give(struct reorder *r, uint32_t cnt)
{
	int err = 0, pack_err = 0;

	reorder_seal(r);
	r->cnt -= cnt;
	for (; cnt > 0; cnt--) {
		const struct momentblock *b = r->heap[0].block;
		const struct moment *m = momentblock_at(b, b->head);

		reorder_fetch(r, b);
		if (m->ts_ns < r->last_ns)
			r->late++;
		else
			r->last_ns = m->ts_ns;
		if (err == 0)
			err = r->out(r->ctx, m);
		reorder_step(r);
	}
	/* as many as before, before the next time */
	if (r->heap_cnt > reorder_heads_max(r) / 4 * 3)
		pack_err = reorder_pack(r);
	return err ? err : pack_err;
}

int reorder_put(struct reorder *r, const struct moment *m)
{
	int err = 0;

	if (r->cnt == r->cap)
		err = reorder_give(r, reorder_piece(r));
	if (!reorder_room(r)) { /* no memory for another block: those at hand are emptied */
		err = reorder_give(r, r->cnt);
		if (!reorder_room(r))
			return -ENOMEM;
	}
	reorder_append(r, m);
	return err;
}

int reorder_take(struct reorder *r, struct momentblock *b)
{
	int err = 0, pack_err = 0;

	reorder_seal(r);
	while (err == 0 && r->cnt > 0 && r->cnt + b->cnt > r->cap)
		err = reorder_give(r, r->cnt < reorder_piece(r) ? r->cnt : reorder_piece(r));
	if (r->heap_cnt == reorder_heads_max(r))
		pack_err = reorder_pack(r);
	r->cnt += b->cnt;
	reorder_add(r, b);
	return err ? err : pack_err;
}

struct momentblock *reorder_spare(struct reorder *r)
{
	struct momentblock *b = r->spare;

	if (b)
		r->spare = b->next;
	return b;
}

int reorder_flush(struct reorder *r)
{
	return reorder_give(r, r->cnt);
}

uint64_t reorder_late(const struct reorder *r)
{
	return r->late;
}
