/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections.h - the section table of an ELF file, checked against the size of the file.
 *
 * Only names need sections (symbol tables, DWARF): a stripped file may have none, and then there
 * are none. Every number in it is hostile; an entry that does not fit the file is left out.
 */
#ifndef DIAL9_SECTIONS_H
#define DIAL9_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECTIONS_MAX 1024 /* further ones are not looked at */
#define SECTIONS_NAME_SZ 32 /* longer names are cut */

struct section {
	char name[SECTIONS_NAME_SZ];
	uint32_t type, link; /* link: index in the file's table */
	uint32_t index; /* its own */
	uint64_t file_off, file_sz; /* within the file; 0, 0 for NOBITS */
	uint64_t full_sz; /* when decompressed */
	uint64_t entry_sz;
};

struct sections {
	struct section list[SECTIONS_MAX];
	size_t cnt;
};

/* -ENOEXEC (not x86-64 ELF64), -ENOENT (no sections), -EIO, -ENOMEM. Free with free(). */
int sections_read(int fd, uint64_t file_sz, struct sections **ret);

/* By name; NULL when there is none with content. */
const struct section *sections_find(const struct sections *s, const char *name);
/* By index in the file. */
const struct section *sections_at(const struct sections *s, uint32_t index);

/* The build id (hex) of the file's GNU note, "" when there is none. */
void sections_build_id(const struct sections *s, int fd, char ret[41]);

/* pread of exactly sz bytes: 0 or -EIO. */
int sections_pread(int fd, uint64_t file_off, void *buf, size_t sz);

#endif /* DIAL9_SECTIONS_H */
