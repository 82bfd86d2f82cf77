/* SPDX-License-Identifier: Apache-2.0 */
#include "seat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "bpf/wire.h"
#include "layout.h"
#include "log.h"
#include "memory.h"
#include "plan.h"
#include "remotes.h"
#include "scheduler.h"
#include "target.h"

#define SEARCH_READS_MAX 6000 /* well under 20 ms */
#define FIND_READS_MAX 24
#define RUNTIMES_MAX 64 /* remembered; a further one takes the place of the least recently asked */
#define FILES_MAX 16 /* files that carry Tokio; further ones are not searched */
#define TLS_SLACK 64 /* bytes that alignment may put between a TLS block and the thread pointer */

struct seats {
	const struct target *target;
	const struct plan *plan;
	struct memory memory;
	struct remotes scratch;
	struct seat_file {
		struct layout_tls tls;
		struct layout layout;
		pid_t learnt_tid; /* thread the layout was learnt from */
		bool is_confirmed; /* and it held for another one */
	} files[FILES_MAX];
	size_t files_cnt;
	struct seat_scheduler {
		uint64_t addr; /* 0 = free */
		enum seat_flavor flavor;
		uint64_t remotes[2]; /* multi_thread: (address, count), for ever the same */
		uint16_t remotes_off;
		uint64_t asked; /* value of `asks` at its last use */
		struct census own; /* used where the build is not certain */
	} schedulers[RUNTIMES_MAX];
	uint64_t asks;
	struct census census[2]; /* multi_thread, current_thread: where one file carries Tokio */
};

static int read_target(void *ctx, uint64_t addr, void *buf, size_t sz)
{
	return target_read(ctx, addr, buf, sz);
}

static struct layout_tls file_tls(const struct target *t, const struct plan_file *f)
{
	uint64_t align = f->tls_align ? f->tls_align : 1;
	struct layout_tls ret = {.is_main = !t || f->target_file >= t->files_cnt ||
					    t->files[f->target_file].is_main};
	uint64_t sz = f->tls_sz;

	if (!sz || sz > LAYOUT_TLS_MAX || align > LAYOUT_TLS_MAX) {
		ret.sz = sz ? LAYOUT_TLS_MAX : 0;
		return ret;
	}
	if (ret.is_main)
		sz = (sz + align - 1) / align * align + TLS_SLACK;
	ret.sz = (uint32_t)sz & ~7u;
	return ret;
}

int seats_open_memory(const struct memory *m, const struct target *t, const struct plan *p,
		      struct seats **ret)
{
	struct seats *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->target = t;
	s->plan = p;
	s->memory = *m;
	for (size_t i = 0; i < p->files_cnt && s->files_cnt < FILES_MAX; i++)
		if (p->files[i].vtables_cnt) /* else it is there for its unwinder */
			s->files[s->files_cnt++].tls = file_tls(t, &p->files[i]);
	*ret = s;
	return 0;
}

int seats_open(const struct target *t, const struct plan *p, struct seats **ret)
{
	/* target_read takes it const: the cast is undone there */
	const struct memory m = {.read = read_target, .ctx = (void *)(uintptr_t)t};

	return seats_open_memory(&m, t, p, ret);
}

void seats_close(struct seats *s)
{
	free(s);
}

static void seat_set(struct seat *ret, const struct layout *l, const struct layout_worker *w)
{
	*ret = (struct seat){
		.handle = w->handle,
		.index = w->index,
		.workers_cnt = w->workers_cnt,
		.has_core = w->core != 0,
	};
	/* rustc puts the narrower word last; were it not so, BPF could not be told */
	if (l->queue.is_proven && w->queue && l->queue.tail_off > l->queue.head_off) {
		ret->queue_addr = w->queue + l->queue.head_off;
		ret->tail_off = (uint16_t)(l->queue.tail_off - l->queue.head_off);
	}
}

/* One file's Tokio. What its layout lacks is learnt on the way. */
static int file_find(struct seats *s, struct seat_file *f, pid_t tid, uint64_t fsbase,
		     struct layout_worker *ret)
{
	struct layout l = {0};
	int err;

	if (f->layout.is_known) {
		memory_budget(&s->memory, FIND_READS_MAX);
		if (!layout_is_whole(&f->layout))
			memory_budget(&s->memory, SEARCH_READS_MAX);
		err = layout_read(&s->memory, &f->layout, fsbase, &s->scratch, ret);
		if (!err && tid != f->learnt_tid)
			f->is_confirmed = true;
		if (!err || err != -EBADMSG || f->is_confirmed)
			return err;
	}
	/* unknown, or learnt from one thread only and now contradicted */
	memory_budget(&s->memory, SEARCH_READS_MAX);
	err = layout_search(&s->memory, fsbase, &f->tls, &s->scratch, &l, ret);
	if (err)
		return err;
	f->layout = l;
	f->learnt_tid = tid;
	log_debug("seat: thread %d is worker %u of %u: tls %u.%u context %u,%u worker %u,%u "
		  "remotes %u core %u, %u reads", (int)tid, ret->index, ret->workers_cnt,
		  l.module, l.tls_off, l.worker_off, l.core_off, l.handle_off,
		  l.has_index ? l.index_off : 0, l.remotes_off, l.queue_off, s->memory.reads_cnt);
	return 0;
}

