// SPDX-License-Identifier: Apache-2.0
/* buildup.c - samples by time, each queue with the run it is in. */
#include "buildup.h"

#include "core/columns.h"
#include "core/tables.h"
#include "placetable.h"
#include "scope.h"

#include <errno.h>
#include <stdlib.h>

static int buildup_compare(const void *left, const void *right)
{
	const struct buildup_queue *a = left, *b = right;
	int order = (a->max < b->max) - (a->max > b->max);

	return order ? order : (a->key > b->key) - (a->key < b->key);
}

static void buildup_end(struct buildup_queue *q, uint64_t ns)
{
	uint64_t length_ns;

	if (!q->since_ns)
		return;
	length_ns = ns > q->since_ns ? ns - q->since_ns : 0;
	q->cnt++;
	q->ns += length_ns;
	if (length_ns >= q->longest_ns) {
		q->longest_ns = length_ns;
		q->longest_at_ns = q->since_ns;
	}
	q->since_ns = 0;
}

static void buildup_sample(struct buildup_queue *q, uint64_t ns, uint64_t depth)
{
	q->samples++;
	q->sum += depth;
	q->last_ns = ns;
	if (depth > q->max || q->samples == 1) {
		q->max = depth;
		q->max_at_ns = ns;
	}
	if (depth <= BUILDUP_DEPTH)
		buildup_end(q, ns);
	else if (!q->since_ns)
		q->since_ns = ns;
}

static int buildup_global(const struct columns *c, const struct scope *s, struct placetable *t)
{
	struct buildup_queue *q;

	for (uint32_t i = 0; i < c->queues.cnt; i++) {
		if (!scope_row(s, TABLES_queues, i))
			continue;
		q = placetable_row(t, c->queues.runtime[i]);
		if (!q)
			return -ENOMEM;
		buildup_sample(q, c->queues.ts_ns[i], c->queues.depth[i]);
	}
	return 0;
}

static int buildup_local(const struct columns *c, const struct scope *s, struct placetable *t)
{
	struct buildup_queue *q;

	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
		if (c->lanes.kind[lane] != COLUMNS_WORKER)
			continue;
		for (uint32_t i = c->lanes.polls_from[lane]; i < c->lanes.polls_to[lane]; i++) {
			if (!scope_row(s, TABLES_polls, i))
				continue;
			q = placetable_row(t, lane);
			if (!q)
				return -ENOMEM;
			if (c->polls.queue[i] == COLUMNS_QUEUE_UNKNOWN)
				q->unknown++;
			else
				buildup_sample(q, c->polls.start_ns[i], c->polls.queue[i]);
		}
	}
	return 0;
}

static void buildup_take(struct placetable *t, struct buildup_queue **ret, uint32_t *ret_cnt)
{
	*ret = t->rows;
	*ret_cnt = t->cnt;
	for (uint32_t i = 0; i < t->cnt; i++)
		buildup_end(&(*ret)[i], (*ret)[i].last_ns);
	if (t->cnt)
		qsort(*ret, t->cnt, sizeof(**ret), buildup_compare);
	placetable_done(t, false);
}

int buildup_of(const struct columns *c, const struct scope *s, struct buildup *ret)
{
	struct placetable global = { .row_sz = sizeof(struct buildup_queue) };
	struct placetable local = { .row_sz = sizeof(struct buildup_queue) };
	int err = buildup_global(c, s, &global);

	if (err == 0)
		err = buildup_local(c, s, &local);
	buildup_take(&global, &ret->global, &ret->global_cnt);
	buildup_take(&local, &ret->local, &ret->local_cnt);
	return err;
}

void buildup_done(struct buildup *b)
{
	free(b->global);
	free(b->local);
	*b = (struct buildup){ 0 };
}
