/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - one compressed member (gzip), frame (zstd) or raw run at a time, step by step.
 */
#ifndef DIAL9_UNPACK_H
#define DIAL9_UNPACK_H

#include "trace.h"

#define UNPACK_MAGIC_SZ 4u
#define UNPACK_END 1 /* the member is complete */

struct unpack_in {
	const uint8_t *p;
	size_t len;
};

struct unpack {
	enum d9_compression kind;
	void *gzip; /* z_stream, made at the first gzip member */
	void *zstd; /* ZSTD_DCtx, likewise */
};

/* Kind by first bytes, of which less than UNPACK_MAGIC_SZ are there only at the end of the file.
 * False, with D9_RAW, if they are neither gzip, zstd nor the start of a trace. */
bool unpack_sniff(const struct unpack_in *in, enum d9_compression *ret);

/* Start a member. */
int unpack_begin(struct unpack *u, enum d9_compression kind);

/*
 * Use up input, give up to len bytes; *ret_got of them. 0: go on (with more input if none was left);
 * UNPACK_END (*ret_got may be > 0); -D9_E_TRUNCATED: is_last and the member is not complete, for raw
 * the ordinary end is UNPACK_END; -D9_E_COMPRESS, -D9_E_WINDOW, -ENOMEM.
 */
int unpack_step(struct unpack *u, struct unpack_in *in, bool is_last, uint8_t *buf, size_t len,
		size_t *ret_got);

void unpack_done(struct unpack *u);

#endif
