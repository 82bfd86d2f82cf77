/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symfile.h - one mapped file as a source of names: code, symbol table, DWARF, opened when asked.
 *
 * Where the file is stripped, a separate debug file of the same build id is used if it lies in
 * SYMFILE_DEBUG_DIR and only root can have put it there.
 */
#ifndef DIAL9_SYMFILE_H
#define DIAL9_SYMFILE_H

#include <stdbool.h>
#include <stdint.h>

#define SYMFILE_DEBUG_DIR "/usr/lib/debug/.build-id"

struct callers;
struct debuginfo;
struct elfsyms;
struct image;
struct locations;
struct resumed;
struct sections;
struct target_file;

struct symfile {
	int fd; /* its own */
	uint64_t sz, map_start, map_end, map_off;
	char module[64]; /* last part of its path, printable */
	bool is_opened; /* the rest is set, as far as it could be */
	uint64_t bias; /* runtime address = vaddr + bias */
	struct image *image; /* NULL = not an ELF file we can read: no names at all */
	struct elfsyms *syms; /* NULL = none */
	struct debuginfo *debug; /* NULL = none */
	struct callers *callers; /* after symfile_trace; NULL = none */
	struct locations *locations; /* likewise */
	bool has_tried_trace;
	struct resumed *resumed; /* after symfile_bodies; NULL = none */
	bool has_tried_bodies;
	int debug_fd; /* of the separate file, -1 = none */
};

/* Takes a dup of the file. 0 or -errno. Reads nothing yet. */
int symfile_init(struct symfile *f, const struct target_file *from);
void symfile_done(struct symfile *f);

/* Opens what there is, once. After it the pointers tell what was found. */
void symfile_prepare(struct symfile *f);

/* Reads all of its code for calls and its data for locations, once: only spawn places need it. */
void symfile_trace(struct symfile *f);

/* Finds its async bodies, once: only types without any name need them. */
void symfile_bodies(struct symfile *f);

#endif /* DIAL9_SYMFILE_H */
