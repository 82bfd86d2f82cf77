// SPDX-License-Identifier: Apache-2.0
/*
 * reorder.c - blocks of moments, each sorted once while it is in the cache, and a heap of their
 * heads. A moment is written once and read once where it lies: only its number is sorted.
 */
#include "reorder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define REORDER_BLOCK_BITS 11
#define REORDER_BLOCK (1u << REORDER_BLOCK_BITS) /* moments */
#define REORDER_DIGIT_BITS 9u /* sorted at a time */
#define REORDER_DIGITS (1u << REORDER_DIGIT_BITS)
#define REORDER_AHEAD 6u /* moments fetched before they are given out */

struct reorder_block {
	struct reorder_block *next; /* among the spare ones */
	uint32_t cnt, head; /* those before head were given out */
	uint64_t least_ns, most_ns;
	bool is_sorted; /* they came in order */
	uint16_t order[REORDER_BLOCK];
	struct moment moments[REORDER_BLOCK];
};

struct reorder_head {
	uint64_t ts_ns; /* of the block's head */
	uint64_t number; /* of blocks in file order: among equal stamps the earlier goes first */
	struct reorder_block *block;
};

struct reorder {
	struct reorder_head *heap; /* full blocks, the earliest head first */
	uint32_t heap_cnt;
	struct reorder_head *packed; /* room for another such heap */
	struct reorder_block *filling, *spare;
	uint32_t cnt, cap; /* moments */
	uint64_t blocks; /* filled so far */
	uint64_t last_ns; /* stamp of the last moment given out */
	uint64_t late;
	int (*out)(void *ctx, const struct moment *m);
	void (*ahead)(void *ctx, const struct moment *m);
	void *ctx;
};

/* Blocks that hold too little each are packed anew beyond this number. */
static uint32_t reorder_blocks_max(const struct reorder *r)
{
	return r->cap / REORDER_BLOCK + 2;
}

static struct reorder_block *reorder_block_new(struct reorder *r)
{
	struct reorder_block *b = r->spare;

	if (b)
		r->spare = b->next;
	else
		b = malloc(sizeof(*b));
	if (b) {
		b->cnt = b->head = 0;
		b->least_ns = UINT64_MAX;
		b->most_ns = 0;
		b->is_sorted = true;
	}
	return b;
}

struct reorder *reorder_new(uint32_t cap, int (*out)(void *ctx, const struct moment *m),
			    void (*ahead)(void *ctx, const struct moment *m), void *ctx)
{
	struct reorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct reorder){ .cap = cap, .out = out, .ahead = ahead, .ctx = ctx };
	/* between two times that half is given out, the other half comes */
	r->heap = malloc(2 * reorder_blocks_max(r) * sizeof(*r->heap));
	r->packed = malloc(2 * reorder_blocks_max(r) * sizeof(*r->packed));
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
		struct reorder_block *next = r->spare->next;

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

static int reorder_compare(const void *left, const void *right, void *ctx)
{
	const struct moment *m = ctx;
	uint16_t i = *(const uint16_t *)left, k = *(const uint16_t *)right;
	int order = (m[i].ts_ns > m[k].ts_ns) - (m[i].ts_ns < m[k].ts_ns);

	return order ? order : (i > k) - (i < k);
}

/* Sorts by stamp and, being stable, by place: digit after digit of the stamps, the lowest first.
 * `bits` is how many of them differ. */
