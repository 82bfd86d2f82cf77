// SPDX-License-Identifier: Apache-2.0
#include "ownends.h"

#include <linux/types.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"
#include "exits.h"
#include "image.h"
#include "planner.h"

static int ownends_add(struct planner *p, const struct plan_site *poll, const struct code_op *op)
{
	struct plan_site s = { .kind = WIRE_SITE_OWN_END,
			       .func_vaddr = poll->func_vaddr,
			       .reg = WIRE_RAX,
			       .pushed_words = 1, /* the return address has not been popped yet */
			       .is_emulated = op->is_emulated,
			       .file = p->file,
			       .vaddr = op->vaddr };

	code_format(op, s.insn, sizeof(s.insn));
	if (image_file_off(p->img, op->vaddr, &s.file_off))
		return planner_omit(p, s.kind, op->vaddr, "it lies in no segment of the file");
	return planner_append(p, &s);
}

int ownends_plan(struct planner *p)
{
	size_t cnt = p->plan->sites_cnt;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct plan_site poll = p->plan->sites[i];
		const char *reason;
		struct exits exits;

		if (poll.kind != WIRE_SITE_POLL || poll.file != p->file)
			continue;
		if (exits_find(p->img, &p->starts, poll.func_vaddr, &exits, &reason)) {
			err = planner_omit(p, WIRE_SITE_OWN_END, poll.func_vaddr, reason);
			continue;
		}
		for (size_t k = 0; k < exits.cnt && !err; k++)
			err = ownends_add(p, &poll, &exits.ops[k]);
	}
	return err;
}
