// SPDX-License-Identifier: Apache-2.0
/*
 * unpack.c - zlib and zstd behind one step function.
 */
#include "unpack.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define GZIP_WBITS (15 + 16) /* largest window, gzip wrapper only */

static bool has_magic(const struct unpack_in *in, const char *magic, size_t sz)
{
	return !memcmp(in->p, magic, in->len < sz ? in->len : sz);
}

bool unpack_sniff(const struct unpack_in *in, enum d9_compression *ret)
{
	uint8_t first = in->p[0];

	*ret = D9_RAW;
	if (has_magic(in, "\x1f\x8b", 2))
		*ret = D9_GZIP;
	else if (has_magic(in, "\x28\xb5\x2f\xfd", 4))
		*ret = D9_ZSTD;
	else if ((first & 0xf0) == 0x50 && first != 'T' && in->len >= 4 &&
		 !memcmp(in->p + 1, "\x2a\x4d\x18", 3))
		*ret = D9_ZSTD; /* a skippable frame */
	else
		return has_magic(in, "TRC", 4);
	return true;
}

static int gzip_begin(struct unpack *u)
{
	z_stream *z = u->gzip;

	if (z)
		return inflateReset(z) == Z_OK ? 0 : -D9_E_COMPRESS;
	z = calloc(1, sizeof(*z));
	if (!z)
		return -ENOMEM;
	if (inflateInit2(z, GZIP_WBITS) != Z_OK) {
		free(z);
		return -ENOMEM;
	}
	u->gzip = z;
	return 0;
}

static int zstd_begin(struct unpack *u)
{
	if (!u->zstd) {
		u->zstd = ZSTD_createDCtx();
		if (!u->zstd)
			return -ENOMEM;
		ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, D9_ZSTD_WINDOW_LOG_MAX);
	}
	ZSTD_DCtx_reset(u->zstd, ZSTD_reset_session_only);
	return 0;
}

int unpack_begin(struct unpack *u, enum d9_compression kind)
{
	u->kind = kind;
	switch (kind) {
	case D9_GZIP:
		return gzip_begin(u);
	case D9_ZSTD:
		return zstd_begin(u);
	default:
		return 0;
	}
}

static int raw_step(struct unpack_in *in, uint8_t *buf, size_t len, size_t *ret_got)
{
	len = len < in->len ? len : in->len;
	if (!len)
		return UNPACK_END; /* asked for input and got none */
	memcpy(buf, in->p, len);
	in->p += len;
	in->len -= len;
	*ret_got = len;
	return 0;
}

static int gzip_step(struct unpack *u, struct unpack_in *in, uint8_t *buf, size_t len,
		     size_t *ret_got)
{
	z_stream *z = u->gzip;
	uInt in_len = in->len > UINT_MAX ? UINT_MAX : (uInt)in->len;
	uInt out_len = len > UINT_MAX ? UINT_MAX : (uInt)len;
	int rc;

	z->next_in = (Bytef *)in->p; /* zlib's type predates const; it does not write */
	z->avail_in = in_len;
	z->next_out = buf;
	z->avail_out = out_len;
	rc = inflate(z, Z_SYNC_FLUSH);
	in->p += in_len - z->avail_in;
	in->len -= in_len - z->avail_in;
	*ret_got = out_len - z->avail_out;
	switch (rc) {
	case Z_OK:
	case Z_BUF_ERROR: /* nothing to be done without more input */
		return 0;
	case Z_STREAM_END:
		return UNPACK_END;
	case Z_MEM_ERROR:
		return -ENOMEM;
	default:
		return -D9_E_COMPRESS;
	}
}

static int zstd_step(struct unpack *u, struct unpack_in *in, uint8_t *buf, size_t len,
		     size_t *ret_got)
{
	ZSTD_inBuffer zin = { in->p, in->len, 0 };
	ZSTD_outBuffer zout = { buf, len, 0 };
	size_t rc = ZSTD_decompressStream(u->zstd, &zout, &zin);

	in->p += zin.pos;
	in->len -= zin.pos;
	*ret_got = zout.pos;
	if (!ZSTD_isError(rc))
		return rc ? 0 : UNPACK_END;
	switch (ZSTD_getErrorCode(rc)) {
	case ZSTD_error_frameParameter_windowTooLarge:
		return -D9_E_WINDOW;
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	default:
		return -D9_E_COMPRESS;
	}
}

int unpack_step(struct unpack *u, struct unpack_in *in, bool is_last, uint8_t *buf, size_t len,
		size_t *ret_got)
{
	size_t before = in->len;
	int rc;

	*ret_got = 0;
	if (u->kind == D9_RAW)
		return raw_step(in, buf, len, ret_got);
	rc = u->kind == D9_GZIP ? gzip_step(u, in, buf, len, ret_got)
				: zstd_step(u, in, buf, len, ret_got);
	if (rc)
		return rc;
	if (before == in->len && !*ret_got && (before || is_last))
		return before ? -D9_E_COMPRESS : -D9_E_TRUNCATED;
	return 0;
}

void unpack_done(struct unpack *u)
{
	if (u->gzip)
		inflateEnd(u->gzip);
	free(u->gzip);
	ZSTD_freeDCtx(u->zstd);
	u->gzip = u->zstd = NULL;
}
