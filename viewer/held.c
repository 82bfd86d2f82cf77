// SPDX-License-Identifier: Apache-2.0
/* held.c - one looking thread; columns are shared by count. */
#include "held.h"

#include "core/columns.h"
#include "core/index.h"
#include "core/live.h"
#include "notice.h"
#include "traceset.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct held_columns {
	atomic_uint users;
	uint64_t generation;
	struct columns *columns;
};

struct held_one {
	struct held_status status;
	uint64_t key, sealed_key; /* of the files that were decoded last; of those not written any more */
	uint64_t began_ms, ended_ms; /* the last decoding */
	struct held_columns *columns;
	struct live *live; /* the thread's own; NULL: it has not been seen to grow */
};

struct held {
	char *path;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stop_cond;
	atomic_bool stop;
	atomic_uint_least64_t asked_ms; /* the last question */
	struct held_one *one;
	uint32_t cnt;
	uint64_t over_cap;
	int err;
	uint32_t now; /* the one that is being decoded */
};

static uint64_t held_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void held_put(struct held_columns *hc)
{
	if (!hc || atomic_fetch_sub(&hc->users, 1) != 1)
		return;
	index_close(hc->columns);
	free(hc);
}

static int held_on_progress(void *ctx, size_t file, uint64_t in_sz, uint64_t events)
{
	struct held *h = ctx;

	pthread_mutex_lock(&h->lock);
	h->one[h->now].status.file = file;
	h->one[h->now].status.done_bytes = in_sz;
	h->one[h->now].status.events = events;
	pthread_mutex_unlock(&h->lock);
	return atomic_load(&h->stop);
}

/* The number of a recording; a new one if its name is not known yet. */
static bool held_find(struct held *h, const char *name, uint32_t *ret)
{
	for (*ret = 0; *ret < h->cnt; (*ret)++)
		if (strncmp(h->one[*ret].status.name, name, HELD_NAME_SZ - 1) == 0)
			return true;
	if (h->cnt == HELD_RECORDINGS_MAX) {
		h->over_cap++;
		return false;
	}
	h->one[h->cnt] = (struct held_one){ 0 };
	snprintf(h->one[h->cnt].status.name, HELD_NAME_SZ, "%s", name);
	h->cnt++;
	return true;
}

/* Under the lock: what an attempt has brought. */
static void held_take(struct held_one *o, struct columns *c, int err)
{
	struct held_columns *hc;

	o->status.err = err;
	o->status.state = err ? HELD_FAILED : HELD_READY;
	if (err)
		return;
	hc = calloc(1, sizeof(*hc));
	if (!hc) {
		index_close(c);
		o->status.state = HELD_FAILED;
		o->status.err = -ENOMEM;
		return;
	}
	hc->columns = c;
	hc->generation = o->status.generation + 1;
	atomic_init(&hc->users, 1);
	held_put(o->columns);
	o->columns = hc;
	o->status.generation = hc->generation;
}

bool held_is_due(bool sealed, uint64_t rested_ms, uint64_t took_ms, uint64_t unasked_ms)
{
	return unasked_ms < HELD_ASKED_MS && rested_ms >= (sealed ? 1 : HELD_REST) * took_ms;
}

/* Under the lock: is there something to decode, and is it time to? */
static bool held_wants(struct held *h, uint64_t key, uint64_t sealed_key)
{
	const struct held_one *o = &h->one[h->now];
	uint64_t asked_ms = atomic_load(&h->asked_ms), now_ms = held_now_ms(); /* in this order */

	if (o->status.state == HELD_WAITING)
		return true;
	return o->key != key && held_is_due(o->sealed_key != sealed_key, now_ms - o->ended_ms,
					    o->ended_ms - o->began_ms, now_ms - asked_ms);
}

/* What may be kept of this recording, beside the others. */
static uint64_t held_kept_max(const struct held *h, const struct live *live)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_sz = sysconf(_SC_PAGESIZE);
	uint64_t max_sz, sz = 0;

	if (pages <= 0 || page_sz <= 0)
		return 0;
	max_sz = (uint64_t)pages * (uint64_t)page_sz / HELD_KEPT_SHARE;
	for (uint32_t i = 0; i < h->cnt; i++)
		sz += h->one[i].live == live ? 0 : live_sz(h->one[i].live);
	return sz < max_sz ? max_sz - sz : 0;
}

/* Columns: from the cache, or by decoding; of a recording that grows by decoding what is new. */
static int held_decode(struct held *h, const struct index_file *files,
		       const struct traceset_recording *rec, struct columns **ret)
{
	struct index_opt opt = { .progress = held_on_progress, .ctx = h };
	struct held_one *o = &h->one[h->now];
	bool is_active = rec->files[rec->files_cnt - 1].is_active;

	if (!o->live && (o->columns || (is_active && live_is_fresh(files[rec->files_cnt - 1].path))))
		o->live = live_new();
	if (!o->live)
		return index_open(ret, files, rec->files_cnt, &opt);
	return live_open(o->live, ret, files, rec->files_cnt, rec->files_cnt - is_active, &opt,
			 held_kept_max(h, o->live));
}

/* Those that do not change, or are gone from the directory. */
static void held_forget_idle(struct held *h)
{
	uint64_t now_ms = held_now_ms();

	for (uint32_t i = 0; i < h->cnt; i++) {
		struct held_one *o = &h->one[i];

		if (o->live && now_ms - o->ended_ms >
				       HELD_KEPT_MS + HELD_REST * (o->ended_ms - o->began_ms))
			live_forget(o->live);
	}
}

