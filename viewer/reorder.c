// SPDX-License-Identifier: Apache-2.0
/* reorder.c - a window sorted by merging its runs, each merge as long as the runs overlap. */
#include "reorder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REORDER_RUN 16u /* shorter runs are sorted by insertion */
#define REORDER_STACK 40 /* runs that wait to be merged: more than doubling to the cap needs */
#define REORDER_FIRST 4096u /* moments there is room for at the start */

struct reorder {
	struct moment *window, *scratch;
	uint32_t cnt, room, cap; /* room grows up to cap */
	uint64_t last_ns; /* stamp of the last moment given out */
	uint64_t late;
	int (*out)(void *ctx, const struct moment *m);
	void *ctx;
};

struct reorder *reorder_new(uint32_t cap, int (*out)(void *ctx, const struct moment *m), void *ctx)
{
	struct reorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct reorder){ .cap = cap, .out = out, .ctx = ctx };
	r->room = cap < REORDER_FIRST ? cap : REORDER_FIRST;
	r->window = malloc(r->room * sizeof(*r->window));
	r->scratch = malloc(r->room * sizeof(*r->scratch));
	if (!r->window || !r->scratch) {
		reorder_free(r);
		return NULL;
	}
	return r;
}

void reorder_free(struct reorder *r)
{
	if (!r)
		return;
	free(r->window);
	free(r->scratch);
	free(r);
}

/* End of the run that begins at `from`. */
static uint32_t reorder_run(const struct moment *m, uint32_t from, uint32_t cnt)
{
	for (from++; from < cnt && m[from].ts_ns >= m[from - 1].ts_ns;)
		from++;
	return from;
}

/* A run of at least REORDER_RUN: what follows a short one is put into its place in it. */
static uint32_t reorder_long_run(struct moment *m, uint32_t from, uint32_t cnt)
{
	uint32_t end = reorder_run(m, from, cnt), least = from + REORDER_RUN, at;

	for (; end < cnt && end < least; end++) {
		struct moment x = m[end];

		for (at = end; at > from && m[at - 1].ts_ns > x.ts_ns; at--)
			m[at] = m[at - 1];
		m[at] = x;
	}
	return end;
}

/* The first of sorted m[from..to) that is after ts_ns (or not before it). */
static uint32_t reorder_seek(const struct moment *m, uint32_t from, uint32_t to, uint64_t ts_ns,
			     bool is_after)
{
	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (m[mid].ts_ns < ts_ns || (is_after && m[mid].ts_ns == ts_ns))
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/*
 * Merges m[from..mid) and m[mid..to). What is in its place already, at both ends, is not touched:
 * events come nearly in order, so what overlaps is little.
 */
static void reorder_merge(struct reorder *r, uint32_t from, uint32_t mid, uint32_t to)
{
	struct moment *m = r->window, *left = r->scratch;
	uint32_t at, cnt, i = 0, k = mid;

	from = reorder_seek(m, from, mid, m[mid].ts_ns, true);
	if (from == mid)
		return;
	to = reorder_seek(m, mid, to, m[mid - 1].ts_ns, false);
	cnt = mid - from;
	memcpy(left, m + from, cnt * sizeof(*m));
	for (at = from; i < cnt && k < to; at++)
		/* <= : the left one was first in the file */
		m[at] = left[i].ts_ns <= m[k].ts_ns ? left[i++] : m[k++];
	memcpy(m + at, left + i, (cnt - i) * sizeof(*m));
}

/* Each run on the stack is at least twice as long as the next: so it is never deep. */
static void reorder_sort(struct reorder *r)
{
	uint32_t begins[REORDER_STACK], cnt = 0, at = 0, end;

	while (at < r->cnt) {
		end = reorder_long_run(r->window, at, r->cnt);
		begins[cnt++] = at;
		at = end;
		while (cnt > 1 && (at == r->cnt || begins[cnt - 1] - begins[cnt - 2] <
							   2 * (at - begins[cnt - 1]))) {
			reorder_merge(r, begins[cnt - 2], begins[cnt - 1], at);
			cnt--;
		}
	}
}

static int reorder_give(struct reorder *r, uint32_t cnt)
{
	int err = 0;

	reorder_sort(r);
	for (uint32_t i = 0; err == 0 && i < cnt; i++) {
		if (r->window[i].ts_ns < r->last_ns)
			r->late++;
		else
			r->last_ns = r->window[i].ts_ns;
		err = r->out(r->ctx, &r->window[i]);
	}
	r->cnt -= cnt;
	memmove(r->window, r->window + cnt, r->cnt * sizeof(*r->window));
	return err;
}

/* Doubles the room. False at the cap or out of memory: the window then stays as large as it is. */
static bool reorder_grow(struct reorder *r)
{
	uint32_t room = r->room < r->cap / 2 ? 2 * r->room : r->cap;
	struct moment *grown;

	if (r->room == r->cap)
		return false;
	grown = realloc(r->scratch, room * sizeof(*grown));
	if (!grown)
		return false;
	r->scratch = grown;
	grown = realloc(r->window, room * sizeof(*grown));
	if (!grown)
		return false;
	r->window = grown;
	r->room = room;
	return true;
}

int reorder_put(struct reorder *r, const struct moment *m)
{
	int err = 0;

	if (r->cnt == r->room && !reorder_grow(r))
		err = reorder_give(r, r->room / 2);

	r->window[r->cnt++] = *m;
	return err;
}

int reorder_flush(struct reorder *r)
{
	return reorder_give(r, r->cnt);
}

uint64_t reorder_late(const struct reorder *r)
{
	return r->late;
}
