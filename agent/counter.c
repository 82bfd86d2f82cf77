// SPDX-License-Identifier: Apache-2.0
/* counter.c - lock xadd on static data. */
#include "counter.h"

#include "code.h"
#include "image.h"
#include "relocs.h"
#include "scan.h"
#include "values.h"
#include "wrappers.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

#define COUNTER_GOT_BACK 96u /* bytes before the xadd in which its GOT slot is loaded */
#define COUNTER_START 1
#define COUNTER_LEAF_INSNS 8 /* between the draw and the return of a function that does no more */

static bool counter_is_static(const struct image *img, uint64_t vaddr)
{
	const struct image_segment *s = image_segment_at(img, vaddr, 8);

	return s && s->is_write && !(vaddr & 7);
}

/*
 * The counter's address comes into register `reg` within the bytes before the instruction:
 * mov reg, [rip + x] from its GOT slot, or what GNU ld and mold make of that when they know the
 * address: lea reg, [rip + x], in a file with fixed addresses mov reg, imm32.
 */
static bool counter_has_address(const struct scan_hit *hit, uint8_t reg)
{
	size_t back = hit->before_sz < COUNTER_GOT_BACK ? hit->before_sz : COUNTER_GOT_BACK;

	for (size_t j = back; j >= 7; j--) {
		const uint8_t *b = hit->bytes - j;

		if ((b[0] & 0xfb) == 0x48 && (b[1] == 0x8b || b[1] == 0x8d) &&
		    (b[2] & 0xc7) == 0x05 && ((b[2] >> 3 & 7) | (b[0] & 4) << 1) == reg)
			return true;
		if ((b[0] & 0xfe) == 0x48 && b[1] == 0xc7 && (b[2] & 0xf8) == 0xc0 &&
		    ((b[2] & 7) | (b[0] & 1) << 3) == reg)
			return true;
	}
	return false;
}

int counter_keep(struct counter_draws *c, const struct counter_draw *d)
{
	if (c->cnt == COUNTER_DRAWS_MAX) {
		c->left_cnt++;
		return 0;
	}
	if (c->cnt == c->cap) {
		size_t cap = c->cap ? c->cap * 2 : 64;
		struct counter_draw *draws = realloc(c->draws, cap * sizeof(*draws));

		if (!draws)
			return -ENOMEM;
		c->draws = draws;
		c->cap = cap;
	}
	c->draws[c->cnt++] = *d;
	return 0;
}

int counter_hit(struct counter_draws *c, struct image *img, const struct scan_hit *hit)
{
	const uint8_t *b = hit->bytes;
	struct counter_draw d = { .vaddr = hit->vaddr };
	int32_t disp;

	if (hit->after_sz < 5 || !(b[1] & 8))
		return 0;
	if ((b[4] & 0xc7) == 0x05) {
		if (hit->after_sz < 9)
			return 0;
		memcpy(&disp, b + 5, sizeof(disp));
		d.counter = hit->vaddr + 9 + (uint64_t)(int64_t)disp;
		if (!counter_is_static(img, d.counter))
			return 0;
	} else if ((b[4] & 0xc0) != 0 || (b[4] & 7) == 4 ||
		   !counter_has_address(hit, (uint8_t)((b[4] & 7) | (b[1] & 1) << 3))) {
		return 0;
	}
	return counter_keep(c, &d);
}

/* A register that holds a number known from the code: the number, or the slot it was loaded from. */
struct counter_known {
	uint64_t vaddr; /* 0 = nothing is known */
	uint32_t value; /* the register's value then: it still holds when values.h has the same */
	bool is_slot;
};

struct counter_track {
	struct values values;
	struct counter_known known[16];
};

static void counter_step(const struct code_op *op, void *ctx)
{
	struct counter_track *t = ctx;
	struct counter_known k = { 0 };
	uint8_t to = CODE_NONE;

	values_step(&t->values, op);
	if (op->copy_to != CODE_NONE) {
		to = op->copy_to;
		if (t->known[op->copy_from].value == t->values.of[to])
			k = t->known[op->copy_from];
	} else if (op->load_to != CODE_NONE && op->mem_addr) {
		to = op->load_to;
		k = (struct counter_known){ .vaddr = op->mem_addr, .is_slot = true };
	} else if (op->lea_to != CODE_NONE && op->mem_addr) {
		to = op->lea_to;
		k.vaddr = op->mem_addr;
	} else if (op->len == 7 && (op->bytes[0] & 0xfe) == 0x48 && op->bytes[1] == 0xc7 &&
		   (op->bytes[2] & 0xf8) == 0xc0) { /* mov r64, imm32 */
		uint32_t imm;

		memcpy(&imm, op->bytes + 3, sizeof(imm));
		to = (uint8_t)((op->bytes[2] & 7) | (op->bytes[0] & 1) << 3);
		k.vaddr = imm;
	}
	if (k.vaddr) {
		k.value = t->values.of[to];
		t->known[to] = k;
	}
}

