// SPDX-License-Identifier: Apache-2.0
/*
 * sink.c - bytes to a compressed file, streaming. All memory comes from d9_sink_new; what a full
 * disk refuses stays in the output buffer until it is accepted or the file is given up.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "bytes.h"
#include "trace.h"

#define OUT_SZ_DEF (256u << 10)
#define OUT_SZ_MIN 1024u
#define OUT_ROOM_MIN 64u /* zlib repeats its flush marker if a flush just fills the buffer */
#define GZIP_WBITS (15 + 16)
#define GZIP_MEM_LEVEL 8
#define ZSTD_LEVEL_MAX 19 /* the highest whose window is within D9_ZSTD_WINDOW_LOG */
#define ZSTD_LEVEL_MIN (-7)

enum sink_state { SINK_IDLE, SINK_OPEN, SINK_ENDED };
enum sink_step { STEP_MORE, STEP_FLUSH, STEP_END };

struct d9_sink {
	enum d9_compression compression;
	enum sink_state state;
	int fd;
	z_stream gzip;
	ZSTD_CCtx *zstd;
	uint8_t *out;
	size_t out_cap, out_len, out_pos; /* [out_pos, out_len) is not written yet */
	uint64_t in_sz, out_sz;
};

static int gzip_init(struct d9_sink *s, int level)
{
	int rc;

	level = level ? level : D9_GZIP_LEVEL_DEF;
	if (level < 1 || level > 9)
		return -D9_E_BAD_VALUE;
	rc = deflateInit2(&s->gzip, level, Z_DEFLATED, GZIP_WBITS, GZIP_MEM_LEVEL,
			  Z_DEFAULT_STRATEGY);
	return rc == Z_OK ? 0 : -ENOMEM;
}

static int zstd_init(struct d9_sink *s, int level)
{
	level = level ? level : D9_ZSTD_LEVEL_DEF;
	if (level < ZSTD_LEVEL_MIN || level > ZSTD_LEVEL_MAX)
		return -D9_E_BAD_VALUE;
	s->zstd = ZSTD_createCCtx();
	if (!s->zstd)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1);
	return 0;
}

