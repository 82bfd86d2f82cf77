// SPDX-License-Identifier: Apache-2.0
/* segfile.c - creates, reserves for and writes one segment file. */
#include "segfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARGIN_SZ (1024u * 1024) /* what the compressor may hold back, and the end of the file */
#define END_SZ (16u * 1024) /* of a file whose bytes are all flushed */
#define RESERVE_STEP_SZ (2u * 1024 * 1024)
#define INDEX_RETRIES 1000

static int segfile_create(struct segfile *f, int dir_fd, uint64_t *index, const char *extension)
{
	int err;

	for (int i = 0; i < INDEX_RETRIES; i++) {
		retain_name(f->name, *index, extension, true);
		f->fd = openat(dir_fd, f->name,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
		if (f->fd >= 0 || errno != EEXIST)
			break;
		*index += 1; /* an old file that could not be published keeps its number */
	}
	if (f->fd < 0)
		return -errno;
	/* whatever the umask is */
	if (fchmod(f->fd, 0640) == 0)
		return 0;
	err = -errno;
	close(f->fd);
	unlinkat(dir_fd, f->name, 0);
	f->fd = -1;
	return err;
}

int segfile_open(struct segfile *f, int dir_fd, uint64_t *index, const char *extension,
		 struct d9_sink *sink)
{
	int err;

	*f = (struct segfile){
		.fd = -1,
		.can_reserve = true,
		.is_gzip = strcmp(extension, ".gz") == 0,
	};
	err = segfile_create(f, dir_fd, index, extension);
	if (err)
		return err;
	err = d9_sink_start(sink, f->fd);
	if (err) {
		segfile_discard(f, dir_fd);
		return err;
	}
	f->sink = sink;
	return 0;
}

int segfile_reserve(struct segfile *f, uint64_t sz)
{
	/* incompressible bytes grow by less than a 64th */
	uint64_t want = segfile_out_sz(f) + sz + sz / 64 + MARGIN_SZ;
	uint64_t step = RESERVE_STEP_SZ;

	while (f->can_reserve && want > f->reserved_off) {
		uint64_t len = want + step - f->reserved_off;

		if (fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)f->reserved_off, (off_t)len) == 0)
			f->reserved_off += len;
		else if (errno == EOPNOTSUPP || errno == ENOSYS)
			f->can_reserve = false;
		else if (errno == EINTR)
			continue;
		else if (segfile_is_full(-errno) && step > 0)
			step = 0; /* not more than needed, then */
		else
			return -errno;
	}
	return 0;
}

int segfile_write(struct segfile *f, const unsigned char **p, size_t *sz)
{
	size_t used = 0;
	int err = d9_sink_write(f->sink, *p, *sz, &used);

	*p += used;
	*sz -= used;
	return err;
}

int segfile_reserve_end(struct segfile *f, uint64_t sz)
{
	off_t end = lseek(f->fd, 0, SEEK_CUR);

	if (end < 0)
		return -errno;
	if (!f->can_reserve)
		return 0;
	if (fallocate(f->fd, FALLOC_FL_KEEP_SIZE, end, (off_t)sz + END_SZ) < 0)
		return -errno;
	if (f->reserved_off < (uint64_t)end + sz + END_SZ)
		f->reserved_off = (uint64_t)end + sz + END_SZ;
	return 0;
}

/* Ends what the compressor has at hand, for which there is room, and begins the next member. */
static int segfile_next_member(struct segfile *f)
{
	int err;

	if (d9_sink_in_sz(f->sink) == 0)
		return 0;
	err = d9_sink_finish(f->sink);
	if (err)
		return err;
	f->members_in_sz += d9_sink_in_sz(f->sink);
	f->members_out_sz += d9_sink_out_sz(f->sink);
	return d9_sink_start(f->sink, f->fd);
}

/* The file as it was when it ended at `end`. */
static void segfile_take_back(struct segfile *f, off_t end)
{
	d9_sink_abort(f->sink);
	if (ftruncate(f->fd, end) < 0 || lseek(f->fd, end, SEEK_SET) < 0 ||
	    d9_sink_start(f->sink, f->fd))
		f->is_torn = true;
	f->reserved_off = (uint64_t)end;
	segfile_reserve_end(f, 0); /* what was there a moment ago; else the end may be missing */
}

static int segfile_append_gzip(struct segfile *f, const void *p, size_t sz)
{
	int err = d9_sink_flush(f->sink);

	if (err == 0)
		err = segfile_reserve_end(f, sz + sz / 64);
	if (err)
		return err;
	err = d9_sink_write(f->sink, p, sz, NULL);
	if (err == 0)
		err = d9_sink_flush(f->sink);
	if (err)
		segfile_tear(f); /* the room was there: it is not the room */
	else
		segfile_trim(f);
	return err;
}

int segfile_append(struct segfile *f, const void *p, size_t sz)
{
	int err = f->is_gzip ? segfile_append_gzip(f, p, sz) : segfile_next_member(f);
	off_t end = err ? 0 : lseek(f->fd, 0, SEEK_CUR);
	uint64_t in_sz = f->members_in_sz, out_sz = f->members_out_sz;

	if (err || end < 0 || f->is_gzip)
		return err || end >= 0 ? err : -errno;
	err = d9_sink_write(f->sink, p, sz, NULL);
	if (err == 0)
		err = segfile_next_member(f);
	if (err == 0)
		err = segfile_reserve_end(f, 0);
	if (err == 0)
		return 0;
	segfile_take_back(f, end);
	f->members_in_sz = in_sz;
	f->members_out_sz = out_sz;
	return err;
}

uint64_t segfile_in_sz(const struct segfile *f)
{
	return f->members_in_sz + d9_sink_in_sz(f->sink);
}

uint64_t segfile_out_sz(const struct segfile *f)
{
	return f->members_out_sz + d9_sink_out_sz(f->sink);
}

void segfile_trim(struct segfile *f)
{
	off_t end = lseek(f->fd, 0, SEEK_CUR);

	/* a failure keeps room that the sealing thread gives back a little later */
	if (end < 0 || ftruncate(f->fd, end) < 0 || !f->can_reserve)
		return;
	f->reserved_off = (uint64_t)end;
	segfile_reserve_end(f, 0);
}

void segfile_tear(struct segfile *f)
{
	d9_sink_abort(f->sink);
	f->is_torn = true;
}

void segfile_discard(struct segfile *f, int dir_fd)
{
	if (f->sink)
		d9_sink_abort(f->sink);
	if (f->fd >= 0) {
		unlinkat(dir_fd, f->name, 0);
		close(f->fd);
	}
	f->sink = NULL;
	f->fd = -1;
}