static void reorder_sort_digits(struct reorder_block *b, unsigned int bits)
{
	uint64_t keys[2][REORDER_BLOCK]; /* stamp and place in one word */
	uint64_t *from = keys[0], *to = keys[1], *swap;

	for (uint32_t i = 0; i < b->cnt; i++)
		from[i] = (b->moments[i].ts_ns - b->least_ns) << REORDER_BLOCK_BITS | i;
	for (unsigned int at = 0; at < bits; at += REORDER_DIGIT_BITS) {
		uint32_t begins[REORDER_DIGITS + 1] = { 0 };
		unsigned int shift = REORDER_BLOCK_BITS + at;

		for (uint32_t i = 0; i < b->cnt; i++)
			begins[(from[i] >> shift & (REORDER_DIGITS - 1)) + 1]++;
		for (uint32_t i = 1; i < REORDER_DIGITS; i++)
			begins[i] += begins[i - 1];
		for (uint32_t i = 0; i < b->cnt; i++)
			to[begins[from[i] >> shift & (REORDER_DIGITS - 1)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	for (uint32_t i = 0; i < b->cnt; i++)
		b->order[i] = from[i] & (REORDER_BLOCK - 1);
}

static void reorder_sort(struct reorder_block *b)
{
	unsigned int bits = 64;

	if (b->is_sorted)
		return;
	bits -= (unsigned int)__builtin_clzll(b->most_ns - b->least_ns);
	if (bits + REORDER_BLOCK_BITS <= 64) {
		reorder_sort_digits(b, bits);
		return;
	}
	for (uint32_t i = 0; i < b->cnt; i++)
		b->order[i] = (uint16_t)i;
	qsort_r(b->order, b->cnt, sizeof(b->order[0]), reorder_compare, b->moments);
}

static const struct moment *reorder_at(const struct reorder_block *b, uint32_t i)
{
	return &b->moments[b->is_sorted ? i : b->order[i]];
}

/* The block that fills takes its place among the others. */
static void reorder_seal(struct reorder *r)
{
	struct reorder_block *b = r->filling;

	r->filling = NULL;
	if (!b)
		return;
	if (b->cnt == 0) {
		b->next = r->spare;
		r->spare = b;
		return;
	}
	reorder_sort(b);
	reorder_push(r, &(struct reorder_head){ reorder_at(b, 0)->ts_ns, r->blocks++, b });
}

static void reorder_fetch(const struct reorder *r, const struct reorder_block *b)
{
	uint32_t i = b->head + REORDER_AHEAD;

	/* a moment may lie on two lines of the cache */
	if (i + REORDER_AHEAD < b->cnt) {
		__builtin_prefetch(reorder_at(b, i + REORDER_AHEAD));
		__builtin_prefetch(reorder_at(b, i + REORDER_AHEAD) + 1);
	}
	if (r->ahead && i < b->cnt)
		r->ahead(r->ctx, reorder_at(b, i));
}

/* Removes the top's head, now that it was used. */
static void reorder_step(struct reorder *r)
{
	struct reorder_block *b = r->heap[0].block;

	if (++b->head < b->cnt) {
		r->heap[0].ts_ns = reorder_at(b, b->head)->ts_ns;
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
	if (r->filling && r->filling->cnt < REORDER_BLOCK)
		return true;
	reorder_seal(r);
	r->filling = reorder_block_new(r);
	return r->filling;
}

static void reorder_append(struct reorder *r, const struct moment *m)
{
	struct reorder_block *b = r->filling;

	b->is_sorted = b->is_sorted && m->ts_ns >= b->most_ns;
	b->least_ns = m->ts_ns < b->least_ns ? m->ts_ns : b->least_ns;
	b->most_ns = m->ts_ns > b->most_ns ? m->ts_ns : b->most_ns;
	b->moments[b->cnt++] = *m;
	r->cnt++;
}

/* Many blocks of which little is left: puts it into few, in order. Without memory for that the
 * rest is lost. */
static int reorder_pack(struct reorder *r)
{
	struct reorder to = { .heap = r->packed, .packed = r->heap, .blocks = r->blocks };
	int err = 0;

	while (r->heap_cnt) {
		const struct reorder_block *b = r->heap[0].block;

		if (!to.spare && r->spare) { /* what is emptied here is filled there */
			to.spare = r->spare;
			r->spare = r->spare->next;
			to.spare->next = NULL;
		}
		if (err == 0 && !reorder_room(&to))
			err = -ENOMEM;
		if (err == 0)
			reorder_append(&to, reorder_at(b, b->head));
		reorder_step(r);
	}
	reorder_seal(&to);
	while (to.spare) {
		struct reorder_block *b = to.spare;

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
		const struct reorder_block *b = r->heap[0].block;
		const struct moment *m = reorder_at(b, b->head);

		reorder_fetch(r, b);
		if (m->ts_ns < r->last_ns)
			r->late++;
		else
			r->last_ns = m->ts_ns;
		if (err == 0)
			err = r->out(r->ctx, m);
		reorder_step(r);
	}
	if (r->heap_cnt > reorder_blocks_max(r))
		pack_err = reorder_pack(r);
	return err ? err : pack_err;
}

int reorder_put(struct reorder *r, const struct moment *m)
{
	int err = 0;

	if (r->cnt == r->cap)
		err = reorder_give(r, r->cap / 2);
	if (!reorder_room(r)) { /* no memory for another block: those at hand are emptied */
		err = reorder_give(r, r->cnt);
		if (!reorder_room(r))
			return -ENOMEM;
	}
	reorder_append(r, m);
	return err;
}

int reorder_flush(struct reorder *r)
{
	return reorder_give(r, r->cnt);
}

uint64_t reorder_late(const struct reorder *r)
{
	return r->late;
}
