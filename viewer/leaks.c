// SPDX-License-Identifier: Apache-2.0
/* leaks.c - one pass over the tasks. */
#include "leaks.h"

#include "core/columns.h"
#include "placetable.h"
#include "scope.h"

#include <errno.h>
#include <stdlib.h>

static int leaks_compare(const void *left, const void *right)
{
	const struct leaks_type *a = left, *b = right;
	uint64_t a_cnt = a->alive[LEAKS_QUARTERS - 1], b_cnt = b->alive[LEAKS_QUARTERS - 1];
	int order = (a_cnt < b_cnt) - (a_cnt > b_cnt);

	if (order == 0)
		order = (a->spawned < b->spawned) - (a->spawned > b->spawned);
	return order ? order : (a->place > b->place) - (a->place < b->place);
}

static void leaks_count(const struct columns *c, uint32_t task, const uint64_t *marks,
			struct leaks_type *t)
{
	uint64_t spawn_ns = c->tasks.spawn_ns[task], end_ns = c->tasks.end_ns[task];
	uint32_t polls = c->tasks.polls_to[task] - c->tasks.polls_from[task];

	t->spawned++;
	t->ended += end_ns > 0;
	t->churn += end_ns > spawn_ns && end_ns - spawn_ns < LEAKS_CHURN_NS && polls == 1;
	for (int i = 0; i < LEAKS_QUARTERS; i++)
		t->alive[i] += spawn_ns <= marks[i] && (!end_ns || end_ns > marks[i]);
	if (end_ns || spawn_ns > marks[LEAKS_QUARTERS - 1])
		return;
	t->ages_ns += marks[LEAKS_QUARTERS - 1] - spawn_ns;
	if (marks[LEAKS_QUARTERS - 1] - spawn_ns > t->oldest_ns)
		t->oldest_ns = marks[LEAKS_QUARTERS - 1] - spawn_ns;
}

int leaks_of(const struct columns *c, const struct scope *s, struct leaks *ret)
{
	struct placetable t = { .row_sz = sizeof(struct leaks_type) };
	uint64_t from_ns = s->from_ns > c->odd.first_ns ? s->from_ns : c->odd.first_ns;
	uint64_t to_ns = s->to_ns < c->odd.last_ns ? s->to_ns : c->odd.last_ns;
	uint64_t marks[LEAKS_QUARTERS], span_ns;
	struct leaks_type *row;
	int err = 0;

	*ret = (struct leaks){ 0 };
	for (uint32_t i = 0; i < c->tasks.cnt; i++) /* tasks may end behind the last poll */
		if (c->tasks.end_ns[i] > to_ns && c->tasks.end_ns[i] <= s->to_ns)
			to_ns = c->tasks.end_ns[i];
	span_ns = to_ns > from_ns ? to_ns - from_ns : 0;
	for (int i = 0; i < LEAKS_QUARTERS; i++)
		marks[i] = from_ns + span_ns / LEAKS_QUARTERS * (uint64_t)(i + 1);
	marks[LEAKS_QUARTERS - 1] = from_ns + span_ns;
	for (uint32_t i = 0; err == 0 && i < c->tasks.cnt; i++) {
		if (!scope_task(s, i) || c->tasks.spawn_ns[i] > to_ns)
			continue;
		if (c->tasks.spawn_ns[i] == 0) {
			ret->unseen++;
			continue;
		}
		row = placetable_row(&t, c->tasks.place[i]);
		if (row)
			leaks_count(c, i, marks, row);
		else
			err = -ENOMEM;
	}
	ret->at = t.rows;
	ret->cnt = t.cnt;
	placetable_done(&t, false);
	for (uint32_t i = 0; i < ret->cnt; i++) {
		const uint64_t *alive = ret->at[i].alive;

		ret->at[i].is_leak = alive[1] > alive[0] && alive[2] > alive[1] &&
				     alive[3] > alive[2] && alive[3] > 2 * alive[0] &&
				     alive[3] >= alive[0] + 100;
	}
	if (ret->cnt)
		qsort(ret->at, ret->cnt, sizeof(*ret->at), leaks_compare);
	return err;
}

void leaks_done(struct leaks *l)
{
	free(l->at);
	*l = (struct leaks){ 0 };
}
