// SPDX-License-Identifier: Apache-2.0
/*
 * returns.c - the shape `obj->ops->first(obj)` with ops at 0x10 is common in C and C++ too, so the
 * few bytes around a candidate are judged first; only what survives is decoded from its
 * function's start.
 */
#include "returns.h"

#include "code.h"
#include "image.h"
#include "scan.h"
#include "values.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

#define RETURNS_BACK 40u /* bytes before the call in which the load is looked for */
#define RETURNS_COPY_BACK 64u /* bytes before the load in which rdi may have got the header */
#define RETURNS_BYTES 96u /* enough for RETURNS_INSNS_MAX instructions */
#define RETURNS_VTABLE_OFF 0x10

static int returns_add(struct returns *r, uint64_t vaddr)
{
	if (r->loads_cnt && r->loads[r->loads_cnt - 1] >= vaddr)
		return 0; /* seen with an earlier call */
	if (r->loads_cnt == RETURNS_MAX) {
		r->left_cnt++;
		return 0;
	}
	if (r->loads_cnt == r->loads_cap) {
		size_t cap = r->loads_cap ? r->loads_cap * 2 : 256;
		uint64_t *loads = realloc(r->loads, cap * sizeof(*loads));

		if (!loads)
			return -ENOMEM;
		r->loads = loads;
		r->loads_cap = cap;
	}
	r->loads[r->loads_cnt++] = vaddr;
	return 0;
}

static bool returns_is_load(const struct code_op *op, const struct values *v, uint32_t base,
			    int64_t off)
{
	return op->load_to != CODE_NONE && op->mem_base != CODE_NONE &&
	       op->mem_index == CODE_NONE && op->mem_disp == off && v->of[op->mem_base] == base;
}

/* Does this indirect call or jump go through `poll`, or through slot 0 of `vtable`? */
static bool returns_is_through(const struct code_op *op, const struct values *v, uint32_t vtable,
			       uint32_t poll)
{
	if (op->call_reg != CODE_NONE)
		return v->of[op->call_reg] == poll;
	return op->mem_base != CODE_NONE && op->mem_index == CODE_NONE && !op->mem_disp &&
	       v->of[op->mem_base] == vtable;
}

/*
 * Decodes from the load at `vaddr` to the call. `v` holds what is known of the registers before.
 * 0, with *ret filled and *ret_rdi_same saying whether the argument is the header; -ENOENT.
 */
static int returns_follow(const uint8_t *b, size_t sz, uint64_t vaddr, struct values *v,
			  struct returns_call *ret, bool *ret_rdi_same)
{
	uint32_t header, vtable, poll = UINT32_MAX;
	bool is_rdi_loaded = false;
	struct code_op op;
	size_t at;

	if (code_decode(b, sz, vaddr, &op) || op.load_to == CODE_NONE || op.mem_base == CODE_NONE ||
	    op.mem_index != CODE_NONE || op.mem_disp != RETURNS_VTABLE_OFF)
		return -ENOENT;
	header = v->of[op.mem_base];
	values_step(v, &op);
	vtable = v->of[op.load_to];
	for (int n = 0;; n++) {
		bool is_slot;

		at = (size_t)(op.vaddr - vaddr) + op.len;
		if (n == RETURNS_INSNS_MAX || code_decode(b + at, sz - at, vaddr + at, &op))
			return -ENOENT;
		if (op.flow != CODE_NEXT)
			break;
		is_slot = returns_is_load(&op, v, vtable, 0);
		values_step(v, &op);
		if (is_slot)
			poll = v->of[op.load_to];
		if (op.writes & 1u << WIRE_RDI)
			is_rdi_loaded = op.load_to == WIRE_RDI;
	}
	if ((op.flow != CODE_CALL_INDIRECT && op.flow != CODE_JUMP_INDIRECT) ||
	    !returns_is_through(&op, v, vtable, poll))
		return -ENOENT;
	ret->call = op.vaddr;
	ret->after = op.vaddr + op.len;
	ret->is_jump = op.flow == CODE_JUMP_INDIRECT;
	ret->is_loose = v->of[WIRE_RDI] != header && is_rdi_loaded && op.call_reg != CODE_NONE;
	ret->is_wrapper = header == WIRE_RDI;
	*ret_rdi_same = v->of[WIRE_RDI] == header || ret->is_loose;
	return 0;
}