/* Fills the rest of *d. -ENOENT: not a draw. */
static int counter_prove(struct counter_draw *d, struct image *img, struct relocs *relocs,
			 const struct starts *starts)
{
	struct counter_track t = { .known = { { 0 } } };
	uint64_t start_value;
	struct code_op op;

	values_init(&t.values);
	if (code_prove(img, starts, d->vaddr, &d->func, d->counter ? NULL : counter_step, &t) ||
	    code_read(img, d->vaddr, &op) || op.xadd_reg == CODE_NONE)
		return -ENOENT;
	if (!d->counter) {
		uint8_t b = op.mem_base;

		if (b == CODE_NONE || op.mem_disp || op.mem_index != CODE_NONE ||
		    t.known[b].value != t.values.of[b] || !t.known[b].vaddr)
			return -ENOENT;
		d->counter = t.known[b].vaddr;
		if ((t.known[b].is_slot && relocs_read(relocs, d->counter, &d->counter, 8)) ||
		    !counter_is_static(img, d->counter))
			return -ENOENT;
	} else if (op.mem_addr != d->counter) {
		return -ENOENT;
	}
	if (relocs_read(relocs, d->counter, &start_value, 8) || start_value != COUNTER_START)
		return -ENOENT;
	d->after = d->vaddr + op.len;
	d->reg = op.xadd_reg;
	return 0;
}

static int counter_by_address(const void *a, const void *b)
{
	const struct counter_draw *x = a, *y = b;

	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int counter_by_size(const void *a, const void *b)
{
	const struct counter_draw *x = a, *y = b;

	if (x->group_cnt != y->group_cnt)
		return x->group_cnt > y->group_cnt ? -1 : 1;
	return counter_by_address(a, b);
}

static void counter_sort(struct counter_draws *c)
{
	if (!c->cnt)
		return;
	qsort(c->draws, c->cnt, sizeof(*c->draws), counter_by_address);
	for (size_t i = 0, j; i < c->cnt; i = j) {
		for (j = i; j < c->cnt && c->draws[j].counter == c->draws[i].counter; j++)
			;
		for (size_t k = i; k < j; k++)
			c->draws[k].group_cnt = (uint32_t)(j - i);
	}
	qsort(c->draws, c->cnt, sizeof(*c->draws), counter_by_size);
}

/* The function only draws and returns the number: nothing in it can be probed, its callers can. */
static bool counter_is_leaf(const struct counter_draw *d, struct image *img)
{
	uint64_t at = d->after;
	uint8_t reg = d->reg;
	struct code_op op;

	for (int i = 0; i < COUNTER_LEAF_INSNS && !code_read(img, at, &op); i++, at += op.len) {
		if (op.bytes[0] == 0xc3)
			return reg == WIRE_RAX;
		if (op.flow != CODE_NEXT || op.is_emulated)
			return false;
		if (op.copy_to == WIRE_RAX && op.copy_from == reg)
			reg = WIRE_RAX;
		else if (op.writes & 1u << reg)
			return false;
	}
	return false;
}

int counter_follow(struct counter_draws *c, size_t at, struct image *img, struct relocs *relocs,
		   const struct starts *starts)
{
	struct wrappers_func func = { .vaddr = c->draws[at].func };
	struct counter_draw d = c->draws[at];
	struct wrappers w = { .cnt = 0 };
	bool is_first = true;
	struct code_op op;
	int err;

	if (!counter_is_leaf(&d, img))
		return 0;
	err = wrappers_add(&w, &func);
	if (!err)
		err = wrappers_find(&w, img, relocs, starts);
	for (size_t i = 0; i < w.cnt && !err; i++) {
		if (code_read(img, w.calls[i].vaddr, &op) ||
		    (op.flow != CODE_CALL && op.flow != CODE_CALL_INDIRECT))
			continue;
		d.vaddr = op.vaddr;
		d.after = op.vaddr + op.len;
		d.func = w.calls[i].caller;
		d.reg = WIRE_RAX;
		if (is_first)
			c->draws[at] = d;
		else
			err = counter_keep(c, &d);
		is_first = false;
	}
	c->left_cnt += w.left_cnt;
	wrappers_done(&w);
	return err;
}

int counter_settle(struct counter_draws *c, struct image *img, struct relocs *relocs,
		   const struct starts *starts)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < c->cnt; i++)
		if (!counter_prove(&c->draws[i], img, relocs, starts))
			c->draws[kept++] = c->draws[i];
	c->cnt = kept;
	for (size_t i = 0; i < kept && !err; i++)
		err = counter_follow(c, i, img, relocs, starts);
	counter_sort(c);
	return err;
}

void counter_done(struct counter_draws *c)
{
	free(c->draws);
	*c = (struct counter_draws){ 0 };
}
