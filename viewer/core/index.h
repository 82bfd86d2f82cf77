/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - files to columns: decoded once, then found again in a cache.
 *
 * The cache is one file per list of files, below $XDG_CACHE_HOME/dial9-view (or ~/.cache), named
 * by a hash of each file's device, inode, size and mtime: nothing is ever written beside the
 * user's files. A cached file that does not fit, is damaged or hostile (every offset, count and
 * reference is checked) is made anew. The directory is made with mode 0700; the least recently
 * used files go when it exceeds INDEX_CACHE_MAX_SZ. No cache directory is no error.
 *
 * Memory: while decoding about 60 bytes an event; afterwards the mapped file, about 30.
 */
#ifndef DIAL9_INDEX_H
#define DIAL9_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct columns;

#define INDEX_CACHE_MAX_SZ (4ull << 30)
/* A file is read up to this share of the machine's memory, decompressed; a bomb ends there. What is
 * made of it takes about four times as much. */
#define INDEX_DECODED_SHARE 8u
/* Nor is it read beyond so many times its size, unless that is little: what a reading takes is bounded
 * by what lies on the disk. Recordings shrink to a third, idle ones to a fiftieth. */
#define INDEX_DECODED_RATIO 256u
#define INDEX_DECODED_FLOOR_SZ (64ull << 20)

struct index_file {
	const char *path;
	bool is_after_gap; /* events are missing before it: what is open ends unknown */
};

/* All may be zero. */
struct index_opt {
	const char *cache_dir; /* NULL: as above; "": none is used */
	uint64_t cache_max_sz; /* 0: INDEX_CACHE_MAX_SZ */
	uint64_t decoded_max_sz; /* of one file; 0: INDEX_DECODED_SHARE of memory; INDEX_DECODED_RATIO holds too */
	/* told every few ms while decoding; nonzero stops, -ECANCELED */
	int (*progress)(void *ctx, size_t file, uint64_t in_sz, uint64_t events);
	void *ctx;
};

/*
 * The columns of files (the segments of one recording, in order). Damaged and cut-off files are
 * read as far as they go: see segments.err. 0; -ENOMEM, -E2BIG (a table over 2^32 - 2 rows),
 * -ECANCELED, or the errno of the first file if none can be opened.
 */
int index_open(struct columns **ret, const struct index_file *files, size_t files_cnt,
	       const struct index_opt *opt);
void index_close(struct columns *c); /* NULL is fine */

/* What a file may become, decompressed: so much for each byte that it has now. */
uint64_t index_fair_sz(const char *path);

/* The share of memory, if none is given in the options. */
uint64_t index_decoded_max_sz(void);

/* A number that changes when a file is added, grows or changes: for live views, microseconds. */
uint64_t index_key(const struct index_file *files, size_t files_cnt);

#endif /* DIAL9_INDEX_H */
