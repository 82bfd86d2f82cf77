/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfo.h - DWARF of one file: which functions, inlined ones too, stand at an address, where.
 *
 * The sections are copied into memory (never mapped: a file that shrinks under a mapping kills the
 * reader), so files with more than DEBUGINFO_MAX_SZ of them are refused. References to further
 * files (dwz, split DWARF) are never followed: they name paths that the file's author chose.
 */
#ifndef DIAL9_DEBUGINFO_H
#define DIAL9_DEBUGINFO_H

#include <stddef.h>
#include <stdint.h>

#define DEBUGINFO_MAX_SZ (384ull << 20) /* all .debug_* sections, decompressed */
#define DEBUGINFO_FRAMES_MAX 64 /* at one address; deeper ones are left out */
#define DEBUGINFO_STEPS_MAX 200000u /* entries looked at for one address */

struct debuginfo;
struct sections;

struct debuginfo_frame { /* strings live as long as the debuginfo; foreign bytes */
	const char *linkage; /* mangled name, "" = none */
	const char *name; /* as DWARF says it: "poll<F, S>", without path; "" = none */
	const char *file; /* relative to the unit's directory where it lies below; "" = unknown */
	uint32_t line, column; /* where execution stands in this frame; 0 = unknown */
};

struct debuginfo_range { /* of the outermost function at an address */
	uint64_t entry; /* where calls to it go */
	uint64_t sz; /* of the range that holds the address */
};

/* `fd` is borrowed for the life of the object. -ENOENT: no DWARF, or refused (logged at debug). */
int debuginfo_open(int fd, const struct sections *sections, struct debuginfo **ret);
void debuginfo_close(struct debuginfo *d);

/*
 * The frames at `vaddr`, outermost function first. Returns their number, or -ENOENT. *ret_range
 * may be NULL.
 */
int debuginfo_frames(struct debuginfo *d, uint64_t vaddr,
		     struct debuginfo_frame ret[DEBUGINFO_FRAMES_MAX],
		     struct debuginfo_range *ret_range);

#endif /* DIAL9_DEBUGINFO_H */
