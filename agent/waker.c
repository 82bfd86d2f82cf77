// SPDX-License-Identifier: Apache-2.0
/* waker.c - tries every run of four code pointers, cheapest test first. */
#include "waker.h"

#include "code.h"
#include "image.h"
#include "relocs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WAKER_WINDOW_SZ (1u << 20)
#define WAKER_FUNCS 4
#define WAKER_INSNS_MAX 24 /* of one function */
#define WAKER_REF_ONE 0x40

struct waker_body { /* what a function's first instructions do */
	bool has_xadd, has_ref_inc, has_ref_dec, has_table;
};

static bool waker_names(struct relocs *relocs, const struct code_op *op, uint64_t table)
{
	uint64_t slot;

	if (!op->mem_addr)
		return false;
	if (op->lea_to != CODE_NONE)
		return op->mem_addr == table;
	return op->load_to != CODE_NONE && !relocs_read(relocs, op->mem_addr, &slot, 8) &&
	       slot == table;
}

/* Straight on through the body; a branch not taken. Ends at a jump, return or bad bytes. */
static struct waker_body waker_look(struct image *img, struct relocs *relocs, uint64_t at,
				    uint64_t table)
{
	struct waker_body body = { 0 };
	struct code_op op;

	for (int i = 0; i < WAKER_INSNS_MAX && !code_read(img, at, &op); i++, at += op.len) {
		int32_t imm = 0;

		/* both the 8-bit and the 32-bit form end in the immediate */
		if (op.len >= 4)
			memcpy(&imm, op.bytes + op.len - 4, sizeof(imm));
		body.has_xadd |= op.xadd_reg != CODE_NONE;
		body.has_ref_inc |= imm == WAKER_REF_ONE || op.bytes[op.len - 1] == WAKER_REF_ONE;
		body.has_ref_dec |=
			imm == -WAKER_REF_ONE || op.bytes[op.len - 1] == (uint8_t)-WAKER_REF_ONE;
		body.has_table |= waker_names(relocs, &op, table);
		if (op.flow == CODE_JUMP || op.flow == CODE_STOP || op.flow == CODE_JUMP_INDIRECT)
			break;
	}
	return body;
}

static bool waker_is(struct image *img, struct relocs *relocs, uint64_t table, const uint64_t *w)
{
	static const uint8_t xadd[] = { 0x0f, 0xc1 };
	struct waker_body body;
	uint8_t head[48];
	size_t n;

	for (int i = 0; i < WAKER_FUNCS; i++)
		if (!image_is_code(img, w[i]))
			return false;
	n = image_read_some(img, w[0], head, sizeof(head));
	if (!n || !memmem(head, n, xadd, sizeof(xadd)))
		return false;
	body = waker_look(img, relocs, w[0], table);
	if (!body.has_xadd || !body.has_ref_inc || !body.has_table)
		return false;
	body = waker_look(img, relocs, w[3], table);
	return body.has_xadd && body.has_ref_dec;
}

int waker_find(struct image *img, struct relocs *relocs, uint64_t *ret_vaddr)
{
	const uint64_t overlap = 8 * (WAKER_FUNCS - 1);
	uint64_t *buf = malloc(WAKER_WINDOW_SZ);
	unsigned tries = 0;
	int err = buf ? -ENOENT : -ENOMEM;

	for (size_t s = 0; s < img->segs_cnt && err == -ENOENT; s++) {
		const struct image_segment *seg = &img->segs[s];
		uint64_t at = (seg->vaddr + 7) & ~7ull, end = seg->vaddr + seg->file_sz;

		if (!seg->is_write && img->is_pie)
			continue;
		while (at < end && end - at > overlap && err == -ENOENT) {
			uint64_t left = (end - at) & ~7ull;
			size_t sz = left < WAKER_WINDOW_SZ ? (size_t)left : WAKER_WINDOW_SZ;

			if (relocs_read(relocs, at, buf, sz)) {
				err = -EIO;
				break;
			}
			for (size_t i = 0; i + WAKER_FUNCS <= sz / 8 && tries < WAKER_TRIES_MAX;
			     i++) {
				if (!image_is_code(img, buf[i]))
					continue;
				tries++;
				if (waker_is(img, relocs, at + 8 * i, buf + i)) {
					*ret_vaddr = at + 8 * i;
					err = 0;
					break;
				}
			}
			if (sz == left)
				break;
			at += sz - overlap;
		}
	}
	free(buf);
	return err;
}
