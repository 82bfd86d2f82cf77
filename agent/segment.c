// SPDX-License-Identifier: Apache-2.0
/* segment.c - claims the directory, rotates its files, makes room, counts. */
#include "segment.h"

#include "clock.h"
#include "dirlock.h"
#include "log.h"
#include "retain.h"
#include "seal.h"
#include "segfile.h"
#include "symbols.h"
#include "target.h"
#include "tracedir.h"
#include "trouble.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENT_DEFAULT_SZ (100ull << 20)
#define RETRY_NS 1000000000ull
#define TIGHT_SEGMENT_SZ (128u << 10) /* on a disk too small for the worst case */
#define RESUME_SZ (256u << 10) /* after a loss: with less, it would only be full again */

struct segments {
	struct segment_options options;
	struct tracedir dir;
	struct dirlock *lock;
	struct seal *seal;

	struct segfile file;
	uint64_t index; /* of the open file */
	uint64_t started_ns; /* of the open segment, or the last try to open one */
	bool is_dropping; /* since bytes were lost: takes nothing until the next segment */
	bool is_tight; /* the disk has no room for the worst case of what comes next */
	struct trouble trouble; /* with writing */
	struct segment_stats stats;
};

static const char *const segment_extensions[] = {
	[SEGMENT_ZSTD] = ".zst",
	[SEGMENT_GZIP] = ".gz",
	[SEGMENT_NONE] = "",
};
static const enum d9_compression segment_compressions[] = {
	[SEGMENT_ZSTD] = D9_ZSTD,
	[SEGMENT_GZIP] = D9_GZIP,
	[SEGMENT_NONE] = D9_RAW,
};

/* Room for new bytes out of our own past. False when nothing is left to give. */
static bool segment_evict(struct segments *s)
{
	uint64_t sz = 0;

	if (retain_evict_oldest(s->dir.fd, &sz))
		return false;
	if (s->stats.evicted_cnt++ == 0)
		log_warn(0, "the disk of %s is full: removing our oldest segments there",
			 s->dir.path);
	s->stats.evicted_sz += sz;
	return true;
}

/* Where the worst case has no room, what a segment needs in any case is enough to begin one. */
static int segment_make_room(struct segments *s)
{
	int err;

	do {
		err = segfile_reserve(&s->file, 0);
		s->is_tight = segfile_is_full(err);
		if (s->is_tight)
			err = segfile_reserve_end(&s->file, s->is_dropping ? RESUME_SZ : 0);
	} while (segfile_is_full(err) && segment_evict(s));
	return err;
}

/* From here on nothing is taken until the next segment. */
static int segment_drop(struct segments *s, int err, uint64_t sz)
{
	trouble_met(&s->trouble, s->dir.path, err, clock_now_ns());
	s->is_dropping = true;
	s->stats.last_errno = -err;
	s->stats.dropped_cnt++;
	s->stats.dropped_sz += sz;
	return err;
}

/* With room reserved: what fails now has left half of a frame in the file. */
static int segment_put(struct segments *s, const void *frames, size_t sz)
{
	const unsigned char *next = frames;
	int err;

	do {
		err = segfile_write(&s->file, &next, &sz);
	} while (segfile_is_full(err) && segment_evict(s));
	if (err)
		segfile_tear(&s->file);
	return err;
}

int segments_write(struct segments *s, const void *frames, size_t sz)
{
	int err;

	if (s->is_dropping || !s->file.sink || s->file.is_torn)
		return segment_drop(s, s->stats.last_errno ? -s->stats.last_errno : -ENOSPC, sz);
	do {
		err = segfile_reserve(&s->file, sz);
		s->is_tight = segfile_is_full(err);
		if (err == 0)
			err = segment_put(s, frames, sz);
		else if (s->is_tight)
			err = segfile_append(&s->file, frames, sz);
	} while (s->is_tight && segfile_is_full(err) && segment_evict(s));
	if (err)
		return segment_drop(s, err, sz);
	if (s->trouble.since_ns)
		trouble_over(&s->trouble, s->dir.path, clock_now_ns());
	s->stats.written_raw_sz += sz;
	return 0;
}

int segments_flush(struct segments *s)
{
	int err;

	if (!s->file.sink || s->file.is_torn)
		return s->stats.last_errno ? -s->stats.last_errno : -ENOSPC;
	if (d9_sink_in_sz(s->file.sink) == 0)
		return 0;
	do {
		err = d9_sink_flush(s->file.sink);
	} while (segfile_is_full(err) && segment_evict(s));
	if (err) {
		segfile_tear(&s->file);
		return segment_drop(s, err, 0);
	}
	return 0;
}

