/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokio.h - is Tokio in this file, which one, and what are its task types.
 *
 * Tokio calls every task through a static vtable: seven function pointers (poll, schedule, dealloc,
 * try_read_output, drop_join_handle_slow, drop_abort_handle, shutdown) and three small sizes
 * (trailer, scheduler and id offset); tokio_unstable builds add a fourth, id offset + 8. The shape
 * survives stripping, LTO and panic=abort, and is the same from Tokio 1.23 on. It is believed only
 * together with a second sign: Tokio's source paths in panic messages, or its static waker vtable.
 */
#ifndef DIAL9_TOKIO_H
#define DIAL9_TOKIO_H

#include "plan.h"

struct image;
struct relocs;
struct starts;

/*
 * Fills vtables, vtables_cnt, is_unstable and, as far as they can be read, tokio and rustc of
 * *ret (which must be zeroed; vtables is allocated, the caller frees it). -ENOENT: no Tokio here.
 * -E2BIG never: types over PLAN_VTABLES_MAX are left out and *ret_left_cnt counts them.
 */
int tokio_find(struct image *img, struct relocs *relocs, const struct starts *starts,
	       struct plan_file *ret, size_t *ret_left_cnt);

#endif /* DIAL9_TOKIO_H */
