// SPDX-License-Identifier: Apache-2.0
/* seal.c - a queue of written segments and the thread that publishes them. */
#include "seal.h"

#include "log.h"
#include "symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYMBOL_RESERVE_SZ 256 /* bytes on disk that one address is expected to need at most */
#define SYMBOL_TIGHT_SZ 64 /* and mostly: older segments go only for that */
#define NICE 10 /* the recorder goes first */

struct seal {
	struct seal_options options;
	struct symtab *symtab;
	pthread_t thread;
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t submitted;
	struct seal_job
		jobs[SEAL_SINKS]; /* oldest first; a job needs a sink, so it never overflows */
	size_t jobs_cnt;
	struct d9_sink *all[SEAL_SINKS], *unused[SEAL_SINKS];
	size_t unused_cnt;
	bool is_closing;
	bool is_joined; /* of the caller's thread */
	struct seal_stats stats;
};

struct d9_sink *seal_take_sink(struct seal *s)
{
	struct d9_sink *sink = NULL;

	pthread_mutex_lock(&s->mutex);
	if (s->unused_cnt > 0)
		sink = s->unused[--s->unused_cnt];
	pthread_mutex_unlock(&s->mutex);
	return sink;
}

void seal_return_sink(struct seal *s, struct d9_sink *sink)
{
	pthread_mutex_lock(&s->mutex);
	s->unused[s->unused_cnt++] = sink;
	pthread_mutex_unlock(&s->mutex);
}

/* Space for the symbols, at the cost of the oldest segments if need be. */
static int seal_reserve(struct seal_job *job, uint64_t *cnt, uint64_t *sz)
{
	off_t off = lseek(job->fd, 0, SEEK_CUR);
	off_t len = (64 << 10) + (off_t)job->addrs_cnt * SYMBOL_RESERVE_SZ;
	uint64_t gone_sz = 0;

	if (off < 0)
		return -errno;
	if (fallocate(job->fd, FALLOC_FL_KEEP_SIZE, off, len) == 0)
		return 0;
	len = (16 << 10) + (off_t)job->addrs_cnt * SYMBOL_TIGHT_SZ;
	while (fallocate(job->fd, FALLOC_FL_KEEP_SIZE, off, len) < 0) {
		if (errno == EOPNOTSUPP || errno == ENOSYS)
			return 0;
		if ((errno != ENOSPC && errno != EDQUOT) ||
		    retain_evict_oldest(job->dir_fd, &gone_sz))
			return -errno;
		*cnt += 1;
		*sz += gone_sz;
	}
	return 0;
}

/* Symbols into the same member (gzip), or as one more frame that can be taken back. */
static int seal_symbols(struct seal *s, struct seal_job *job, struct seal_stats *st)
{
	bool is_gzip = s->options.sink.compression == D9_GZIP;
	off_t end;
	int err;

	if (!is_gzip) {
		err = d9_sink_finish(job->sink);
		if (err)
			return err;
	}
	end = lseek(job->fd, 0, SEEK_CUR);
	err = job->addrs_cnt ? seal_reserve(job, &st->evicted_cnt, &st->evicted_sz) : 0;
	if (err || job->addrs_cnt == 0) {
		st->bare_cnt += err != 0;
		return is_gzip ? d9_sink_finish(job->sink) : 0;
	}
	err = is_gzip ? 0 : d9_sink_start(job->sink, job->fd);
	if (err == 0)
		err = symtab_write(s->symtab, s->options.symbols, job->addrs, job->addrs_cnt,
				   job->sink, &st->symbols);
	if (err == 0)
		err = d9_sink_finish(job->sink);
	if (err == 0)
		return 0;
	st->bare_cnt++;
	d9_sink_abort(job->sink);
	if (is_gzip) /* its events are in that member: keep what is readable of it */
		return err;
	return ftruncate(job->fd, end) < 0 || lseek(job->fd, end, SEEK_SET) < 0 ? -errno : 0;
}

static void seal_count(struct seal *s, const struct seal_stats *st)
{
	pthread_mutex_lock(&s->mutex);
	s->stats.sealed_cnt += st->sealed_cnt;
	s->stats.failed_cnt += st->failed_cnt;
	s->stats.bare_cnt += st->bare_cnt;
	s->stats.evicted_cnt += st->evicted_cnt;
	s->stats.evicted_sz += st->evicted_sz;
	s->stats.written_sz += st->written_sz;
	s->stats.symbols.named_cnt += st->symbols.named_cnt;
	s->stats.symbols.unnamed_cnt += st->symbols.unnamed_cnt;
	s->stats.symbols.skipped_cnt += st->symbols.skipped_cnt;
	if (st->last_errno)
		s->stats.last_errno = st->last_errno;
	pthread_mutex_unlock(&s->mutex);
}

/* Releases what the job holds, its sink first: a rotation may be waiting for one. */
static void seal_done(struct seal *s, struct seal_job *job)
{
	seal_return_sink(s, job->sink);
	close(job->fd);
	close(job->dir_fd);
	free(job->addrs);
}

static void seal_failed(struct seal_stats *st, const struct seal_job *job, int err)
{
	st->failed_cnt++;
	st->last_errno = -err;
	log_error(err, "cannot publish %s: %s; it stays there under that name", job->name,
		  d9_strerror(err));
}

