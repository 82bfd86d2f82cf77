// SPDX-License-Identifier: Apache-2.0
/* reorder.c - a window sorted by natural merging: runs that are in order are never taken apart. */
#include "reorder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* Merges neighbouring runs, two and two, into the scratch; true when it had been one run only. */
static bool reorder_pass(struct reorder *r)
{
	const struct moment *m = r->window;
	uint32_t from = 0, middle, end, at = 0, left, right;

	if (reorder_run(m, 0, r->cnt) == r->cnt)
		return true;
	while (from < r->cnt) {
		middle = reorder_run(m, from, r->cnt);
		end = middle < r->cnt ? reorder_run(m, middle, r->cnt) : middle;
		for (left = from, right = middle; left < middle || right < end;) {
			/* <= : the left one was first in the file */
			if (right >= end || (left < middle && m[left].ts_ns <= m[right].ts_ns))
				r->scratch[at++] = m[left++];
			else
				r->scratch[at++] = m[right++];
		}
		from = end;
	}
	return false;
}

static void reorder_sort(struct reorder *r)
{
	struct moment *sorted;

	while (r->cnt > 1 && !reorder_pass(r)) {
		sorted = r->scratch;
		r->scratch = r->window;
		r->window = sorted;
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