/* REX.W mov reg, [base + 0x10]: base, or CODE_NONE; *ret_reg is the register it fills */
static uint8_t returns_load_base(const uint8_t *b, uint8_t *ret_reg)
{
	bool has_sib = (b[2] & 7) == 4;

	if ((b[0] & 0xf8) != 0x48 || b[1] != 0x8b || (b[2] & 0xc0) != 0x40)
		return CODE_NONE;
	if (has_sib ? b[3] != 0x24 || b[4] != RETURNS_VTABLE_OFF : b[3] != RETURNS_VTABLE_OFF)
		return CODE_NONE;
	*ret_reg = (uint8_t)((b[2] >> 3 & 7) | (b[0] & 4) << 1);
	return (uint8_t)((b[2] & 7) | (b[0] & 1) << 3);
}

/* A move between registers x and y, either way, in the `back` bytes before b. */
static bool returns_has_copy(const uint8_t *b, size_t back, uint32_t x, uint32_t y)
{
	for (size_t j = back; j >= 3; j--) {
		const uint8_t *m = b - j;
		uint8_t from = (uint8_t)((m[2] >> 3 & 7) | (m[0] & 4) << 1);
		uint8_t to = (uint8_t)((m[2] & 7) | (m[0] & 1) << 3);

		if ((m[0] & 0xfa) == 0x48 && (m[1] == 0x89 || m[1] == 0x8b) && m[2] >= 0xc0 &&
		    ((from == x && to == y) || (from == y && to == x)))
			return true;
	}
	return false;
}

/* Judges a candidate load by the bytes around it alone, taken as instructions. */
static bool returns_fits(const struct scan_hit *hit, size_t back, uint8_t base)
{
	const uint8_t *b = hit->bytes - back;
	size_t before = hit->before_sz - back, sz = back + hit->after_sz;
	struct returns_call call;
	struct values v;
	bool is_rdi_same;

	if (before > RETURNS_COPY_BACK)
		before = RETURNS_COPY_BACK;
	values_init(&v);
	if (returns_follow(b, sz < RETURNS_BYTES ? sz : RETURNS_BYTES, hit->vaddr - back, &v, &call,
			   &is_rdi_same))
		return false;
	/* the call found must be the one hit, not one behind it or a prefix of it */
	if (call.call != hit->vaddr && call.call + 1 != hit->vaddr)
		return false;
	/* below 16 rdi holds what a register held at the load: maybe a copy made before it */
	return is_rdi_same ||
	       (v.of[WIRE_RDI] < 16 && returns_has_copy(b, before, v.of[WIRE_RDI], base));
}

int returns_hit(struct returns *r, const struct scan_hit *hit)
{
	const uint8_t *b = hit->bytes;
	bool is_mem = b[1] < 0xc0;
	uint8_t low = b[1] & 7, reg, base;
	size_t back = hit->before_sz < RETURNS_BACK ? hit->before_sz : RETURNS_BACK;

	if (is_mem && b[1] < 0x40 && low == 4 && b[2] != 0x24)
		return 0; /* indexed */
	for (size_t j = back; j >= 4; j--) {
		base = returns_load_base(b - j, &reg);
		/* through a register the load of slot 0 stands between: left to the decoder */
		if (base != CODE_NONE && (!is_mem || (reg & 7) == low) &&
		    returns_fits(hit, j, base)) {
			int err = returns_add(r, hit->vaddr - j);

			if (err)
				return err;
		}
	}
	return 0;
}

static void returns_step(const struct code_op *op, void *ctx)
{
	values_step(ctx, op);
}

int returns_prove(const struct returns *r, size_t i, struct image *img, const struct starts *starts,
		  struct returns_call *ret)
{
	uint64_t at = r->loads[i];
	uint8_t b[RETURNS_BYTES];
	struct values v;
	bool is_rdi_same;
	size_t n;

	values_init(&v);
	if (code_prove(img, starts, at, &ret->func, returns_step, &v))
		return -ENOENT;
	n = image_read_some(img, at, b, sizeof(b));
	if (!n || returns_follow(b, n, at, &v, ret, &is_rdi_same) || !is_rdi_same)
		return -ENOENT;
	return 0;
}

void returns_done(struct returns *r)
{
	free(r->loads);
	*r = (struct returns){ 0 };
}
