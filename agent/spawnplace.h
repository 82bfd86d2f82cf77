/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawnplace.h - the user's line that spawned a task, from an address inside Tokio's spawn.
 *
 * Tokio's spawn functions are generic: each future type has its own copies, called from the one
 * place where a future of that type is spawned. So where the inlined calls at the address are all
 * Tokio's, its caller is looked up in the code: unique callers up to the first user frame prove the
 * place; two different places prove nothing.
 *
 * A user function with #[track_caller] that spawns is passed over in favour of its caller, as Tokio
 * does (locations.h).
 */
#ifndef DIAL9_SPAWNPLACE_H
#define DIAL9_SPAWNPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPAWNPLACE_VISITS_MAX 64 /* call sites looked at for one place */

struct symfile;

/* "src/main.rs:41:9"; `vaddr` lies in the calling instruction. -ENOENT. */
int spawnplace_find(struct symfile *f, uint64_t vaddr, char *buf, size_t sz);

/* True for sources of Tokio itself and of the standard library, wherever they were built. */
bool spawnplace_is_runtime(const char *file);

#endif /* DIAL9_SPAWNPLACE_H */
