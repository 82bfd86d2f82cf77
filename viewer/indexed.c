// SPDX-License-Identifier: Apache-2.0
/* indexed.c - from a list of segments to columns. */
#include "indexed.h"

#include "core/columns.h"
#include "core/index.h"
#include "format/trace.h"
#include "notice.h"
#include "progress.h"

#include <errno.h>
#include <stdlib.h>

struct indexed {
	const struct traceset_recording *rec;
	struct progress *progress;
	size_t file; /* the last one told of */
	uint64_t before_sz, events;
};

static int indexed_progress(void *ctx, size_t file, uint64_t in_sz, uint64_t events)
{
	struct indexed *x = ctx;

	for (; x->file < file; x->file++)
		x->before_sz += x->rec->files[x->file].sz;
	progress_show(x->progress, x->rec->files[file].name, x->before_sz + in_sz,
		      events - x->events);
	x->events = events;
	return 0;
}

/* Tells of files that were not read to their end. */
static bool indexed_tell(const struct traceset_recording *rec, const struct columns *c)
{
	bool is_partial = false;

	for (uint32_t i = 0; i < c->segments.cnt && i < rec->files_cnt; i++) {
		int err = -(int)c->segments.err[i];

		if (err == 0)
			continue;
		if (rec->files[i].is_active && err == -D9_E_TRUNCATED)
			continue; /* as one that is being written ends */
		notice(0, "%s: not read to its end: %s; %llu events read", rec->files[i].path,
		       notice_text(err), (unsigned long long)c->segments.events[i]);
		is_partial = true;
	}
	return is_partial;
}

static int indexed_read(const struct traceset_recording *rec, const struct index_opt *opt,
			struct columns **ret)
{
	struct index_file *files = calloc(rec->files_cnt, sizeof(*files));
	uint64_t missing;
	int err = -ENOMEM;

	for (size_t i = 0; files && i < rec->files_cnt; i++)
		files[i] = (struct index_file){ rec->files[i].path,
						traceset_is_hole(rec, i, &missing) };
	if (files)
		err = index_open(ret, files, rec->files_cnt, opt);
	free(files);
	return err;
}

int indexed_again(const struct traceset_recording *rec, struct columns **ret)
{
	return indexed_read(rec, &(struct index_opt){ 0 }, ret);
}

int indexed_open(const struct traceset_recording *rec, struct progress *progress,
		 struct columns **ret, bool *ret_partial)
{
	struct indexed x = { .rec = rec, .progress = progress };
	struct index_opt opt = { .progress = indexed_progress, .ctx = &x };
	int err = indexed_read(rec, &opt, ret);
	uint64_t sz = 0;

	for (size_t i = 0; i < rec->files_cnt; i++)
		sz += rec->files[i].sz;
	progress_done(progress, sz);
	if (err == -E2BIG)
		return notice(err, "%s: too many events for one view: give some of its segments",
			      rec->name);
	if (err)
		return notice(err, "%s: cannot read it: %s", rec->name, notice_text(err));
	if (indexed_tell(rec, *ret))
		*ret_partial = true;
	return 0;
}