bool segments_should_rotate(const struct segments *s, uint64_t now_ns)
{
	uint64_t max_sz = s->options.segment_max_sz, held_sz = 512 * 1024;
	uint64_t age_ns = now_ns > s->started_ns ? now_ns - s->started_ns : 0;

	if (s->is_dropping || !s->file.sink)
		return age_ns >= RETRY_NS;
	if (segfile_in_sz(&s->file) == 0)
		return false;
	/* a tight disk needs old segments to give */
	if (s->is_tight && segfile_out_sz(&s->file) >= TIGHT_SEGMENT_SZ)
		return true;
	/* what the compressor still holds back belongs to it, too */
	if (held_sz > max_sz / 8)
		held_sz = max_sz / 8;
	return age_ns >= s->options.rotation_secs * 1000000000ull ||
	       segfile_out_sz(&s->file) >= max_sz - held_sz;
}

static int segment_start(struct segments *s, uint64_t now_ns)
{
	const char *extension = segment_extensions[s->options.compress];
	struct d9_sink *sink = seal_take_sink(s->seal);
	int err;

	s->started_ns = now_ns;
	if (!sink)
		return -EAGAIN;
	do {
		err = segfile_open(&s->file, s->dir.fd, &s->index, extension, sink);
		if (err == -ENOENT && tracedir_remake(&s->dir) == 0)
			err = segfile_open(&s->file, s->dir.fd, &s->index, extension, sink);
	} while (segfile_is_full(err) && segment_evict(s));
	if (err == 0)
		err = segment_make_room(s);
	if (err == 0) {
		s->is_dropping = false;
		return 0;
	}
	segfile_discard(&s->file, s->dir.fd);
	seal_return_sink(s->seal, sink);
	return err;
}

/* Hands the open segment to the sealing thread. */
static void segment_end(struct segments *s, const uint64_t *addrs, size_t addrs_cnt, bool hurry)
{
	struct seal_job job = { .sink = s->file.sink, .fd = s->file.fd };

	if (!job.sink)
		return;
	if (!s->file.is_torn && segfile_in_sz(&s->file) == 0) {
		segfile_discard(&s->file, s->dir.fd);
		seal_return_sink(s->seal, job.sink);
		return;
	}
	/* the next segment may need the room that this one holds in reserve */
	if (!s->file.is_torn && segments_flush(s) == 0)
		segfile_trim(&s->file);
	job.is_torn = s->file.is_torn;
	job.dir_fd = fcntl(s->dir.fd, F_DUPFD_CLOEXEC, 0);
	memcpy(job.name, s->file.name, sizeof(job.name));
	job.addrs = addrs_cnt ? malloc(addrs_cnt * sizeof(*addrs)) : NULL;
	if (job.addrs) {
		memcpy(job.addrs, addrs, addrs_cnt * sizeof(*addrs));
		job.addrs_cnt = addrs_cnt;
	}
	if (hurry)
		seal_hurry(s->seal, &job);
	else
		seal_submit(s->seal, &job);
	s->file = (struct segfile){ .fd = -1 };
	s->index++;
}

int segments_rotate(struct segments *s, uint64_t now_ns, const uint64_t *addrs, size_t addrs_cnt)
{
	struct d9_sink *spare = seal_take_sink(s->seal);
	int err;

	/* all others are still finishing: this one is published at once and used again */
	if (spare)
		seal_return_sink(s->seal, spare);
	segment_end(s, addrs, addrs_cnt, !spare);
	err = segment_start(s, now_ns);
	if (err) {
		trouble_met(&s->trouble, s->dir.path, err, clock_now_ns());
		s->is_dropping = true;
		s->stats.last_errno = -err;
	}
	return err;
}

static int segment_open_seal(struct segments *s, const struct target *t)
{
	uint64_t headroom_sz = s->options.segment_max_sz;
	struct seal_options o = {
		.sink = { .compression = segment_compressions[s->options.compress],
			  .level = s->options.level },
		.trace_fd = s->dir.root_fd,
		.budget_sz = s->options.total_max_sz - headroom_sz,
		.dir_max_sz = s->options.dir_max_sz,
	};
	int err;

	if (symbols_open(t, &o.symbols))
		o.symbols = NULL; /* it has said why; addresses then stay module+offset */
	err = seal_open(&o, &s->seal);
	if (err) {
		symbols_close(o.symbols);
		return log_error(err, "cannot start the sealing thread: %s", d9_strerror(err));
	}
	return 0;
}

