/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfsyms.h - the functions in an ELF file's symbol table, by address.
 *
 * .symtab if there is one, else .dynsym. Kept: 16 bytes a function; names stay in the file and
 * are read when asked for.
 */
#ifndef DIAL9_ELFSYMS_H
#define DIAL9_ELFSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELFSYMS_MAX (4u << 20) /* functions; further ones have no name */
#define ELFSYMS_NAME_SZ 16384u /* longer names are cut */

struct elfsyms;
struct sections;

struct elfsym {
	uint64_t vaddr;
	uint64_t size; /* 0 = not said */
	const char *name; /* mangled; valid until the next call */
};

/* `fd` is borrowed for the life of the table. -ENOENT: no table, or no function in it. */
int elfsyms_open(int fd, const struct sections *sections, struct elfsyms **ret);
void elfsyms_close(struct elfsyms *s);

/* False when only what the file exports has names. */
bool elfsyms_has_locals(const struct elfsyms *s);

/* The function that holds `vaddr`. -ENOENT. */
int elfsyms_find(struct elfsyms *s, uint64_t vaddr, struct elfsym *ret);

/* The nth (0, 1, ...) of the symbols that start exactly at `vaddr`: equal functions are merged and
 * then have several names. -ENOENT past the last. */
int elfsyms_nth_at(struct elfsyms *s, uint64_t vaddr, size_t nth, struct elfsym *ret);

#endif /* DIAL9_ELFSYMS_H */
