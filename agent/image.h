/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h - an x86-64 ELF file seen through its program headers, read in small bounded pieces.
 *
 * Section headers are never needed: stripped and packed files may have none. Nothing is mapped and
 * nothing is read whole, so a 100 MB file costs IMAGE_CACHE_CNT * IMAGE_PAGE_SZ bytes. Every number
 * in the file is hostile: it is range-checked against the file's size before use. Addresses are
 * ELF virtual addresses ("vaddr"); a shared or PIE file's bias is added by the caller.
 */
#ifndef DIAL9_IMAGE_H
#define DIAL9_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_SEGMENTS_MAX 64 /* PT_LOADs; a file with more is refused */
#define IMAGE_PAGE_SZ 65536u
#define IMAGE_CACHE_CNT 32u
/* Bytes that may be decoded in one file, or their worth in other work: some 2 s. Honest 100 MB
 * programs need under 5 %. */
#define IMAGE_WORK_MAX (128u << 20)

struct image_segment {
	uint64_t vaddr, file_off, file_sz; /* file_off + file_sz lies within the file */
	bool is_exec, is_write;
};

struct image {
	int fd; /* borrowed: the caller keeps it open */
	uint64_t sz;
	struct image_segment segs[IMAGE_SEGMENTS_MAX];
	size_t segs_cnt;
	bool is_pie; /* ET_DYN */
	char build_id[41]; /* hex, "" = none */
	uint64_t tls_sz, tls_align;
	uint64_t eh_frame_hdr, eh_frame_hdr_sz; /* 0 = none */
	uint64_t rela, rela_sz; /* vaddr; 0 = none */
	uint64_t relr, relr_sz;
	uint64_t symtab, strtab, strtab_sz, gnu_hash, hash; /* vaddrs, 0 = none */
	uint64_t work_left;
	struct image_cache *cache;
};

/*
 * Reads the headers of the open file `fd` of `sz` bytes. -ENOEXEC: not x86-64 ELF64, or damaged.
 * -EIO: unreadable. -ENOMEM. Does not log: whether damage matters is the caller's to say.
 */
int image_open(int fd, uint64_t sz, struct image **ret);
void image_close(struct image *img);

/* The loadable segment whose file bytes hold [vaddr, vaddr + sz), or NULL. sz >= 1. */
const struct image_segment *image_segment_at(const struct image *img, uint64_t vaddr, uint64_t sz);
bool image_is_code(const struct image *img, uint64_t vaddr);
/* -EFAULT when no segment's file bytes hold the address. */
int image_file_off(const struct image *img, uint64_t vaddr, uint64_t *ret);

/* Bytes at an address as the file has them (relocations: relocs.h). Goes through a small cache of
 * pages: for scattered small reads. -EFAULT when not all of them lie in one segment; -EIO. */
int image_read(struct image *img, uint64_t vaddr, void *buf, size_t sz);
/* As many bytes as the segment has there, at most `sz`; 0 when there are none. */
size_t image_read_some(struct image *img, uint64_t vaddr, void *buf, size_t sz);
/* Large sequential reads, past the cache. -EIO when the file ends before. */
int image_pread(const struct image *img, uint64_t file_off, void *buf, size_t sz);

/* Takes `units` off the work left. false once there is none: give up on this file's details. */
bool image_work(struct image *img, uint64_t units);

/* Where a mapping of file offset `map_off` at `map_start` puts vaddr 0. -EINVAL: it is none of
 * this file's executable segments. */
int image_bias(const struct image *img, uint64_t map_start, uint64_t map_off, uint64_t *ret);

#endif /* DIAL9_IMAGE_H */
