// SPDX-License-Identifier: Apache-2.0
/* site.c - walks the straight line behind a place and takes the cheapest instruction on it. */
#include "site.h"

#include "code.h"
#include "image.h"
#include "relocs.h"
#include "starts.h"

#include <errno.h>
#include <linux/types.h>
#include <string.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

#define SITE_WORDS_MAX 255 /* pushed or skipped on the stack; the cookie has 8 bits */
#define SITE_JUMPS_MAX 2 /* tail jumps followed */

struct site_walk {
	struct image *img;
	struct relocs *relocs;
	const struct starts *starts;
	const struct site_query *q;
	uint64_t line; /* where the straight line began */
	uint16_t held; /* registers that hold the wanted value */
	int64_t stack_sz; /* bytes pushed since q->vaddr */
	/* where the value stands in memory: from rsp at q->vaddr, or from rbp as it is now */
	int64_t slot_off;
	bool has_slot, is_slot_rbp;
	/* registers that point into the stack, and where to, from rsp at q->vaddr */
	uint16_t pointers;
	int64_t pointer_off[16];
	bool is_stack_known; /* stack_sz is right */
	bool is_rdi_lost; /* it was written since q->vaddr */
	unsigned jumps;
};

/* words from rsp up or from rbp down to the slot, or -1 when a cookie cannot tell it */
static int site_slot_word(const struct site_walk *w)
{
	int64_t off = w->is_slot_rbp ? -w->slot_off : w->slot_off + w->stack_sz;

	return w->has_slot && off >= 0 && !(off & 7) && off / 8 <= SITE_WORDS_MAX ? (int)(off / 8)
										  : -1;
}

static bool site_has_value(const struct site_walk *w)
{
	return w->q->reg == CODE_NONE || w->held || (w->q->allow_stack && site_slot_word(w) >= 0);
}

static bool site_is_stack_fit(const struct site_walk *w)
{
	/* only a return site may lie further up the stack: its function's frame may be gone */
	int64_t least = w->q->reg == CODE_NONE && !w->q->is_entry ? -SITE_WORDS_MAX * 8 : 0;

	return w->is_stack_known && w->stack_sz >= least && w->stack_sz <= SITE_WORDS_MAX * 8 &&
	       !(w->stack_sz & 7);
}

static void site_take(const struct site_walk *w, const struct code_op *op, struct plan_site *ret)
{
	ret->vaddr = op->vaddr;
	ret->is_popped = w->stack_sz < 0;
	ret->pushed_words = (uint8_t)(ret->is_popped ? -w->stack_sz / 8 : w->stack_sz / 8);
	ret->is_emulated = op->is_emulated;
	ret->is_list_lost = ret->kind == WIRE_SITE_BIND && (w->is_rdi_lost || !w->q->is_entry);
	ret->stack_word = 0;
	ret->is_below_rbp = false;
	if (w->q->reg == CODE_NONE) {
		ret->reg = WIRE_RAX;
	} else if (w->held) {
		ret->reg = w->held & 1u << w->q->reg ? w->q->reg : (uint8_t)__builtin_ctz(w->held);
	} else {
		ret->reg = WIRE_RSP;
		ret->stack_word = (uint8_t)site_slot_word(w);
		ret->is_below_rbp = w->is_slot_rbp;
	}
	code_format(op, ret->insn, sizeof(ret->insn));
}

/*
 * A jump from further down the function to between its entry and the site would make the site hit
 * again without a new call (a compare-and-swap loop in a function without a frame). A push cannot
 * lie in a loop.
 */
static bool site_is_looped(const struct site_walk *w, const struct code_op *site)
{
	uint64_t start, end, at = site->vaddr;
	struct code_op op = *site;

	if (!w->q->is_entry || site->stack_sz == 8)
		return false;
	if (starts_find(w->starts, site->vaddr, &start, &end))
		end = site->vaddr + site->len; /* no more is known of this function */
	for (; at < end; at += op.len) {
		if (!image_work(w->img, op.len) || code_read(w->img, at, &op))
			return true;
		if ((op.flow == CODE_BRANCH || op.flow == CODE_JUMP) && op.dest >= w->line &&
		    op.dest <= site->vaddr)
			return true;
	}
	return false;
}

