// SPDX-License-Identifier: Apache-2.0
/* named.c - two of Tokio's functions, by their mangled names in both of Rust's schemes. */
#include "named.h"

#include "code.h"
#include "dynsym.h"
#include "image.h"

#include <linux/types.h>
#include <stdbool.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

#define NAMED_INSNS_MAX 16 /* of Id::next looked at */

/* lea rdi, [rip + counter]; ...; call fetch_add */
static bool named_draw_in(struct image *img, uint64_t func, struct counter_draw *ret)
{
	uint64_t at = func, counter = 0;
	struct code_op op;

	for (int i = 0; i < NAMED_INSNS_MAX && !code_read(img, at, &op); i++, at += op.len) {
		if (op.lea_to == WIRE_RDI && op.mem_addr)
			counter = op.mem_addr;
		if (op.flow == CODE_CALL && counter) {
			*ret = (struct counter_draw){ .vaddr = at,
						      .counter = counter,
						      .after = at + op.len,
						      .func = func,
						      .group_cnt = 1,
						      .reg = WIRE_RAX };
			return true;
		}
		if (op.flow != CODE_NEXT)
			break;
	}
	return false;
}

int named_draws(struct image *img, struct relocs *relocs, const struct starts *starts,
		struct counter_draws *draws)
{
	uint64_t funcs[NAMED_MAX];
	size_t cnt = dynsym_find_tokio(img, "2Id4next", funcs, NAMED_MAX);
	struct counter_draw draw;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		if (!named_draw_in(img, funcs[i], &draw))
			continue;
		err = counter_keep(draws, &draw);
		if (!err && draws->cnt)
			err = counter_follow(draws, draws->cnt - 1, img, relocs, starts);
	}
	return err;
}

size_t named_binds(struct image *img, uint64_t *ret_vaddrs)
{
	return dynsym_find_tokio(img, "10bind_inner", ret_vaddrs, NAMED_MAX);
}
