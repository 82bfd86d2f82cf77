// SPDX-License-Identifier: Apache-2.0
/* roster.c - a sorted array, replaced whole at each listing: threads that ended fall out of it. */
#include "roster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "bpf/wire.h"
#include "probe.h"

struct roster {
	struct probe *probe;
	pid_t pid;
	uint64_t listed_ns;
	size_t cnt, cap;
	int err; /* of the listing under way */
	struct wire_thread_info *infos; /* by tid */
};

int roster_open(struct probe *p, pid_t pid, struct roster **ret)
{
	struct roster *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->probe = p;
	r->pid = pid;
	*ret = r;
	return 0;
}

void roster_close(struct roster *r)
{
	if (!r)
		return;
	free(r->infos);
	free(r);
}

static void roster_add(void *ctx, const struct wire_thread_info *info)
{
	struct roster *r = ctx;

	if (r->cnt == ROSTER_THREADS_MAX)
		return;
	if (r->cnt == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 64;
		struct wire_thread_info *infos = realloc(r->infos, cap * sizeof(*infos));

		if (!infos) {
			r->err = -ENOMEM;
			return;
		}
		r->infos = infos;
		r->cap = cap;
	}
	r->infos[r->cnt] = *info;
	r->infos[r->cnt++].comm[WIRE_COMM_SZ - 1] = '\0';
}

static int roster_cmp(const void *a, const void *b)
{
	const struct wire_thread_info *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

int roster_refresh(struct roster *r, uint64_t now_ns)
{
	int err;

	r->cnt = 0;
	r->err = 0;
	r->listed_ns = now_ns;
	err = probe_threads(r->probe, r->pid, roster_add, r);
	if (r->cnt)
		qsort(r->infos, r->cnt, sizeof(*r->infos), roster_cmp);
	return err ? err : r->err;
}

static const struct wire_thread_info *roster_find(const struct roster *r, pid_t tid)
{
	struct wire_thread_info key = { .tid = (__u32)tid };

	return r->cnt ? bsearch(&key, r->infos, r->cnt, sizeof(key), roster_cmp) : NULL;
}

int roster_fsbase(struct roster *r, pid_t tid, uint64_t now_ns, uint64_t *ret)
{
	const struct wire_thread_info *info = roster_find(r, tid);

	if (!info && now_ns - r->listed_ns > ROSTER_AGE_NS) {
		int err = roster_refresh(r, now_ns);

		if (err)
			return err;
		info = roster_find(r, tid);
	}
	if (!info || !info->fsbase)
		return -ENOENT;
	*ret = info->fsbase;
	return 0;
}

const char *roster_comm(const struct roster *r, pid_t tid)
{
	const struct wire_thread_info *info = roster_find(r, tid);

	return info ? info->comm : "";
}

size_t roster_cnt(const struct roster *r)
{
	return r->cnt;
}

pid_t roster_tid(const struct roster *r, size_t i)
{
	return (pid_t)r->infos[i].tid;
}
