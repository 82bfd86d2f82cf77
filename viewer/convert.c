// SPDX-License-Identifier: Apache-2.0
/* convert.c - decompressed bytes of each segment, up to its last whole event, into one sink. */
#include "convert.h"

#include "command.h"
#include "notice.h"
#include "progress.h"
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONVERT_BUF_SZ (256u << 10)

struct convert {
	struct d9_sink *sink;
	struct progress *progress;
	uint8_t buf[CONVERT_BUF_SZ];
	uint64_t files_sz; /* of the segments before this one */
	uint64_t copied_sz;
	int exit_code;
};

static int convert_failed(const char *what, const char *why, int err)
{
	return notice(err, "%s: %s: %s", what, why, notice_text(err));
}

/* Copies the first `sz` decompressed bytes of a segment. */
static int convert_copy(struct convert *c, const struct traceset_file *file, uint64_t sz,
			const char *out)
{
	struct d9_src *src = NULL;
	ssize_t got;
	int err = reader_open(file, &src);

	if (err)
		return convert_failed(file->path, "cannot read it", err);
	while (sz > 0) {
		got = d9_src_read(src, c->buf, sz < CONVERT_BUF_SZ ? (size_t)sz : CONVERT_BUF_SZ);
		if (got <= 0) { /* it was read this far a moment ago */
			err = got < 0 ? (int)got : -D9_E_TRUNCATED;
			convert_failed(file->path, "changed while it was read", err);
			break;
		}
		sz -= (uint64_t)got;
		err = d9_sink_write(c->sink, c->buf, (size_t)got, NULL);
		if (err) {
			convert_failed(out, "cannot write it", err);
			break;
		}
		progress_show(c->progress, file->name, c->files_sz + d9_src_in_sz(src), 0);
	}
	d9_src_close(src);
	return err;
}

static int convert_file(struct convert *c, const struct traceset_file *file, const char *out)
{
	struct reader_end end;
	uint64_t whole_sz;
	int err = reader_check(file, &end, &whole_sz), code;

	if (err)
		return convert_failed(file->path, "cannot read it", err);
	code = reader_notice(file, &end);
	if (code > c->exit_code)
		c->exit_code = code;
	err = convert_copy(c, file, whole_sz, out);
	c->files_sz += file->sz;
	c->copied_sz += whole_sz;
	return err;
}

/* A file beside `out` to be renamed to it. Its name is `out` with a suffix, for the caller to
 * free. Returns the descriptor, or a negative errno after a notice. */
static int convert_open(const char *out, bool force, char **ret_name)
{
	struct stat st;
	mode_t mask = umask(0);
	int fd, err;

	umask(mask);
	*ret_name = NULL;
	if (!force && lstat(out, &st) == 0)
		return notice(-EEXIST, "%s: exists already: give --force to replace it", out);
	if (asprintf(ret_name, "%s.XXXXXX", out) < 0) {
		*ret_name = NULL;
		return notice(-ENOMEM, "%s: out of memory", out);
	}
	fd = mkostemp(*ret_name, O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		free(*ret_name);
		*ret_name = NULL;
		return convert_failed(out, "cannot write it", err);
	}
	fchmod(fd, 0666 & ~mask); /* mkostemp makes it private */
	return fd;
}

/* Puts the finished file in its place. link() rather than rename() where nothing may be replaced:
 * it fails if somebody made `out` meanwhile. */
static int convert_publish(const char *name, const char *out, bool force, int fd)
{
	if (fsync(fd) != 0)
		return convert_failed(out, "cannot write it", -errno);
	if (force)
		return rename(name, out) == 0 ? 0 : convert_failed(out, "cannot write it", -errno);
	if (link(name, out) == 0) {
		unlink(name);
		return 0;
	}
	if (errno == EEXIST)
		return notice(-EEXIST, "%s: exists already: give --force to replace it", out);
	/* a file system without hard links */
	return rename(name, out) == 0 ? 0 : convert_failed(out, "cannot write it", -errno);
}

static int convert_all(struct convert *c, const struct traceset_recording *rec,
		       const struct request *req, int fd)
{
	const struct d9_sink_opt opt = { .compression = req->compression };
	int err = d9_sink_new(&c->sink, &opt);

	if (err == 0)
		err = d9_sink_start(c->sink, fd);
	if (err)
		return convert_failed(req->out, "cannot write it", err);
	for (size_t i = 0; err == 0 && i < rec->files_cnt; i++)
		err = convert_file(c, &rec->files[i], req->out);
	progress_done(c->progress, c->files_sz);
	if (err == 0 && c->copied_sz == 0) {
		c->exit_code = EXIT_PARTIAL;
		err = notice(-ENODATA, "%s: no event in it: nothing written", req->path);
	}
	if (err == 0) {
		err = d9_sink_finish(c->sink);
		if (err)
			convert_failed(req->out, "cannot write it", err);
	}
	return err;
}

int convert_run(const struct request *req, const struct traceset *set)
{
	bool to_stdout = strcmp(req->out, "-") == 0;
	struct progress progress;
	struct convert *c;
	char *name = NULL;
	int fd = STDOUT_FILENO, err = 0;

	if (set->recordings_cnt > 1)
		return notice(EXIT_USAGE,
			      "%s: holds %zu recordings: give the directory of one, such as %s/%s",
			      req->path, set->recordings_cnt, req->path, set->recordings[0].name);
	if (to_stdout && isatty(fd))
		return notice(EXIT_USAGE, "standard output is a terminal: give --output FILE");
	c = calloc(1, sizeof(*c));
	if (!c)
		return notice(EXIT_FINDINGS, "%s: out of memory", req->path);
	progress_start(&progress, set->sz);
	c->progress = &progress;
	if (!to_stdout) {
		fd = convert_open(req->out, req->force, &name);
		err = fd < 0 ? fd : 0;
	}
	if (err == 0)
		err = convert_all(c, &set->recordings[0], req, fd);
	if (err == 0 && name)
		err = convert_publish(name, req->out, req->force, fd);
	if (err && name)
		unlink(name);
	if (name && fd >= 0)
		close(fd);
	free(name);
	d9_sink_free(c->sink);
	err = err && err != -ENODATA ? EXIT_FINDINGS : c->exit_code;
	free(c);
	return err;
}
