// SPDX-License-Identifier: Apache-2.0
#include "exits.h"

#include <errno.h>
#include <stdbool.h>

#include "image.h"
#include "starts.h"

struct exits_walk {
	uint64_t start, end;
	struct exits *found;
	bool has_ret, has_call;
	struct code_op last; /* the instruction before */
	const char *reason; /* not NULL: it cannot be said how the function ends */
};

static bool exits_is_ret(const struct code_op *op)
{
	return op->flow == CODE_STOP && (op->bytes[0] == 0xc3 || op->bytes[0] == 0xc2 ||
					 (op->bytes[0] == 0xf3 && op->bytes[1] == 0xc3));
}

/* The kernel steps a plain ret and an indirect jump, relative to rip too, like any other instruction. */
static bool exits_takes_probe(const struct code_op *op)
{
	return op->is_emulated || op->bytes[0] == 0xc3 || op->flow == CODE_JUMP_INDIRECT;
}

/*
 * A jump through memory goes out, by a vtable or to another file, unless it picks from a table. One
 * through a register picks from a table too, mostly; where the frame has just been given up, it goes
 * out.
 */
static bool exits_goes_out(const struct exits_walk *w, const struct code_op *op)
{
	if (op->flow == CODE_JUMP)
		return op->dest < w->start || op->dest >= w->end;
	if (op->flow != CODE_JUMP_INDIRECT)
		return false;
	if (op->call_reg == CODE_NONE)
		return op->mem_index == CODE_NONE;
	return w->last.stack_sz < 0;
}

static void exits_step(struct exits_walk *w, const struct code_op *op)
{
	bool is_ret = exits_is_ret(op);

	w->has_ret |= is_ret;
	w->has_call |= op->flow == CODE_CALL || op->flow == CODE_CALL_INDIRECT;
	if (op->flow == CODE_BRANCH && (op->dest < w->start || op->dest >= w->end))
		w->reason = "it branches to another function";
	if (!is_ret && !exits_goes_out(w, op))
		return;
	if (w->found->cnt == EXITS_MAX)
		w->reason = "it returns at too many places";
	else if (!exits_takes_probe(op))
		w->reason = "the kernel takes no probe where it returns";
	else
		w->found->ops[w->found->cnt++] = *op;
}

static const char *exits_walk(struct exits_walk *w, struct image *img, const struct starts *starts,
			      uint64_t func)
{
	struct code_op op;

	if (starts_find(starts, func, &w->start, &w->end) || w->start != func)
		return "where it ends is not known";
	if (w->end - w->start > CODE_FUNC_SZ_MAX)
		return "it is too long";
	for (uint64_t at = w->start; at < w->end && !w->reason; at += op.len) {
		if (code_read(img, at, &op) || !image_work(img, op.len))
			return "not all of it can be decoded";
		exits_step(w, &op);
		w->last = op;
	}
	return w->reason ? w->reason : w->found->cnt ? NULL : "it never returns";
}

int exits_find(struct image *img, const struct starts *starts, uint64_t func, struct exits *ret,
	       const char **ret_reason)
{
	for (int i = 0; i <= EXITS_FOLLOW_MAX; i++) {
		struct exits_walk w = { .found = ret };

		ret->cnt = 0;
		*ret_reason = exits_walk(&w, img, starts, func);
		if (*ret_reason)
			return -ENOENT;
		if (w.has_ret || w.has_call || ret->cnt > 1)
			return 0;
		/* nothing has been done yet where it jumps on */
		if (ret->ops[0].flow != CODE_JUMP)
			break;
		func = ret->ops[0].dest;
	}
	*ret_reason = "it only jumps on";
	return -ENOENT;
}
