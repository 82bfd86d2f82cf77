/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - addresses to names: future types, spawn places, stack frames.
 *
 * Works on the target's own open files (struct target_file.fd), never on paths, with libdw for
 * DWARF (lines, inlines) and ELF symbol tables, and libiberty for Rust demangling (legacy and
 * v0). Addresses are runtime addresses in the target. A `struct symbols` belongs to one thread.
 * Everything is optional: a stripped file yields -ENOENT, never a guess.
 */
#ifndef DIAL9_SYMBOLS_H
#define DIAL9_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;
struct plan;
struct symbols;

/* Takes its own dup()s of the target's files: it may outlive the target struct's use. */
int symbols_open(const struct target *t, struct symbols **ret);
void symbols_close(struct symbols *s);

/*
 * The Rust type of the future behind a task vtable, e.g. "my_app::serve::{async_fn_env#0}".
 * Sources in order: DWARF name of the poll function's instance (poll<F, S>), its v0 symbol, the
 * drop glue's symbols reached from `poll` and `dealloc`. In a stripped file, and for types whose
 * glue the compiler has merged, the place of its async body: "{async@src/main.rs:41:18}". Where
 * that tells nothing either, merged types are all named: "a::F | b::G". Runtime addresses. -ENOENT
 * when nothing tells.
 * The first call on a file reads its DWARF, or its code if it has no names (1 ms a MB): ask for all
 * types before probes are attached. See futuretype.h.
 */
int symbols_type_name(struct symbols *s, uint64_t poll, uint64_t dealloc, char *buf, size_t sz);

/*
 * "file.rs:line:col" of the user code that spawned: `return_addr` is where bind_inner returns to;
 * the innermost call, inlined or found by the static callers of that copy of Tokio's function,
 * that lies outside Tokio's and core's own sources. -ENOENT without DWARF, or when it is not
 * unique. See spawnplace.h.
 */
int symbols_spawn_place(struct symbols *s, uint64_t return_addr, char *buf, size_t sz);

struct symbols_frame {
	const char *name; /* demangled; valid until the next call */
	const char *file; /* "" = unknown */
	uint32_t line; /* 0 = unknown */
	uint64_t size; /* of the outermost function, 0 = unknown */
	unsigned depth; /* 0 = outermost function, 1.. = functions inlined into it */
};

/*
 * All frames at one address, outermost first. The exact address is looked up, as dial9's readers
 * expect. Returns the number of frames given to `cb`, 0 when nothing is known.
 */
int symbols_resolve(struct symbols *s, uint64_t addr,
		    void (*cb)(const struct symbols_frame *frame, void *ctx), void *ctx);

/* "module+0x1234" for an address without a name; -ENOENT if it lies in no mapped file. */
int symbols_module(struct symbols *s, uint64_t addr, char *buf, size_t sz);

#endif /* DIAL9_SYMBOLS_H */
