// SPDX-License-Identifier: Apache-2.0
/* reader.c - files to events. */
#include "reader.h"

#include "core/index.h"
#include "notice.h"
#include "progress.h"
#include "format/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define READER_CLOCK_EVENTS 64u /* looked through for a clock pair behind the metadata */
#define READER_PROGRESS_EVENTS 65536u /* between two looks at the clock, a power of two */

int reader_open(const struct traceset_file *file, struct d9_src **ret)
{
	struct d9_src_opt opt = { .decoded_max = index_fair_sz(file->path) };
	char *sealed;
	int err = d9_src_open(ret, file->path, &opt);

	if (err != -ENOENT || !file->is_active)
		return err;
	sealed = strndup(file->path, strlen(file->path) - strlen(".active"));
	if (!sealed)
		return -ENOMEM;
	opt.decoded_max = index_fair_sz(sealed);
	err = d9_src_open(ret, sealed, &opt);
	free(sealed);
	return err;
}

static int reader_scan_facts(const struct traceset_file *file, struct facts *facts)
{
	struct d9_src *src = NULL;
	struct d9_ev ev;
	struct stat st;
	uint32_t limit = READER_FACTS_EVENTS;
	bool has_facts = false;
	int err;

	/* a pipe can be read once only: its facts are learnt as they pass */
	if (stat(file->path, &st) == 0 && !S_ISREG(st.st_mode))
		return 0;
	facts->clock_ns = 0;
	err = reader_open(file, &src);
	for (uint32_t i = 0; err == 0 && i < limit; i++) {
		if (d9_src_next(src, &ev) != 1)
			break; /* damage is told by the real reading */
		if (ev.schema->kind == D9_EV_CLOCK_SYNC && facts->clock_ns == 0)
			facts->clock_ns = ev.ts_ns;
		if (ev.schema->kind == D9_EV_SEGMENT_METADATA) {
			facts_add(facts, &ev);
			has_facts = true;
			/* the clock pair stands beside it, if there is one */
			if (limit > i + READER_CLOCK_EVENTS)
				limit = i + READER_CLOCK_EVENTS;
		}
		if (has_facts && facts->clock_ns)
			break;
	}
	d9_src_close(src);
	return err == -ENOMEM ? err : 0;
}

/* What is known of a file when no more events come; src is NULL if it could not be opened. */
static void reader_finish(struct reader_end *end, const struct traceset_file *file,
			  const struct d9_src *src, int err)
{
	end->err = err;
	end->is_open = file->is_active && err == -D9_E_TRUNCATED;
	if (!src)
		return;
	end->off = d9_src_off(src);
	end->bytes = d9_src_stats(src)->bytes;
	end->pooled = d9_src_stats(src)->strings + d9_src_stats(src)->stacks;
	end->unresolved = d9_src_stats(src)->unresolved;
	end->compression = d9_src_compression(src);
}

static int reader_file(const struct traceset_recording *rec, size_t at,
		       const struct reader_ops *ops, void *ctx, struct progress *progress,
		       uint64_t before_sz)
{
	const struct traceset_file *file = &rec->files[at];
	struct reader_end end = { 0 };
	struct d9_src *src = NULL;
	struct d9_ev ev;
	int err = 0, got;

	if (ops->facts)
		err = reader_scan_facts(file, ops->facts);
	if (err == 0 && ops->begin)
		err = ops->begin(ctx, rec, at);
	if (err)
		return err;
	got = reader_open(file, &src);
	if (got == -ENOMEM)
		return got;
	while (got == 0 && (got = d9_src_next(src, &ev)) == 1) {
		got = 0;
		if (ops->facts && ev.schema->kind == D9_EV_SEGMENT_METADATA)
			facts_add(ops->facts, &ev);
		err = ops->event ? ops->event(ctx, &ev) : 0;
		if (err)
			goto out;
		if ((++end.events & (READER_PROGRESS_EVENTS - 1)) == 0)
			progress_show(progress, file->name, before_sz + d9_src_in_sz(src),
				      READER_PROGRESS_EVENTS);
	}
	reader_finish(&end, file, src, got);
	if (ops->end)
		err = ops->end(ctx, rec, at, &end);
out:
	d9_src_close(src);
	return err;
}

int reader_run(const struct traceset_recording *rec, const struct reader_ops *ops, void *ctx,
	       struct progress *progress)
{
	uint64_t before_sz = 0;
	int err = 0;

	for (size_t i = 0; err == 0 && i < rec->files_cnt; i++) {
		err = reader_file(rec, i, ops, ctx, progress, before_sz);
		before_sz += rec->files[i].sz;
	}
	progress_done(progress, before_sz);
	if (err == -ENOMEM)
		notice(err, "%s: out of memory", rec->name);
	return err;
}

int reader_check(const struct traceset_file *file, struct reader_end *ret, uint64_t *ret_whole_sz)
{
	struct d9_src *src = NULL;
	struct d9_ev ev;
	uint64_t whole_sz = 0;
	int err = reader_open(file, &src), got;

	if (err)
		return err;
	*ret = (struct reader_end){ 0 };
	while ((got = d9_src_next(src, &ev)) == 1) {
		ret->events++;
		whole_sz = d9_src_off(src);
	}
	reader_finish(ret, file, src, got);
	*ret_whole_sz = got == 0 ? ret->bytes : whole_sz;
	d9_src_close(src);
	return 0;
}

int reader_notice(const struct traceset_file *file, const struct reader_end *end)
{
	if (end->err == 0)
		return 0;
	if (end->is_open && end->bytes == 0)
		return notice(0, "%s: empty: its recorder has just begun it, or was killed before it "
				 "wrote",
			      file->path);
	if (end->is_open)
		return notice(0, "%s: still open: read up to its last whole event (%llu events)",
			      file->path, (unsigned long long)end->events);
	if (end->err > -1000)
		return notice(EXIT_PARTIAL, "%s: cannot read it: %s", file->path,
			      notice_text(end->err));
	return notice(EXIT_PARTIAL, "%s: damaged at byte %llu (decompressed): %s; %llu events read",
		      file->path, (unsigned long long)end->off, notice_text(end->err),
		      (unsigned long long)end->events);
}
