// SPDX-License-Identifier: Apache-2.0
/* relay.c - a ring of blocks between two threads; before it is needed, a call. */
#include "relay.h"

#include "momentblock.h"
#include "reorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define RELAY_BEHIND 4u /* blocks that wait: the reader then sorts the next, to balance the two */

struct relay_item {
	struct momentblock *block;
	bool is_flush;
	void (*then)(void *ctx);
};

struct relay {
	struct reorder *reorder;
	void *ctx;
	struct momentblock *filling;
	uint32_t blocks; /* passed on so far, up to RELAY_ALONE */
	bool may_thread, is_threaded, is_joined;
	pthread_t thread;
	/* of both threads, under the lock */
	pthread_mutex_t lock;
	pthread_cond_t has_item, has_room;
	struct relay_item ring[RELAY_DEPTH];
	uint32_t first, cnt;
	struct momentblock *spare;
	bool is_stopped; /* no more items come */
	int err; /* the first */
};

struct relay *relay_new(uint32_t cap, int (*out)(void *ctx, const struct moment *m),
			void (*ahead)(void *ctx, const struct moment *m), void *ctx,
			bool may_thread)
{
	struct relay *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->ctx = ctx;
	r->may_thread = may_thread;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->has_item, NULL);
	pthread_cond_init(&r->has_room, NULL);
	r->reorder = reorder_new(cap, out, ahead, ctx);
	if (!r->reorder) {
		relay_free(r);
		return NULL;
	}
	return r;
}

static int relay_apply(struct relay *r, const struct relay_item *item)
{
	int err = item->block ? reorder_take(r->reorder, item->block) : 0;

	if (err == 0 && item->is_flush)
		err = reorder_flush(r->reorder);
	if (err == 0 && item->then)
		item->then(r->ctx);
	return err;
}

/* Under the lock, if there are two threads: blocks that are not needed any more. */
static void relay_collect(struct relay *r)
{
	struct momentblock *b;

	while ((b = reorder_spare(r->reorder))) {
		b->next = r->spare;
		r->spare = b;
	}
}

static void *relay_thread(void *ctx)
{
	struct relay *r = ctx;
	struct relay_item item;
	int err = 0;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		while (r->cnt == 0 && !r->is_stopped)
			pthread_cond_wait(&r->has_item, &r->lock);
		if (r->cnt == 0)
			break;
		item = r->ring[r->first];
		pthread_mutex_unlock(&r->lock);
		if (err == 0)
			err = relay_apply(r, &item);
		else
			free(item.block);
		pthread_mutex_lock(&r->lock);
		relay_collect(r);
		r->err = err;
		r->first = (r->first + 1) % RELAY_DEPTH;
		r->cnt--;
		pthread_cond_signal(&r->has_room);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* Signals are for the other threads. */
static bool relay_start(struct relay *r)
{
	sigset_t all, before;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r->is_threaded = pthread_create(&r->thread, NULL, relay_thread, r) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r->is_threaded;
}

/* Waits until the other thread has done all it was given, or at least something. */
static void relay_wait(struct relay *r, uint32_t cnt)
{
	while (r->cnt > cnt)
		pthread_cond_wait(&r->has_room, &r->lock);
}

static int relay_pass(struct relay *r, const struct relay_item *item)
{
	int err;

	r->filling = NULL;
	if (r->may_thread && r->blocks < RELAY_ALONE && ++r->blocks == RELAY_ALONE)
		r->may_thread = relay_start(r);
	if (!r->is_threaded) {
		if (r->err == 0)
			r->err = relay_apply(r, item);
		else
			free(item->block);
		relay_collect(r);
		return r->err;
	}
	pthread_mutex_lock(&r->lock);
	if (item->block && r->cnt >= RELAY_BEHIND) {
		pthread_mutex_unlock(&r->lock);
		momentblock_sort(item->block);
		pthread_mutex_lock(&r->lock);
	}
	relay_wait(r, RELAY_DEPTH - 1);
	r->ring[(r->first + r->cnt++) % RELAY_DEPTH] = *item;
	pthread_cond_signal(&r->has_item);
	err = r->err;
	pthread_mutex_unlock(&r->lock);
	return err;
}

static struct momentblock *relay_spare(struct relay *r, bool is_idle)
{
	struct momentblock *b;

	if (r->is_threaded) {
		pthread_mutex_lock(&r->lock);
		relay_wait(r, is_idle ? 0 : RELAY_DEPTH);
	}
	b = r->spare;
	if (b)
		r->spare = b->next;
	if (r->is_threaded)
		pthread_mutex_unlock(&r->lock);
	if (b)
		momentblock_clear(b);
	return b;
}

struct moment *relay_next(struct relay *r)
{
	struct momentblock *b = r->filling;

	if (!b)
		b = relay_spare(r, false);
	if (!b)
		b = momentblock_new();
	if (!b && relay_flush(r, NULL) == 0) /* those at hand are emptied */
		b = relay_spare(r, true);
	r->filling = b;
	return b ? momentblock_next(b) : NULL;
}

int relay_put(struct relay *r)
{
	const struct relay_item item = { r->filling, false, NULL };

	momentblock_add(r->filling);
	return r->filling->cnt < MOMENTBLOCK_CNT ? 0 : relay_pass(r, &item);
}

int relay_flush(struct relay *r, void (*then)(void *ctx))
{
	const struct relay_item item = { r->filling, true, then };

	return relay_pass(r, &item);
}

/* The other thread ends when it has done what it was given. */
static void relay_join(struct relay *r)
{
	if (!r->is_threaded || r->is_joined)
		return;
	pthread_mutex_lock(&r->lock);
	r->is_stopped = true;
	pthread_cond_signal(&r->has_item);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	r->is_joined = true;
}

int relay_end(struct relay *r)
{
	relay_flush(r, NULL);
	relay_join(r);
	return r->err;
}

void relay_free(struct relay *r)
{
	if (!r)
		return;
	relay_join(r);
	while (r->spare) {
		struct momentblock *next = r->spare->next;

		free(r->spare);
		r->spare = next;
	}
	free(r->filling);
	reorder_free(r->reorder);
	pthread_cond_destroy(&r->has_room);
	pthread_cond_destroy(&r->has_item);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

uint64_t relay_late(const struct relay *r)
{
	return reorder_late(r->reorder);
}

bool relay_is_threaded(const struct relay *r)
{
	return r->is_threaded;
}
