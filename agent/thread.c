// SPDX-License-Identifier: Apache-2.0
/* thread.c - see thread.h. */
#include "agent/thread.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/keymap.h"

struct threads {
	struct keymap by_tid;
	struct thread *last; /* records of one thread often come in a row */
	uint32_t used; /* slots given out so far */
	uint32_t free_cnt;
	uint32_t free[THREADS_MAX];
	struct thread at[THREADS_MAX]; /* touched only as far as used */
};

int threads_new(struct threads **ret)
{
	struct threads *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	if (keymap_init(&t->by_tid, THREADS_MAX)) {
		free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

void threads_free(struct threads *t)
{
	if (!t)
		return;
	keymap_done(&t->by_tid);
	free(t);
}

struct thread *threads_find(struct threads *t, pid_t tid)
{
	uint32_t i;

	if (t->last && t->last->tid == tid)
		return t->last;
	i = keymap_get(&t->by_tid, (uint32_t)tid);
	return i == KEYMAP_NONE ? NULL : (t->last = &t->at[i]);
}

struct thread *threads_get(struct threads *t, pid_t tid)
{
	struct thread *th = threads_find(t, tid);
	uint32_t i;

	if (th || tid <= 0)
		return th;
	if (t->free_cnt)
		i = t->free[--t->free_cnt];
	else if (t->used < THREADS_MAX)
		i = t->used++;
	else
		return NULL;
	keymap_put(&t->by_tid, (uint32_t)tid, i);
	t->at[i] = (struct thread){.tid = tid};
	return t->last = &t->at[i];
}

void threads_end(struct threads *t, struct thread *th)
{
	keymap_del(&t->by_tid, (uint32_t)th->tid);
	th->tid = 0;
	t->last = NULL;
	t->free[t->free_cnt++] = (uint32_t)(th - t->at);
}

struct thread *threads_next(struct threads *t, uint32_t *at)
{
	while (*at < t->used) {
		struct thread *th = &t->at[(*at)++];

		if (th->tid)
			return th;
	}
	return NULL;
}

struct poll *thread_async_poll(struct thread *th)
{
	for (unsigned d = th->depth; d-- > 0;) {
		uint8_t kind = th->polls[d].kind;

		if (kind == POLL_WORKER || kind == POLL_NESTED || kind == POLL_UNPLACED)
			return &th->polls[d];
	}
	return NULL;
}