/* a memory operand on the stack: its offset, from rsp at q->vaddr or from rbp */
static bool site_stack_off(const struct site_walk *w, const struct code_op *op, int64_t *ret,
			   bool *ret_is_rbp)
{
	if (!op->has_mem || op->mem_index != CODE_NONE)
		return false;
	*ret_is_rbp = false;
	if (op->mem_base != CODE_NONE && (w->pointers & 1u << op->mem_base)) {
		*ret = w->pointer_off[op->mem_base] + op->mem_disp;
		return true;
	}
	*ret_is_rbp = op->mem_base == WIRE_RBP;
	*ret = *ret_is_rbp ? op->mem_disp : op->mem_disp - w->stack_sz;
	/* above rbp lie the caller's words, or rbp is no frame pointer at all */
	return *ret_is_rbp ? op->mem_disp < 0 : op->mem_base == WIRE_RSP && w->is_stack_known;
}

static void site_follow_memory(struct site_walk *w, const struct code_op *op)
{
	bool is_rbp;
	int64_t off;

	if (!site_stack_off(w, op, &off, &is_rbp))
		return;
	if (op->store_from != CODE_NONE && (w->held & 1u << op->store_from)) {
		w->has_slot = true;
		w->is_slot_rbp = is_rbp;
		w->slot_off = off;
	} else if (op->writes_mem && is_rbp == w->is_slot_rbp && off < w->slot_off + 8 &&
		   off + (op->mem_sz ? op->mem_sz : INT16_MAX) > w->slot_off) {
		w->has_slot = false;
	}
}

/* lea reg, [rsp + n], and copies of reg */
static void site_follow_pointers(struct site_walk *w, const struct code_op *op)
{
	bool is_copy = op->copy_to != CODE_NONE && (w->pointers & 1u << op->copy_from);
	bool is_lea = op->lea_to != CODE_NONE && op->mem_base == WIRE_RSP &&
		      op->mem_index == CODE_NONE && w->is_stack_known;
	int64_t off = is_copy ? w->pointer_off[op->copy_from] : op->mem_disp - w->stack_sz;
	uint8_t to = is_copy ? op->copy_to : op->lea_to;

	w->pointers &= (uint16_t)~op->writes;
	if (!is_copy && !is_lea)
		return;
	w->pointers |= (uint16_t)(1u << to);
	w->pointer_off[to] = off;
}

static void site_follow_registers(struct site_walk *w, const struct code_op *op)
{
	bool is_copied = op->copy_to != CODE_NONE && (w->held & 1u << op->copy_from);
	bool is_rbp;
	int64_t off;

	if (op->load_to != CODE_NONE && w->has_slot && site_stack_off(w, op, &off, &is_rbp) &&
	    is_rbp == w->is_slot_rbp && off == w->slot_off)
		is_copied = true;
	w->held &= (uint16_t)~op->writes;
	w->is_rdi_lost |= op->writes >> WIRE_RDI & 1;
	if (is_copied)
		w->held |= (uint16_t)(1u << (op->copy_to != CODE_NONE ? op->copy_to : op->load_to));
	if (op->writes & 1u << WIRE_RBP && w->is_slot_rbp)
		w->has_slot = false;
	if (op->stack_sz)
		w->stack_sz += op->stack_sz;
	else if (op->writes & 1u << WIRE_RSP)
		w->is_stack_known = false;
}

/* where a jump or call through a GOT slot goes, 0 = not known, or out of this file */
static uint64_t site_slot_target(struct site_walk *w, const struct code_op *op)
{
	uint64_t dest;

	if (!op->mem_addr || relocs_read(w->relocs, op->mem_addr, &dest, sizeof(dest)) ||
	    !image_is_code(w->img, dest))
		return 0;
	return dest;
}

