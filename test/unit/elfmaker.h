/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfmaker.h - small made-up ELF files for the tests of the plan's rooms.
 *
 * Three segments at fixed addresses: code (R E), text strings (R) and data (RW). In a PIE file
 * pointers go into a RELA table, and the data words stay zero.
 */
#ifndef DIAL9_TEST_ELFMAKER_H
#define DIAL9_TEST_ELFMAKER_H

#include "starts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELFMAKER_CODE 0x100000ull
#define ELFMAKER_TEXT 0x200000ull
#define ELFMAKER_DATA 0x300000ull
#define ELFMAKER_PART_SZ 0x20000u /* bytes each segment may take */

struct elfmaker {
	bool is_pie;
	uint8_t code[ELFMAKER_PART_SZ], text[ELFMAKER_PART_SZ], data[ELFMAKER_PART_SZ];
	size_t code_sz, text_sz, data_sz;
	struct {
		uint64_t at, info, addend;
	} relas[4096];
	size_t relas_cnt;
};

/* Starts with one small function, so that later ones have a prologue before them. */
void elfmaker_init(struct elfmaker *m, bool is_pie);

/* Adds a function: 16-aligned, int3 before it. Returns its address. */
uint64_t elfmaker_code(struct elfmaker *m, const void *bytes, size_t sz);
/* Adds bytes right behind what is there. Return the address. */
uint64_t elfmaker_text(struct elfmaker *m, const char *text);
uint64_t elfmaker_word(struct elfmaker *m, uint64_t value);
uint64_t elfmaker_pointer(struct elfmaker *m, uint64_t value);

/* A Tokio task vtable: seven pointers (0 = one folded body) and the sizes. */
uint64_t elfmaker_vtable(struct elfmaker *m, const uint64_t funcs[7], uint64_t trailer,
			 uint64_t scheduler, uint64_t id, bool has_location);

/* The file as a memfd, which the caller closes. *ret_sz is its size. */
int elfmaker_open(const struct elfmaker *m, uint64_t *ret_sz);
/* An unlinked file of these bytes. */
int elfmaker_raw(const void *bytes, size_t sz);

struct image;
struct relocs;

struct elfmaker_file { /* opened as the planner opens one */
	int fd;
	struct image *img;
	struct relocs *relocs;
	struct starts starts;
};
void elfmaker_load(const struct elfmaker *m, struct elfmaker_file *ret);
void elfmaker_unload(struct elfmaker_file *f);

#endif /* DIAL9_TEST_ELFMAKER_H */
