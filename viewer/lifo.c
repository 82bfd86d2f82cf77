// SPDX-License-Identifier: Apache-2.0
/* lifo.c - each poll and the one before it on its worker. */
#include "lifo.h"

#include "core/columns.h"
#include "core/tables.h"
#include "crews.h"
#include "placetable.h"
#include "scope.h"

#include <errno.h>
#include <stdlib.h>

static int lifo_compare(const void *left, const void *right)
{
	const struct lifo_type *a = left, *b = right;
	int order = (a->ns < b->ns) - (a->ns > b->ns);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int lifo_count(struct placetable *t, const struct columns *c, uint32_t poll, uint64_t ns,
		      uint32_t peers)
{
	struct lifo_type *row = placetable_row(t, c->polls.place[poll]);

	if (!row)
		return -ENOMEM;
	row->cnt++;
	row->ns += ns;
	if (ns <= row->worst_ns)
		return 0;
	row->worst_ns = ns;
	row->worst = poll;
	row->behind = poll - 1;
	row->peers = peers;
	return 0;
}

int lifo_of(const struct crews *x, const struct scope *s, struct lifo *ret)
{
	const struct columns *c = x->c;
	struct placetable t = { .row_sz = sizeof(struct lifo_type) };
	uint32_t peers;
	int err = 0;

	*ret = (struct lifo){ 0 };
	for (uint32_t lane = 0; err == 0 && lane < c->lanes.cnt; lane++) {
		if (x->of_lane[lane] == COLUMNS_NONE)
			continue;
		for (uint32_t i = c->lanes.polls_from[lane] + 1;
		     err == 0 && i < c->lanes.polls_to[lane]; i++) {
			uint32_t wake = c->polls.wake[i];
			uint64_t end_ns, ts_ns;

			if (wake == COLUMNS_NONE || c->wakes.poll[wake] != i - 1 ||
			    c->polls.task[i] == c->polls.task[i - 1] ||
			    !scope_row(s, TABLES_polls, i))
				continue;
			ret->woken_polls++;
			ts_ns = c->wakes.ts_ns[wake];
			end_ns = crews_poll_end(c, i - 1);
			if (end_ns < ts_ns || end_ns - ts_ns < LIFO_NS)
				continue;
			peers = crews_idle_peers(x, lane, ts_ns, end_ns);
			if (!peers)
				continue;
			ret->stalls++;
			ret->ns += end_ns - ts_ns;
			err = lifo_count(&t, c, i, end_ns - ts_ns, peers);
		}
	}
	ret->at = t.rows;
	ret->cnt = t.cnt;
	placetable_done(&t, false);
	if (ret->cnt)
		qsort(ret->at, ret->cnt, sizeof(*ret->at), lifo_compare);
	return err;
}

void lifo_done(struct lifo *l)
{
	free(l->at);
	*l = (struct lifo){ 0 };
}