/* The budget is kept before the slow part, too: the next segment grows meanwhile. */
static void seal_budget(struct seal *s, const struct seal_job *job, uint64_t open_sz,
			struct seal_stats *st)
{
	uint64_t budget_sz = s->options.budget_sz;

	retain_enforce(job->dir_fd, budget_sz > open_sz ? budget_sz - open_sz : 0, &st->evicted_cnt,
		       &st->evicted_sz);
	if (s->options.dir_max_sz)
		retain_enforce_all(s->options.trace_fd, s->options.dir_max_sz, &st->evicted_cnt,
				   &st->evicted_sz);
}

static void seal_work(struct seal *s, struct seal_job *job)
{
	struct seal_stats st = { 0 };
	off_t end = lseek(job->fd, 0, SEEK_CUR);
	int err;

	seal_budget(s, job, end > 0 ? (uint64_t)end : 0, &st);
	err = job->is_torn ? 0 : seal_symbols(s, job, &st);
	if (err) {
		st.last_errno = -err;
		log_warn(0, "%s ends early: %s", job->name, d9_strerror(err));
	}
	end = lseek(job->fd, 0, SEEK_CUR);
	/* gives back what was reserved behind the end */
	if (end < 0 || ftruncate(job->fd, end) < 0)
		err = -errno;
	else
		err = retain_publish(job->dir_fd, job->fd, job->name);
	if (err) {
		seal_failed(&st, job, err);
	} else {
		st.sealed_cnt = 1;
		st.written_sz = (uint64_t)end;
		seal_budget(s, job, 0, &st);
	}
	seal_count(s, &st);
	seal_done(s, job);
}

static void *seal_run(void *arg)
{
	struct seal *s = arg;
	struct seal_job job;

	pthread_setname_np(pthread_self(), "dial9-seal");
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
	for (;;) {
		pthread_mutex_lock(&s->mutex);
		while (s->jobs_cnt == 0 && !s->is_closing)
			pthread_cond_wait(&s->submitted, &s->mutex);
		if (s->jobs_cnt == 0) {
			pthread_mutex_unlock(&s->mutex);
			return NULL;
		}
		job = s->jobs[0];
		memmove(s->jobs, s->jobs + 1, --s->jobs_cnt * sizeof(job));
		pthread_mutex_unlock(&s->mutex);
		seal_work(s, &job);
	}
}

void seal_submit(struct seal *s, const struct seal_job *job)
{
	pthread_mutex_lock(&s->mutex);
	s->jobs[s->jobs_cnt++] = *job;
	pthread_cond_signal(&s->submitted);
	pthread_mutex_unlock(&s->mutex);
}

void seal_hurry(struct seal *s, const struct seal_job *job)
{
	struct seal_stats st = { .bare_cnt = job->addrs_cnt > 0 };
	struct seal_job mine = *job;
	char name[RETAIN_NAME_SZ];
	off_t end;
	int err = mine.is_torn ? 0 : d9_sink_finish(mine.sink);

	if (err)
		d9_sink_abort(mine.sink);
	end = lseek(mine.fd, 0, SEEK_CUR);
	snprintf(name, sizeof(name), "%.*s", (int)(strlen(mine.name) - strlen(".active")),
		 mine.name);
	if (ftruncate(mine.fd, end) < 0 ||
	    renameat(mine.dir_fd, mine.name, mine.dir_fd, name) < 0) {
		seal_failed(&st, &mine, -errno);
	} else {
		st.sealed_cnt = 1;
		st.written_sz = (uint64_t)end;
	}
	seal_count(s, &st);
	seal_done(s, &mine);
}

void seal_stats(struct seal *s, struct seal_stats *ret)
{
	pthread_mutex_lock(&s->mutex);
	*ret = s->stats;
	pthread_mutex_unlock(&s->mutex);
}

static void seal_free(struct seal *s)
{
	for (size_t i = 0; i < SEAL_SINKS; i++)
		d9_sink_free(s->all[i]);
	symtab_free(s->symtab);
	pthread_cond_destroy(&s->submitted);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

int seal_open(const struct seal_options *o, struct seal **ret)
{
	struct seal *s = calloc(1, sizeof(*s));
	sigset_t all, saved;
	int err;

	if (!s)
		return -ENOMEM;
	s->options = *o;
	pthread_mutex_init(&s->mutex, NULL);
	pthread_cond_init(&s->submitted, NULL);
	err = symtab_new(&s->symtab);
	for (size_t i = 0; i < SEAL_SINKS && err == 0; i++) {
		err = d9_sink_new(&s->all[i], &o->sink);
		s->unused[i] = s->all[i];
	}
	s->unused_cnt = SEAL_SINKS;
	if (err == 0) {
		/* signals are the main thread's */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &saved);
		err = -pthread_create(&s->thread, NULL, seal_run, s);
		pthread_sigmask(SIG_SETMASK, &saved, NULL);
	}
	if (err) {
		seal_free(s);
		return err;
	}
	*ret = s;
	return 0;
}

void seal_finish(struct seal *s)
{
	if (s->is_joined)
		return;
	pthread_mutex_lock(&s->mutex);
	s->is_closing = true;
	pthread_cond_signal(&s->submitted);
	pthread_mutex_unlock(&s->mutex);
	pthread_join(s->thread, NULL);
	s->is_joined = true;
}

void seal_close(struct seal *s)
{
	if (!s)
		return;
	seal_finish(s);
	symbols_close(s->options.symbols);
	seal_free(s);
}
