/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relocs.h - data as the loader leaves it, for load address 0.
 *
 * A PIE file's pointers stand in its RELA table (R_X86_64_RELATIVE: place and address), not in its
 * data. RELR tables need no work: there the data itself holds the address. The table is streamed
 * in pieces; only the range of places of each piece is kept (24 bytes per RELOCS_PIECE_CNT
 * relocations), which makes reads cheap for the sorted tables that linkers write and still right
 * for unsorted ones.
 */
#ifndef DIAL9_RELOCS_H
#define DIAL9_RELOCS_H

#include <stddef.h>
#include <stdint.h>

#define RELOCS_PIECE_CNT 4096u
#define RELOCS_MAX (64u << 20) /* relocations in one file; a file with more is refused */

struct image;
struct relocs;

/* Borrows `img`. -ENOEXEC: the table lies outside the file or is over the cap; -EIO; -ENOMEM. */
int relocs_open(struct image *img, struct relocs **ret);
void relocs_close(struct relocs *r);

/* `sz` bytes at `vaddr`, relocated. -EFAULT when they are not in one segment; -EIO, also when
 * the file has used up its work (image_work). */
int relocs_read(struct relocs *r, uint64_t vaddr, void *buf, size_t sz);

#endif /* DIAL9_RELOCS_H */
