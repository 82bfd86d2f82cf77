// SPDX-License-Identifier: Apache-2.0
/* returns.c - byte test first, then decoding from the function's start. */
#include "returns.h"

#include "code.h"
#include "scan.h"
#include "values.h"

#include <errno.h>
#include <stdlib.h>

#define RETURNS_BACK 40u /* bytes before the call in which the load is looked for */
#define RETURNS_RDI 7
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

/* REX.W mov reg, [base + 0x10]: the register it fills, or CODE_NONE */
static uint8_t returns_load_reg(const uint8_t *b)
{
	bool has_sib = (b[2] & 7) == 4;

	if ((b[0] & 0xf8) != 0x48 || b[1] != 0x8b || (b[2] & 0xc0) != 0x40)
		return CODE_NONE;
	if (has_sib ? b[3] != 0x24 || b[4] != RETURNS_VTABLE_OFF : b[3] != RETURNS_VTABLE_OFF)
		return CODE_NONE;
	return (uint8_t)((b[2] >> 3 & 7) | (b[0] & 4) << 1);
}

int returns_hit(struct returns *r, const struct scan_hit *hit)
{
	const uint8_t *b = hit->bytes;
	bool is_mem = b[1] < 0xc0;
	uint8_t low = b[1] & 7;
	size_t back = hit->before_sz < RETURNS_BACK ? hit->before_sz : RETURNS_BACK;

	if (is_mem && b[1] < 0x40 && (low == 5 || (low == 4 && b[2] != 0x24)))
		return 0; /* rip-relative, indexed */
	for (size_t j = back; j >= 4; j--) {
		uint8_t reg = returns_load_reg(b - j);

		/* through a register the load of slot 0 stands between: left to the decoder */
		if (reg != CODE_NONE && (!is_mem || (reg & 7) == low)) {
			int err = returns_add(r, hit->vaddr - j);

			if (err)
				return err;
		}
	}
	return 0;
}

struct returns_track {
	struct values values;
};

static void returns_step(const struct code_op *op, void *ctx)
{
	struct returns_track *t = ctx;

	values_step(&t->values, op);
}

int returns_prove(const struct returns *r, size_t i, struct image *img,
		  const struct starts *starts, struct returns_call *ret)
{
	uint64_t at = r->loads[i];
	struct returns_track t;
	uint32_t header, vtable, poll = UINT32_MAX;
	struct code_op op;

	values_init(&t.values);
	if (code_prove(img, starts, at, &ret->func, returns_step, &t) || code_read(img, at, &op) ||
	    op.load_to == CODE_NONE || op.mem_base == CODE_NONE || op.mem_index != CODE_NONE ||
	    op.mem_disp != RETURNS_VTABLE_OFF)
		return -ENOENT;
	header = t.values.of[op.mem_base];
	values_step(&t.values, &op);
	vtable = t.values.of[op.load_to];
	for (int n = 0; n < RETURNS_INSNS_MAX; n++) {
		at += op.len;
		if (code_read(img, at, &op))
			return -ENOENT;
		if (op.flow == CODE_CALL_INDIRECT || op.flow == CODE_JUMP_INDIRECT)
			break;
		if (op.flow != CODE_NEXT)
			return -ENOENT;
		values_step(&t.values, &op);
		if (op.load_to != CODE_NONE && op.mem_base != CODE_NONE && !op.mem_disp &&
		    op.mem_index == CODE_NONE && t.values.of[op.mem_base] == vtable)
			poll = t.values.of[op.load_to];
	}
	if (op.flow != CODE_CALL_INDIRECT && op.flow != CODE_JUMP_INDIRECT)
		return -ENOENT;
	if (t.values.of[RETURNS_RDI] != header)
		return -ENOENT;
	if (op.call_reg != CODE_NONE ? t.values.of[op.call_reg] != poll :
		    op.mem_base == CODE_NONE || op.mem_index != CODE_NONE || op.mem_disp ||
			    t.values.of[op.mem_base] != vtable)
		return -ENOENT;
	ret->call = at;
	ret->after = at + op.len;
	ret->is_jump = op.flow == CODE_JUMP_INDIRECT;
	ret->is_budgeted = false;
	return 0;
}

void returns_done(struct returns *r)
{
	free(r->loads);
	*r = (struct returns){ 0 };
}
