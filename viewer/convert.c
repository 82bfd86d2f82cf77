// SPDX-License-Identifier: Apache-2.0
/* convert.c - decompressed bytes of each segment, up to its last whole event, into one sink. */
#include "convert.h"

#include "command.h"
#include "notice.h"
#include "outfile.h"
#include "progress.h"
#include "reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int convert_unwritten(const char *out, int err)
{
	return notice(err, "%s: cannot write it: %s: %s", out, notice_text(err),
		      outfile_remedy(out, err));
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
			convert_unwritten(out, err);
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

static int convert_all(struct convert *c, const struct traceset_recording *rec,
		       const struct request *req, int fd)
{
	const struct d9_sink_opt opt = { .compression = req->compression };
	int err = d9_sink_new(&c->sink, &opt);

	if (err == 0)
		err = d9_sink_start(c->sink, fd);
	if (err)
		return convert_unwritten(req->out, err);
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
			convert_unwritten(req->out, err);
	}
	return err;
}

int convert_run(const struct request *req, const struct traceset *set)
{
	struct progress progress;
	struct outfile out;
	struct convert *c;
	int err;

	if (set->recordings_cnt > 1)
		return notice(EXIT_USAGE,
			      "%s: holds %zu recordings: give the directory of one, such as %s/%s",
			      req->path, set->recordings_cnt, req->path, set->recordings[0].name);
	c = calloc(1, sizeof(*c));
	if (!c)
		return notice(EXIT_FINDINGS, "%s: out of memory", req->path);
	progress_start(&progress, set->sz);
	c->progress = &progress;
	err = outfile_open(&out, req->out, req->force);
	if (err == 0) {
		err = convert_all(c, &set->recordings[0], req, fileno(out.f));
		err = outfile_close(&out, err);
	}
	d9_sink_free(c->sink);
	if (err && err != -ENODATA)
		c->exit_code = err == -EINVAL ? EXIT_USAGE : EXIT_FINDINGS;
	err = c->exit_code;
	free(c);
	return err;
}
