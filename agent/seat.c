/* SPDX-License-Identifier: Apache-2.0 */
#include "seat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "log.h"
#include "memory.h"
#include "plan.h"
#include "remotes.h"
#include "target.h"

#define SEARCH_READS_MAX 6000 /* well under 20 ms */
#define FIND_READS_MAX 24
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
