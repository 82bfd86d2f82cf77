/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segfile.h - one open segment file: its name, its compressor, the room reserved for it.
 *
 * Room on the disk is reserved ahead of the compressor (fallocate beyond the end of the file), so
 * that a full disk is noticed before any byte of a frame is taken: what was accepted can always be
 * finished properly. Where the file system cannot reserve, a failed write tears the file: it ends
 * where the last block ended.
 *
 * What is reserved is the worst case, five times what bytes take in the end. On a disk too small
 * for that, segfile_append writes them as a frame of their own, which can be taken back whole; but
 * gzip, of which a file holds exactly one member, needs room for the bytes as they are.
 *
 * -ENOSPC and -EDQUOT ask the caller to make room and to call again; nothing is lost by that.
 */
#ifndef DIAL9_SEGFILE_H
#define DIAL9_SEGFILE_H

#include "format/trace.h"
#include "retain.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segfile {
	struct d9_sink *sink; /* NULL = not open */
	int fd;
	char name[RETAIN_NAME_SZ]; /* ends in .active */
	uint64_t reserved_off; /* the disk holds room for the file up to here */
	uint64_t members_in_sz, members_out_sz; /* of those before the one being written */
	bool can_reserve;
	bool is_gzip;
	bool is_torn; /* a write failed inside: takes nothing more */
};

static inline bool segfile_is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

/*
 * Creates trace.<*index>.bin<extension>.active in dir_fd, mode 0640, never through a link and
 * never over an existing file: *index goes up past those. The sink is borrowed.
 */
int segfile_open(struct segfile *f, int dir_fd, uint64_t *index, const char *extension,
		 struct d9_sink *sink);

/* Makes sure that `sz` more raw bytes and the end of the file find room. */
int segfile_reserve(struct segfile *f, uint64_t sz);

/* The least that a file needs whose bytes are all flushed: room for `sz` bytes as they are. */
int segfile_reserve_end(struct segfile *f, uint64_t sz);

/* Takes bytes; what is left after a failure is in *p and *sz. */
int segfile_write(struct segfile *f, const unsigned char **p, size_t *sz);

/* Takes all bytes, with no more room than they take, or none. They and all before them are on the
 * disk then. */
int segfile_append(struct segfile *f, const void *p, size_t sz);

/* Bytes taken, and written to the file. */
uint64_t segfile_in_sz(const struct segfile *f);
uint64_t segfile_out_sz(const struct segfile *f);

/* Gives back what was reserved, but for the end of the file. Once all is flushed. */
void segfile_trim(struct segfile *f);

/* Gives up on the compressor: the bytes on disk are all there will be. */
void segfile_tear(struct segfile *f);

/* Removes the file and closes it. */
void segfile_discard(struct segfile *f, int dir_fd);

#endif /* DIAL9_SEGFILE_H */
