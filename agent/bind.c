// SPDX-License-Identifier: Apache-2.0
/* bind.c - the shape in bytes, then in decoded instructions with their registers followed. */
#include "bind.h"

#include "code.h"
#include "scan.h"
#include "values.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

#define BIND_REACH 40u /* bytes from the store in which both loads must stand */
#define BIND_OWNER_OFF 0x18
#define BIND_VTABLE_OFF 0x10
#define BIND_ID_SLOT_OFF 0x48

/* REX.W mov r, [r + off] somewhere in b[0..sz) */
static int bind_has_load(const uint8_t *b, size_t sz, uint8_t off)
{
	for (size_t i = 0; i + 5 <= sz; i++)
		if ((b[i] & 0xf8) == 0x48 && b[i + 1] == 0x8b && (b[i + 2] & 0xc0) == 0x40 &&
		    ((b[i + 2] & 7) == 4 ? b[i + 4] : b[i + 3]) == off)
			return 1;
	return 0;
}

int bind_hit(struct binds *b, const struct scan_hit *hit)
{
	size_t sz = hit->after_sz < BIND_REACH + 5 ? hit->after_sz : BIND_REACH + 5;

	if (!(hit->bytes[0] & 8) || !bind_has_load(hit->bytes, sz, BIND_VTABLE_OFF) ||
	    !bind_has_load(hit->bytes, sz, BIND_ID_SLOT_OFF))
		return 0;
	if (b->cnt == BIND_MAX) {
		b->left_cnt++;
		return 0;
	}
	if (b->cnt == b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 64;
		uint64_t *stores = realloc(b->stores, cap * sizeof(*stores));

		if (!stores)
			return -ENOMEM;
		b->stores = stores;
		b->cap = cap;
	}
	b->stores[b->cnt++] = hit->vaddr;
	return 0;
}

static void bind_step(const struct code_op *op, void *ctx)
{
	values_step(ctx, op);
}

int bind_prove(const struct binds *b, size_t i, struct image *img, const struct starts *starts,
	       struct bind_place *ret)
{
	uint32_t header, vtable = UINT32_MAX;
	uint64_t at = b->stores[i], end;
	struct values values;
	struct code_op op;

	values_init(&values);
	if (code_prove(img, starts, at, &ret->func, bind_step, &values) ||
	    code_read(img, at, &op) || op.store_from == CODE_NONE || op.mem_base == CODE_NONE ||
	    op.mem_base == WIRE_RSP || op.mem_index != CODE_NONE || op.mem_disp != BIND_OWNER_OFF)
		return -ENOENT; /* on the stack stands a local, never a task's header */
	header = values.of[op.mem_base];
	ret->store = at;
	ret->header_reg = op.mem_base;
	end = at + BIND_REACH;
	for (at += op.len; at < end; at += op.len) {
		if (code_read(img, at, &op) || op.flow != CODE_NEXT)
			return -ENOENT;
		if (op.load_to != CODE_NONE && op.mem_base != CODE_NONE &&
		    op.mem_index == CODE_NONE && op.mem_disp == BIND_ID_SLOT_OFF &&
		    values.of[op.mem_base] == vtable)
			break;
		if (op.load_to != CODE_NONE && op.mem_base != CODE_NONE &&
		    op.mem_index == CODE_NONE && op.mem_disp == BIND_VTABLE_OFF &&
		    values.of[op.mem_base] == header) {
			values_step(&values, &op);
			vtable = values.of[op.load_to];
			continue;
		}
		values_step(&values, &op);
	}
	if (at >= end)
		return -ENOENT;
	ret->is_inlined = header != WIRE_RSI;
	return 0;
}

void bind_done(struct binds *b)
{
	free(b->stores);
	*b = (struct binds){ 0 };
}
