// SPDX-License-Identifier: Apache-2.0
/* mark.c - counts go back, and what was changed in place. */
#include "mark.h"

#include <stdlib.h>
#include <string.h>

int mark_set(struct mark *m, const struct gather *g)
{
	struct rows *rows[GATHER_ROWS];
	struct dict *dicts[GATHER_DICTS];

	gather_parts((struct gather *)(uintptr_t)g, rows, dicts); /* only read here */
	*m = (struct mark){ .odd = g->odd,
			    .gaps_cnt = g->gaps_cnt,
			    .session = g->session,
			    .sampled = g->sampled };
	for (size_t i = 0; i < GATHER_ROWS; i++)
		m->rows_cnt[i] = rows[i]->cnt;
	for (size_t i = 0; i < GATHER_DICTS; i++) {
		m->dicts_cnt[i] = dicts[i]->cnt;
		m->over_cnt[i] = dicts[i]->over_cnt;
	}
	m->tasks = rows_copy(&g->tasks);
	m->facts = rows_copy(&g->facts);
	if (m->tasks && m->facts)
		return 0;
	mark_free(m);
	return -ENOMEM;
}

void mark_free(struct mark *m)
{
	free(m->tasks);
	free(m->facts);
	*m = (struct mark){ 0 };
}

void mark_rewind(const struct mark *m, struct gather *g)
{
	struct rows *rows[GATHER_ROWS];
	struct dict *dicts[GATHER_DICTS];

	gather_parts(g, rows, dicts);
	for (size_t i = 0; i < GATHER_DICTS; i++) {
		dict_rewind(dicts[i], m->dicts_cnt[i]);
		dicts[i]->over_cnt = m->over_cnt[i];
	}
	for (size_t i = 0; i < sizeof(g->worker_lanes) / sizeof(g->worker_lanes[0]); i++)
		if (g->worker_lanes[i] >= g->lanes.cnt)
			g->worker_lanes[i] = 0;
	for (size_t i = 0; i < GATHER_ROWS; i++)
		if (rows[i] == &g->tasks)
			gather_forget_tasks(g, m->rows_cnt[i]);
		else
			rows[i]->cnt = m->rows_cnt[i];
	if (g->tasks.cnt)
		memcpy(g->tasks.p, m->tasks, g->tasks.cnt * g->tasks.sz);
	if (g->facts.cnt)
		memcpy(g->facts.p, m->facts, g->facts.cnt * g->facts.sz);
	g->odd = m->odd;
	g->gaps_cnt = m->gaps_cnt;
	g->session = m->session;
	g->sampled = m->sampled;
}