int d9_sink_new(struct d9_sink **ret, const struct d9_sink_opt *opt)
{
	struct d9_sink *s = calloc(1, sizeof(*s));
	int rc = 0;

	if (!s)
		return -ENOMEM;
	s->fd = -1;
	s->compression = opt->compression;
	s->out_cap = opt->buf_sz ? opt->buf_sz : OUT_SZ_DEF;
	if (s->out_cap < OUT_SZ_MIN)
		s->out_cap = OUT_SZ_MIN;
	s->out = malloc(s->out_cap);
	if (!s->out)
		rc = -ENOMEM;
	else if (s->compression == D9_GZIP)
		rc = gzip_init(s, opt->level);
	else if (s->compression == D9_ZSTD)
		rc = zstd_init(s, opt->level);
	if (rc) {
		d9_sink_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void d9_sink_free(struct d9_sink *s)
{
	if (!s)
		return;
	if (s->compression == D9_GZIP)
		deflateEnd(&s->gzip); /* harmless on a stream that was never set up */
	ZSTD_freeCCtx(s->zstd);
	free(s->out);
	free(s);
}

int d9_sink_start(struct d9_sink *s, int fd)
{
	if (s->state != SINK_IDLE)
		return -D9_E_STATE;
	if (s->compression == D9_GZIP)
		deflateReset(&s->gzip);
	if (s->compression == D9_ZSTD)
		ZSTD_CCtx_reset(s->zstd, ZSTD_reset_session_only);
	s->fd = fd;
	s->out_len = s->out_pos = 0;
	s->in_sz = s->out_sz = 0;
	s->state = SINK_OPEN;
	return 0;
}

static int out_write(struct d9_sink *s)
{
	while (s->out_pos < s->out_len) {
		ssize_t n = write(s->fd, s->out + s->out_pos, s->out_len - s->out_pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO;
		s->out_pos += (size_t)n;
		s->out_sz += (uint64_t)n;
	}
	s->out_pos = s->out_len = 0;
	return 0;
}

/*
 * Each packs some of the input behind out_len. 0: all input is used and the step is complete; 1: call
 * again with room; negative: the library's state is broken.
 */
static int raw_pack(struct d9_sink *s, const uint8_t *p, size_t len, size_t *ret_used)
{
	size_t room = s->out_cap - s->out_len;
	size_t sz = len < room ? len : room;

	store_bytes(s->out + s->out_len, p, sz);
	s->out_len += sz;
	*ret_used = sz;
	return sz < len;
}

static int gzip_pack(struct d9_sink *s, const uint8_t *p, size_t len, enum sink_step step,
		     size_t *ret_used)
{
	static const int flush[] = { Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH };
	size_t room = s->out_cap - s->out_len;
	z_stream *z = &s->gzip;
	uInt in_len = len > UINT_MAX ? UINT_MAX : (uInt)len;
	uInt out_len = room > UINT_MAX ? UINT_MAX : (uInt)room;
	int rc;

	z->next_in = (Bytef *)p; /* zlib's type predates const; it does not write */
	z->avail_in = in_len;
	z->next_out = s->out + s->out_len;
	z->avail_out = out_len;
	rc = deflate(z, flush[step]);
	if (rc == Z_STREAM_ERROR)
		return -D9_E_STATE;
	*ret_used = in_len - z->avail_in;
	s->out_len += out_len - z->avail_out;
	if (step == STEP_END)
		return rc != Z_STREAM_END;
	return *ret_used < len || (step == STEP_FLUSH && !z->avail_out);
}

static int zstd_pack(struct d9_sink *s, const uint8_t *p, size_t len, enum sink_step step,
		     size_t *ret_used)
{
	static const ZSTD_EndDirective end[] = { ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end };
	ZSTD_inBuffer in = { p, len, 0 };
	ZSTD_outBuffer out = { s->out, s->out_cap, s->out_len };
	size_t rc = ZSTD_compressStream2(s->zstd, &out, &in, end[step]);

	if (ZSTD_isError(rc))
		return -ENOMEM; /* the only failure there is with sound parameters */
	*ret_used = in.pos;
	s->out_len = out.pos;
	return in.pos < len || (step != STEP_MORE && rc);
}

/* Pack all input and write what does not fit the buffer. *used counts input across errors. */
static int sink_step(struct d9_sink *s, const uint8_t *p, size_t len, enum sink_step step,
		     size_t *used)
{
	int more = 1;

	while (more) {
		size_t n = 0;
		int rc;

		if (s->out_cap - s->out_len < OUT_ROOM_MIN) {
			rc = out_write(s);
			if (rc)
				return rc;
		}
		if (s->compression == D9_ZSTD)
			more = zstd_pack(s, p + *used, len - *used, step, &n);
		else if (s->compression == D9_GZIP)
			more = gzip_pack(s, p + *used, len - *used, step, &n);
		else
			more = raw_pack(s, p + *used, len - *used, &n);
		if (more < 0)
			return more;
		*used += n;
		s->in_sz += n;
	}
	return 0;
}

int d9_sink_write(struct d9_sink *s, const void *p, size_t len, size_t *ret_used)
{
	size_t used = 0;
	int rc = -D9_E_STATE;

	if (s->state == SINK_OPEN)
		rc = len ? sink_step(s, p, len, STEP_MORE, &used) : 0;
	if (ret_used)
		*ret_used = used;
	return rc;
}

/* An input pointer for steps without input; offsetting NULL is not allowed. */
static const uint8_t no_input[1];

int d9_sink_flush(struct d9_sink *s)
{
	size_t used = 0;
	int rc;

	if (s->state != SINK_OPEN)
		return -D9_E_STATE;
	rc = sink_step(s, no_input, 0, STEP_FLUSH, &used);
	return rc ? rc : out_write(s);
}

int d9_sink_finish(struct d9_sink *s)
{
	size_t used = 0;
	int rc;

	if (s->state == SINK_IDLE)
		return -D9_E_STATE;
	/* A repeated call after a failed write must not begin a second frame. */
	if (s->state == SINK_OPEN) {
		rc = sink_step(s, no_input, 0, STEP_END, &used);
		if (rc)
			return rc;
		s->state = SINK_ENDED;
	}
	rc = out_write(s);
	if (rc)
		return rc;
	d9_sink_abort(s);
	return 0;
}

void d9_sink_abort(struct d9_sink *s)
{
	s->out_len = s->out_pos = 0;
	s->fd = -1;
	s->state = SINK_IDLE;
}

uint64_t d9_sink_in_sz(const struct d9_sink *s)
{
	return s->in_sz;
}

uint64_t d9_sink_out_sz(const struct d9_sink *s)
{
	return s->out_sz;
}