int seats_find(struct seats *s, pid_t tid, uint64_t fsbase, struct seat *ret)
{
	for (size_t i = 0; i < s->files_cnt; i++) {
		struct layout_worker w = {0};
		int err = file_find(s, &s->files[i], tid, fsbase, &w);

		if (!err)
			seat_set(ret, &s->files[i].layout, &w);
		if (!err || err == -ESRCH)
			return err;
	}
	return -ENOENT;
}

int seats_layout(const struct seats *s, struct wire_seat_layout *ret)
{
	const struct layout *l = &s->files[0].layout;

	if (s->files_cnt != 1 || (l->is_known && l->module))
		return -ENOTSUP;
	if (!l->is_known)
		return -EAGAIN;
	*ret = (struct wire_seat_layout){
		.tls_off = l->tls_off,
		.worker_off = l->worker_off,
		.handle_off = l->handle_off,
		.index_off = l->has_index ? l->index_off : WIRE_SEAT_NO_INDEX,
		.remotes_off = l->remotes_off,
		.queue_off = WIRE_SEAT_NO_QUEUE,
	};
	if (!l->queue.is_proven)
		return l->has_index ? 1 : 2;
	/* rustc puts the narrower word last; were it not so, BPF could not be told */
	if (l->queue.tail_off > l->queue.head_off) {
		ret->queue_off = (uint16_t)(8 * l->queue.column);
		ret->head_off = l->queue.head_off;
		ret->tail_off = (uint16_t)(l->queue.tail_off - l->queue.head_off);
	}
	return l->has_index ? 0 : 2;
}

/* The Handle's words, and what it is; remembered per address. */
static int scheduler_open(struct seats *s, uint64_t addr, uint64_t *words, struct census_handle *h,
			  struct seat_scheduler **ret)
{
	uint16_t remotes_off = s->files_cnt == 1 && s->files[0].layout.is_known ?
			       s->files[0].layout.remotes_off : 0;
	struct seat_scheduler *at = &s->schedulers[0];
	enum seat_flavor flavor = SEAT_UNKNOWN;
	int err;

	*h = (struct census_handle){.m = &s->memory, .plan = s->plan, .addr = addr,
				    .words = words};
	if (!memory_is_ptr(addr))
		return -ENOENT;
	memory_budget(&s->memory, SEARCH_READS_MAX);
	h->cnt = memory_words(&s->memory, addr, words, CENSUS_WORDS);
	if (h->cnt < 4)
		return h->cnt == -ESRCH ? -ESRCH : -ENOENT;
	s->asks++;
	for (size_t i = 0; i < RUNTIMES_MAX; i++) {
		if (s->schedulers[i].addr == addr) {
			at = &s->schedulers[i];
			break;
		}
		if (s->schedulers[i].asked < at->asked)
			at = &s->schedulers[i];
	}
	if (at->addr != addr) {
		err = scheduler_judge(h, remotes_off, &s->scratch, &flavor);
		if (err)
			return err == -ESRCH ? err : -ENOENT;
		*at = (struct seat_scheduler){.addr = addr, .flavor = flavor};
		if (flavor == SEAT_MULTI_THREAD) {
			at->remotes_off = s->scratch.handle_off;
			at->remotes[0] = s->scratch.addr;
			at->remotes[1] = s->scratch.cnt;
		}
	}
	at->asked = s->asks;
	*ret = at;
	return 0;
}

int seats_flavor(struct seats *s, uint64_t scheduler, enum seat_flavor *ret)
{
	uint64_t words[CENSUS_WORDS];
	struct seat_scheduler *at;
	struct census_handle h;
	int err;

	seats_forget(s, scheduler);
	err = scheduler_open(s, scheduler, words, &h, &at);
	if (!err)
		*ret = at->flavor;
	return err;
}

/* A Handle that was dropped, and its memory used again, is no longer shaped like one. */
static bool is_same(const struct seat_scheduler *at, const struct census_handle *h)
{
	int i = at->remotes_off / 8;

	if (!memory_is_arc(h->words[0], h->words[1]))
		return false;
	return at->flavor != SEAT_MULTI_THREAD ||
	       (i + 1 < h->cnt && h->words[i] == at->remotes[0] &&
		h->words[i + 1] == at->remotes[1]);
}

int seats_runtime(struct seats *s, uint64_t scheduler, uint64_t owner_id, uint64_t owned_tasks,
		  struct seat_runtime *ret)
{
	uint64_t words[CENSUS_WORDS];
	struct seat_scheduler *at;
	struct census_handle h;
	struct census_count depth, alive;
	struct census *c;
	int err;

	*ret = (struct seat_runtime){0};
	err = scheduler_open(s, scheduler, words, &h, &at);
	if (err)
		return err;
	if (!is_same(at, &h)) {
		seats_forget(s, scheduler);
		return -ENOENT;
	}
	h.owner_id = owner_id;
	h.owned_tasks = owned_tasks;
	c = s->files_cnt == 1 ? &s->census[at->flavor == SEAT_CURRENT_THREAD] : &at->own;
	alive = census_alive(c, &h);
	depth = census_inject(c, &h);
	ret->has_alive = alive.is_known;
	ret->alive = alive.cnt;
	ret->has_global_depth = depth.is_known;
	ret->global_depth = depth.cnt;
	return 0;
}

void seats_forget(struct seats *s, uint64_t scheduler)
{
	for (size_t i = 0; i < RUNTIMES_MAX; i++)
		if (s->schedulers[i].addr == scheduler)
			memset(&s->schedulers[i], 0, sizeof(s->schedulers[i]));
}