static void segment_free(struct segments *s, bool remove_empty)
{
	seal_close(s->seal);
	tracedir_close(&s->dir, remove_empty);
	dirlock_release(s->lock);
	free(s);
}

static int segment_claim(struct segments *s, const struct target *t)
{
	char boot_id[DIRLOCK_BOOT_ID_SZ];
	struct retain_sum sum;
	int err = dirlock_boot_id(t->pid, t->start_ticks, boot_id);

	if (err == 0)
		err = dirlock_take(s->options.run_dir, t->pid, t->start_ticks, &s->lock);
	if (err == 0)
		err = tracedir_open(&s->dir, s->options.trace_dir, boot_id);
	if (err)
		return err;
	/* what cannot be published was logged and stays: it must not stop a recording */
	retain_recover(s->dir.fd, &s->stats.recovered_cnt);
	retain_recover_all(s->dir.root_fd, &s->stats.recovered_cnt);
	err = retain_measure(s->dir.fd, &sum);
	if (err)
		return log_error(err, "cannot list %s: %s", s->dir.path, strerror(-err));
	s->index = sum.next_index;
	err = segment_open_seal(s, t);
	if (err)
		return err;
	err = segment_start(s, clock_now_ns());
	if (err)
		return log_error(err, "cannot write to %s: %s%s", s->dir.path, d9_strerror(err),
				 segfile_is_full(err) ? ": make room or name another --trace-dir"
						      : "");
	return 0;
}

/* The default, and never so much that the budget cannot hold two growing segments. */
static uint64_t segment_limit(const struct segment_options *o)
{
	uint64_t max_sz = o->segment_max_sz;

	if (max_sz == 0)
		max_sz = o->total_max_sz / 4 < SEGMENT_DEFAULT_SZ ? o->total_max_sz / 4
								  : SEGMENT_DEFAULT_SZ;
	return max_sz < o->total_max_sz / 3 ? max_sz : o->total_max_sz / 3;
}

int segments_open(const struct segment_options *o, const struct target *t, struct segments **ret)
{
	struct segments *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return log_error(-ENOMEM, "out of memory");
	s->options = *o;
	s->options.segment_max_sz = segment_limit(o);
	s->dir.root_fd = s->dir.fd = s->file.fd = -1;
	err = segment_claim(s, t);
	s->options.trace_dir = s->options.run_dir = NULL; /* were the caller's */
	if (err) {
		segment_free(s, s->dir.is_new);
		return err;
	}
	*ret = s;
	return 0;
}

const char *segments_path(const struct segments *s)
{
	return s->dir.path;
}

const char *segments_boot_id(const struct segments *s)
{
	return s->dir.boot_id;
}

uint64_t segments_index(const struct segments *s)
{
	return s->index;
}

void segments_stats(const struct segments *s, struct segment_stats *ret)
{
	struct seal_stats sealed;

	seal_stats(s->seal, &sealed);
	*ret = s->stats;
	ret->sealed_cnt += sealed.sealed_cnt;
	ret->failed_cnt += sealed.failed_cnt;
	ret->bare_cnt += sealed.bare_cnt;
	ret->evicted_cnt += sealed.evicted_cnt;
	ret->evicted_sz += sealed.evicted_sz;
	ret->symbols_named_cnt += sealed.symbols.named_cnt;
	ret->symbols_unnamed_cnt += sealed.symbols.unnamed_cnt;
	ret->symbols_skipped_cnt += sealed.symbols.skipped_cnt;
	ret->active_sz = s->file.sink ? segfile_out_sz(&s->file) : 0;
	ret->written_sz = sealed.written_sz + ret->active_sz;
	if (!ret->last_errno)
		ret->last_errno = sealed.last_errno;
}

int segments_finish(struct segments *s, const uint64_t *addrs, size_t addrs_cnt)
{
	struct segment_stats stats;

	segment_end(s, addrs, addrs_cnt, false);
	seal_finish(s->seal);
	segments_stats(s, &stats);
	return stats.failed_cnt || stats.dropped_cnt ? -EIO : 0;
}

void segments_close(struct segments *s)
{
	if (!s)
		return;
	segment_end(s, NULL, 0, false);
	segment_free(s, true);
}
