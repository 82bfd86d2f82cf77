// SPDX-License-Identifier: Apache-2.0
/* site.c - walks the straight line behind a place and takes the cheapest instruction on it. */
#include "site.h"

#include "code.h"
#include "image.h"
#include "starts.h"

#include <errno.h>
#include <string.h>

#define SITE_RSP 4
#define SITE_PUSHED_MAX 255 /* words; the cookie has 8 bits */

struct site_walk {
	struct image *img;
	const struct starts *starts;
	const struct site_query *q;
	uint16_t held; /* registers that hold the wanted value */
	int64_t stack_sz; /* bytes pushed since q->vaddr */
	bool is_stack_known;
	struct code_op stepped; /* first instruction that could be single-stepped; len 0 = none */
	struct plan_site stepped_site;
};

static uint8_t site_held_reg(const struct site_walk *w)
{
	if (w->q->reg == CODE_NONE)
		return 0;
	if (w->held & 1u << w->q->reg)
		return w->q->reg;
	return (uint8_t)__builtin_ctz(w->held);
}

static bool site_is_usable(const struct site_walk *w)
{
	return (w->q->reg == CODE_NONE || w->held) && w->is_stack_known && w->stack_sz >= 0 &&
	       w->stack_sz <= SITE_PUSHED_MAX * 8 && !(w->stack_sz & 7);
}

static void site_take(const struct site_walk *w, const struct code_op *op, struct plan_site *ret)
{
	ret->vaddr = op->vaddr;
	ret->reg = site_held_reg(w);
	ret->pushed_words = (uint8_t)(w->stack_sz / 8);
	ret->is_emulated = op->is_emulated;
}

/*
 * A jump from further down the function to between its entry and the site would make the site hit
 * again without a new call (a compare-and-swap loop in a function without a frame). A push cannot
 * lie in a loop.
 */
static bool site_is_looped(const struct site_walk *w, const struct code_op *site)
{
	uint64_t start, end, at = site->vaddr;
	struct code_op op;

	if (!w->q->is_entry || site->stack_sz == 8)
		return false;
	if (starts_find(w->starts, site->vaddr, &start, &end))
		return true; /* its end is not known, so neither is this */
	for (; at < end; at += op.len) {
		if (code_read(w->img, at, &op))
			return true;
		if ((op.flow == CODE_BRANCH || op.flow == CODE_JUMP) &&
		    op.dest > w->q->vaddr && op.dest <= site->vaddr)
			return true;
	}
	return false;
}

static void site_advance(struct site_walk *w, const struct code_op *op)
{
	bool is_copied = op->copy_to != CODE_NONE && (w->held & 1u << op->copy_from);

	if (op->flow == CODE_CALL_INDIRECT) {
		w->held &= (uint16_t)~CODE_CALL_CLOBBERS;
		return;
	}
	w->held &= (uint16_t)~op->writes;
	if (is_copied)
		w->held |= (uint16_t)(1u << op->copy_to);
	if (op->stack_sz)
		w->stack_sz += op->stack_sz;
	else if (op->writes & 1u << SITE_RSP)
		w->is_stack_known = false;
}

/* 1: go on behind op; 0: op is the site; -ENOENT with a reason: the line ends here. */
static int site_look_at(struct site_walk *w, const struct code_op *op, const char **ret_reason)
{
	if (op->is_emulated) {
		*ret_reason = "the value is overwritten before the first emulated instruction";
		if (!site_is_usable(w))
			return -ENOENT;
		*ret_reason = "the first emulated instruction is part of a loop";
		return site_is_looped(w, op) ? -ENOENT : 0;
	}
	if (op->is_steppable && !w->stepped.len && site_is_usable(w) && !site_is_looped(w, op)) {
		w->stepped = *op;
		site_take(w, op, &w->stepped_site);
	}
	if (op->flow == CODE_NEXT || (op->flow == CODE_CALL_INDIRECT && w->q->pass_calls))
		return 1;
	*ret_reason = op->flow == CODE_CALL_INDIRECT ?
			      "an indirect call comes before any emulated instruction" :
			      "the code ends or branches before any emulated instruction";
	return -ENOENT;
}

int site_choose(struct image *img, const struct starts *starts, const struct site_query *q,
		struct plan_site *ret, const char **ret_reason)
{
	struct site_walk w = { .img = img, .starts = starts, .q = q, .is_stack_known = true };
	uint64_t at = q->vaddr;
	struct code_op op;
	int found = 1;

	w.held = q->reg == CODE_NONE ? 0 : (uint16_t)(1u << q->reg);
	*ret_reason = "no emulated instruction within reach";
	for (int i = 0; i < SITE_INSNS_MAX && found == 1; i++, at += op.len) {
		if (code_read(img, at, &op)) {
			*ret_reason = "undecodable bytes";
			found = -ENOENT;
			break;
		}
		found = site_look_at(&w, &op, ret_reason);
		if (found == 0)
			site_take(&w, &op, ret);
		else if (found == 1)
			site_advance(&w, &op);
	}
	if (found != 0) {
		if (!w.stepped.len || !q->allow_stepped)
			return -ENOENT;
		op = w.stepped;
		ret->vaddr = w.stepped_site.vaddr;
		ret->reg = w.stepped_site.reg;
		ret->pushed_words = w.stepped_site.pushed_words;
		ret->is_emulated = false;
	}
	code_format(&op, ret->insn, sizeof(ret->insn));
	return image_file_off(img, ret->vaddr, &ret->file_off) ? -ENOENT : 0;
}
