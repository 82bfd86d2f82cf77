// SPDX-License-Identifier: Apache-2.0
/* blockpool.c - runs and times in the queue as edges, swept by time. */
#include "blockpool.h"

#include "core/columns.h"
#include "core/tables.h"
#include "crews.h"
#include "scope.h"

#include <errno.h>
#include <stdlib.h>

struct blockpool_edge {
	uint64_t ns;
	int delta; /* +1 one more from here on, -1 one less */
};

struct blockpool_edges {
	struct blockpool_edge *at;
	size_t cnt;
};

static void blockpool_put(struct blockpool_edges *e, uint64_t from_ns, uint64_t to_ns)
{
	if (to_ns <= from_ns)
		return;
	e->at[e->cnt++] = (struct blockpool_edge){ from_ns, 1 };
	e->at[e->cnt++] = (struct blockpool_edge){ to_ns, -1 };
}

/* What ends at a moment ends before what begins there. */
static int blockpool_compare(const void *left, const void *right)
{
	const struct blockpool_edge *a = left, *b = right;
	int order = (a->ns > b->ns) - (a->ns < b->ns);

	return order ? order : a->delta - b->delta;
}

/* The most at once, when that began, and the time with any at all. */
static void blockpool_sweep(struct blockpool_edges *e, uint64_t *most, uint64_t *at_ns,
			    uint64_t *any_ns)
{
	uint64_t now = 0, since_ns = 0;

	if (e->cnt)
		qsort(e->at, e->cnt, sizeof(*e->at), blockpool_compare);
	*most = *at_ns = *any_ns = 0;
	for (size_t i = 0; i < e->cnt; i++) {
		if (now > 0)
			*any_ns += e->at[i].ns - since_ns;
		since_ns = e->at[i].ns;
		if (e->at[i].delta > 0)
			now++;
		else
			now--;
		if (now > *most) {
			*most = now;
			*at_ns = since_ns;
		}
	}
}

static int blockpool_run(const struct columns *c, uint32_t poll, struct blockpool *p,
			 struct blockpool_edges *e)
{
	uint64_t start_ns = c->polls.start_ns[poll], end_ns = crews_poll_end(c, poll);
	uint64_t ready_ns = c->polls.ready_ns[poll], dur_ns = c->polls.dur_ns[poll];
	int err = histogram_add(&p->run, dur_ns);

	p->tasks++;
	p->busy_ns += dur_ns;
	p->long_cnt += dur_ns >= BLOCKPOOL_LONG_NS;
	blockpool_put(&e[0], start_ns, end_ns);
	if (!ready_ns || ready_ns > start_ns)
		return err;
	p->queue_known++;
	blockpool_put(&e[1], ready_ns, start_ns);
	if (start_ns - ready_ns > BLOCKPOOL_QUEUED_NS)
		blockpool_put(&e[2], ready_ns + BLOCKPOOL_QUEUED_NS, start_ns);
	return err ? err : histogram_add(&p->queued, start_ns - ready_ns);
}

int blockpool_of(const struct columns *c, const struct scope *s, struct blockpool *ret)
{
	struct blockpool_edges e[3] = { 0 };
	uint64_t unused[2];
	uint32_t cnt = 0;
	int err = 0;

	*ret = (struct blockpool){ 0 };
	for (uint32_t l = 0; l < c->lanes.cnt; l++)
		if (c->lanes.kind[l] == COLUMNS_BLOCKING)
			cnt += c->lanes.polls_to[l] - c->lanes.polls_from[l];
	for (int i = 0; i < 3; i++) {
		e[i].at = calloc(2ull * cnt + 1, sizeof(*e[i].at));
		if (!e[i].at)
			err = -ENOMEM;
	}
	for (uint32_t l = 0; err == 0 && l < c->lanes.cnt; l++) {
		uint64_t before = ret->tasks;

		if (c->lanes.kind[l] != COLUMNS_BLOCKING)
			continue;
		for (uint32_t i = c->lanes.polls_from[l]; err == 0 && i < c->lanes.polls_to[l]; i++)
			if (scope_row(s, TABLES_polls, i))
				err = blockpool_run(c, i, ret, e);
		ret->threads += ret->tasks > before;
	}
	if (err == 0) {
		blockpool_sweep(&e[0], &ret->most_busy, &ret->most_busy_at_ns, &unused[0]);
		blockpool_sweep(&e[1], &ret->most_queued, &ret->most_queued_at_ns, &unused[0]);
		blockpool_sweep(&e[2], &unused[0], &unused[1], &ret->saturated_ns);
	}
	for (int i = 0; i < 3; i++)
		free(e[i].at);
	return err;
}

void blockpool_done(struct blockpool *p)
{
	histogram_done(&p->queued);
	histogram_done(&p->run);
}
