/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symtab.h - the symbols of a segment: one self-contained batch of SymbolTableEntry events.
 *
 * Key is the exact sampled address, inline_depth 0 the outermost function, stamp 0. An address
 * without a name is called "module+0x1234", outside every module "[symbolize-failed] 0x1234",
 * and in the kernel's half "[kernel] 0x1234": what dial9's readers expect.
 *
 * Bounded: what is over a cap gets no entry and is counted. Memory: SYMTAB_MEMORY_SZ.
 */
#ifndef DIAL9_SYMTAB_H
#define DIAL9_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

struct symbols;
struct symtab;
struct d9_sink;

#define SYMTAB_ADDRS_MAX 200000u /* addresses in one segment */
#define SYMTAB_TIME_MAX_NS (20 * 1000000000ull) /* spent on one segment */
#define SYMTAB_RAW_MAX_SZ (64u << 20) /* bytes written for one segment, before compression */
#define SYMTAB_DEPTH_MAX 64u /* frames at one address; deeper ones are left out */
#define SYMTAB_MEMORY_SZ (9u << 20)

struct symtab_stats {
	uint64_t named_cnt; /* addresses with a function name */
	uint64_t unnamed_cnt; /* module+offset, kernel or failed */
	uint64_t skipped_cnt; /* over a cap: no entry */
};

int symtab_new(struct symtab **ret);
void symtab_free(struct symtab *t);

/*
 * Writes the entries of `addrs` to the started sink. `s` may be NULL: then nothing has a name.
 * Adds to *stats. 0, or the sink's error: then the batch is incomplete.
 */
int symtab_write(struct symtab *t, struct symbols *s, const uint64_t *addrs, size_t addrs_cnt,
		 struct d9_sink *sink, struct symtab_stats *stats);

#endif /* DIAL9_SYMTAB_H */
