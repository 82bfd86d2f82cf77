// SPDX-License-Identifier: Apache-2.0
/*
 * source.c - a trace file to events: reads, tells the compression, decompresses, feeds the decoder.
 * Whatever could be decompressed is given out before the error that ended it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "bytes.h"
#include "unpack.h"

#define IN_SZ (128u << 10)
#define OUT_SZ (256u << 10)

struct d9_src {
	int fd; /* -1: memory */
	struct unpack_in in; /* file bytes read and not used yet */
	uint8_t *in_buf;
	uint64_t in_sz;
	uint8_t *out_buf;
	uint64_t out_left; /* decompressed bytes that may still come */
	bool has_started, is_in_member, is_at_end;
	enum d9_compression first, member;
	struct unpack unpack;
	struct d9_dec *dec;
	int read_rc; /* sticky */
};

static int src_new(struct d9_src **ret, const struct d9_src_opt *opt)
{
	struct d9_src *src = calloc(1, sizeof(*src));
	int rc = -ENOMEM;

	if (!src)
		return rc;
	src->fd = -1;
	src->out_left = opt && opt->decoded_max ? opt->decoded_max : D9_DECODED_MAX;
	src->out_buf = malloc(OUT_SZ);
	if (!src->out_buf)
		goto out;
	rc = d9_dec_new(&src->dec, opt ? &opt->dec : NULL);
	if (rc)
		goto out;
	*ret = src;
	return 0;
out:
	d9_src_close(src);
	return rc;
}

int d9_src_open_mem(struct d9_src **ret, const void *p, size_t sz, const struct d9_src_opt *opt)
{
	struct d9_src *src;
	int rc = src_new(&src, opt);

	if (rc)
		return rc;
	src->in = (struct unpack_in){ p, sz };
	src->in_sz = sz;
	src->is_at_end = true;
	*ret = src;
	return 0;
}

int d9_src_open_fd(struct d9_src **ret, int *fd, const struct d9_src_opt *opt)
{
	struct d9_src *src;
	int rc = src_new(&src, opt);

	if (rc)
		return rc;
	src->in_buf = malloc(IN_SZ);
	if (!src->in_buf) {
		d9_src_close(src);
		return -ENOMEM;
	}
	src->in.p = src->in_buf;
	src->fd = *fd;
	*fd = -1;
	*ret = src;
	return 0;
}

int d9_src_open(struct d9_src **ret, const char *path, const struct d9_src_opt *opt)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int rc;

	if (fd < 0)
		return -errno;
	rc = d9_src_open_fd(ret, &fd, opt);
	if (fd >= 0)
		close(fd);
	return rc;
}

void d9_src_close(struct d9_src *src)
{
	if (!src)
		return;
	if (src->fd >= 0)
		close(src->fd);
	unpack_done(&src->unpack);
	d9_dec_free(src->dec);
	free(src->in_buf);
	free(src->out_buf);
	free(src);
}

/* Have at least want (<= IN_SZ) file bytes at hand unless the file ends before. */
static int in_fill(struct d9_src *src, size_t want)
{
	if (src->in.len >= want || src->is_at_end)
		return 0;
	memmove(src->in_buf, src->in.p, src->in.len);
	src->in.p = src->in_buf;
	while (src->in.len < want) {
		ssize_t n = read(src->fd, src->in_buf + src->in.len, IN_SZ - src->in.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n) {
			src->is_at_end = true;
			return 0;
		}
		src->in.len += (size_t)n;
		src->in_sz += (uint64_t)n;
	}
	return 0;
}

/* At the start of the file or behind a member: what comes next? 1: nothing more. */
static int member_begin(struct d9_src *src)
{
	bool is_known;
	int rc = in_fill(src, UNPACK_MAGIC_SZ);

	if (rc)
		return rc;
	if (!src->in.len)
		return 1;
	is_known = unpack_sniff(&src->in, &src->member);
	if (!is_known && src->has_started)
		return -D9_E_TRAILER;
	if (!src->has_started)
		src->first = src->member;
	src->has_started = true;
	rc = unpack_begin(&src->unpack, src->member);
	src->is_in_member = !rc;
	return rc;
}

static ssize_t bytes_read(struct d9_src *src, uint8_t *buf, size_t len)
{
	for (;;) {
		size_t got = 0;
		int rc;

		if (!src->is_in_member) {
			rc = member_begin(src);
			if (rc)
				return rc < 0 ? rc : 0;
		}
		rc = in_fill(src, 1);
		if (rc)
			return rc;
		rc = unpack_step(&src->unpack, &src->in, src->is_at_end, buf, len, &got);
		if (rc == UNPACK_END)
			src->is_in_member = false;
		if (got)
			return (ssize_t)got;
		if (rc < 0)
			return rc;
	}
}

ssize_t d9_src_read(struct d9_src *src, void *buf, size_t len)
{
	ssize_t n;

	if (src->read_rc || !len)
		return src->read_rc;
	if (!src->out_left) {
		/* Only an error if anything follows. */
		uint8_t one;

		n = bytes_read(src, &one, 1);
		src->read_rc = n > 0 ? -D9_E_BOMB : (int)n;
		return src->read_rc;
	}
	n = bytes_read(src, buf, len < src->out_left ? len : (size_t)src->out_left);
	if (n < 0)
		src->read_rc = (int)n;
	else
		src->out_left -= (uint64_t)n;
	return n;
}

int d9_src_next(struct d9_src *src, struct d9_ev *ret)
{
	for (;;) {
		ssize_t n;
		int rc = d9_dec_next(src->dec, ret);

		if (rc)
			return rc;
		n = d9_src_read(src, src->out_buf, OUT_SZ);
		if (n <= 0)
			return n < 0 ? (int)n : d9_dec_end(src->dec);
		rc = d9_dec_feed(src->dec, src->out_buf, (size_t)n);
		if (rc)
			return rc;
	}
}

enum d9_compression d9_src_compression(const struct d9_src *src)
{
	return src->first;
}

const struct d9_dec_stats *d9_src_stats(const struct d9_src *src)
{
	return d9_dec_stats(src->dec);
}

const struct d9_dec *d9_src_dec(const struct d9_src *src)
{
	return src->dec;
}

uint64_t d9_src_off(const struct d9_src *src)
{
	return d9_dec_off(src->dec);
}

uint64_t d9_src_in_sz(const struct d9_src *src)
{
	return src->in_sz - src->in.len;
}