static void held_read(struct held *h, const struct traceset_recording *rec)
{
	struct index_file *files = calloc(rec->files_cnt, sizeof(*files));
	struct columns *c = NULL;
	struct held_one *o;
	uint64_t key, sealed_key, missing, bytes = 0;
	bool is_known;
	int err;

	if (!files)
		return;
	for (size_t i = 0; i < rec->files_cnt; i++) {
		files[i].path = rec->files[i].path;
		files[i].is_after_gap = traceset_is_hole(rec, i, &missing);
		bytes += rec->files[i].sz;
	}
	key = index_key(files, rec->files_cnt);
	sealed_key = index_key(files, rec->files_cnt - rec->files[rec->files_cnt - 1].is_active);
	pthread_mutex_lock(&h->lock);
	is_known = held_find(h, rec->name, &h->now);
	o = &h->one[h->now];
	if (!is_known || !held_wants(h, key, sealed_key)) {
		pthread_mutex_unlock(&h->lock);
		free(files);
		return;
	}
	o->key = key;
	o->sealed_key = sealed_key;
	o->began_ms = held_now_ms();
	o->status.is_live = rec->files[rec->files_cnt - 1].is_active;
	o->status.state = HELD_LOADING;
	o->status.files = rec->files_cnt;
	o->status.bytes = bytes;
	o->status.file = o->status.done_bytes = o->status.events = 0;
	pthread_mutex_unlock(&h->lock);

	err = held_decode(h, files, rec, &c);
	pthread_mutex_lock(&h->lock);
	held_take(&h->one[h->now], c, err);
	h->one[h->now].ended_ms = held_now_ms();
	pthread_mutex_unlock(&h->lock);
	free(files);
}

static void *held_thread(void *ctx)
{
	struct held *h = ctx;

	notice_mute(true); /* it was said when the server started; the page says it from here on */
	while (!atomic_load(&h->stop)) {
		struct traceset set = { 0 };
		struct timespec until;
		uint64_t over_cap = h->over_cap;
		int err = traceset_open(h->path, &set);

		pthread_mutex_lock(&h->lock);
		h->err = err;
		h->over_cap = 0;
		/* all names first: the page shows what is to come */
		for (size_t i = 0; err == 0 && i < set.recordings_cnt; i++)
			held_find(h, set.recordings[i].name, &h->now);
		over_cap = h->over_cap;
		pthread_mutex_unlock(&h->lock);
		for (size_t i = 0; err == 0 && i < set.recordings_cnt && !atomic_load(&h->stop); i++)
			held_read(h, &set.recordings[i]);
		traceset_close(&set);
		held_forget_idle(h);

		pthread_mutex_lock(&h->lock);
		h->over_cap = over_cap;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += HELD_LOOK_MS / 1000;
		if (!atomic_load(&h->stop))
			pthread_cond_timedwait(&h->stop_cond, &h->lock, &until);
		pthread_mutex_unlock(&h->lock);
	}
	return NULL;
}

struct held *held_new(const char *path)
{
	struct held *h = calloc(1, sizeof(*h));
	pthread_condattr_t attr;

	if (!h)
		return NULL;
	h->path = strdup(path);
	h->one = calloc(HELD_RECORDINGS_MAX, sizeof(*h->one));
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&h->stop_cond, &attr);
	pthread_condattr_destroy(&attr);
	if (h->path && h->one && pthread_create(&h->thread, NULL, held_thread, h) == 0)
		return h;
	free(h->path);
	free(h->one);
	free(h);
	return NULL;
}

void held_free(struct held *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	atomic_store(&h->stop, true);
	pthread_cond_signal(&h->stop_cond);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	for (uint32_t i = 0; i < h->cnt; i++) {
		held_put(h->one[i].columns);
		live_free(h->one[i].live);
	}
	pthread_cond_destroy(&h->stop_cond);
	pthread_mutex_destroy(&h->lock);
	free(h->path);
	free(h->one);
	free(h);
}

int held_err(struct held *h)
{
	int err;

	pthread_mutex_lock(&h->lock);
	err = h->err;
	pthread_mutex_unlock(&h->lock);
	return err;
}

uint32_t held_cnt(struct held *h)
{
	uint32_t cnt;

	pthread_mutex_lock(&h->lock);
	cnt = h->cnt;
	pthread_mutex_unlock(&h->lock);
	return cnt;
}

uint64_t held_over_cap(struct held *h)
{
	uint64_t cnt;

	pthread_mutex_lock(&h->lock);
	cnt = h->over_cap;
	pthread_mutex_unlock(&h->lock);
	return cnt;
}

bool held_status(struct held *h, uint32_t nr, struct held_status *ret)
{
	bool is_there;

	pthread_mutex_lock(&h->lock);
	is_there = nr < h->cnt;
	atomic_store(&h->asked_ms, held_now_ms());
	if (is_there)
		*ret = h->one[nr].status;
	pthread_mutex_unlock(&h->lock);
	return is_there;
}

struct held_columns *held_get(struct held *h, uint32_t nr)
{
	struct held_columns *hc = NULL;

	pthread_mutex_lock(&h->lock);
	atomic_store(&h->asked_ms, held_now_ms());
	if (nr < h->cnt)
		hc = h->one[nr].columns;
	if (hc)
		atomic_fetch_add(&hc->users, 1);
	pthread_mutex_unlock(&h->lock);
	return hc;
}

const struct columns *held_columns(const struct held_columns *hc)
{
	return hc->columns;
}

uint64_t held_generation(const struct held_columns *hc)
{
	return hc->generation;
}