static bool site_passes(struct site_walk *w, const struct code_op *op)
{
	return op->flow == CODE_CALL_INDIRECT &&
	       (w->q->pass_calls || (w->q->pass_own_calls && site_slot_target(w, op)));
}

/*
 * Follows op to *at, the next instruction of the line. false, with *ret_miss: the line ends.
 */
static bool site_advance(struct site_walk *w, const struct code_op *op, uint64_t *at,
			 struct site_miss *ret_miss)
{
	bool is_tail = op->flow == CODE_JUMP_INDIRECT && w->jumps < SITE_JUMPS_MAX;
	uint64_t dest = is_tail ? site_slot_target(w, op) : 0;

	*at += op->len;
	if (dest) {
		w->jumps++;
		w->line = *at = dest;
	} else if (site_passes(w, op)) {
		w->held &= (uint16_t)~CODE_CALL_CLOBBERS;
		w->pointers &= (uint16_t)~CODE_CALL_CLOBBERS;
		w->is_rdi_lost = true;
	} else if (op->flow == CODE_NEXT) {
		site_follow_memory(w, op);
		site_follow_pointers(w, op);
		site_follow_registers(w, op);
	} else {
		ret_miss->reason =
			op->flow == CODE_CALL_INDIRECT
				? "an indirect call comes before any emulated instruction"
				: "the code ends or branches before any emulated instruction";
		ret_miss->is_ret = op->bytes[0] == 0xc3 && w->is_stack_known;
		ret_miss->popped_sz = 8 - w->stack_sz;
		return false;
	}
	return true;
}

/* 0: op is the site; -EAGAIN: look further; -ENOENT, with a reason: no site on this line. */
static int site_try(const struct site_walk *w, const struct code_op *op, const char **ret_reason)
{
	if (!op->is_emulated)
		return -EAGAIN;
	*ret_reason = "the stack pointer is moved by an unknown amount";
	if (!site_is_stack_fit(w))
		return -ENOENT;
	*ret_reason = w->has_slot && !w->q->allow_stack
			      ? "the value is only on the stack at the first emulated instruction"
			      : "the value is overwritten before the first emulated instruction";
	if (!site_has_value(w))
		return -ENOENT;
	*ret_reason = "the first emulated instruction is part of a loop";
	return site_is_looped(w, op) ? -ENOENT : 0;
}

int site_choose(struct image *img, struct relocs *relocs, const struct starts *starts,
		const struct site_query *q, struct plan_site *ret, struct site_miss *ret_miss)
{
	struct site_walk w = { .img = img,
			       .relocs = relocs,
			       .starts = starts,
			       .q = q,
			       .line = q->vaddr,
			       .stack_sz = -q->popped_sz,
			       .is_stack_known = true };
	bool has_stepped = false;
	uint64_t at = q->vaddr;
	struct code_op op;
	int err = -EAGAIN;

	w.held = q->reg == CODE_NONE ? 0 : (uint16_t)(1u << q->reg);
	*ret_miss = (struct site_miss){ .reason = "no emulated instruction within reach" };
	for (int i = 0; i < SITE_INSNS_MAX && err == -EAGAIN; i++) {
		if (code_read(img, at, &op)) {
			ret_miss->reason = "undecodable bytes";
			break;
		}
		err = site_try(&w, &op, &ret_miss->reason);
		if (!err) {
			site_take(&w, &op, ret);
		} else if (err == -EAGAIN) {
			if (!has_stepped && op.is_steppable && site_is_stack_fit(&w) &&
			    site_has_value(&w) && !site_is_looped(&w, &op)) {
				has_stepped = true;
				site_take(&w, &op, ret);
			}
			if (!site_advance(&w, &op, &at, ret_miss))
				break;
		}
	}
	if (err && !(has_stepped && q->allow_stepped))
		return -ENOENT;
	return image_file_off(img, ret->vaddr, &ret->file_off) ? -ENOENT : 0;
}
