// SPDX-License-Identifier: Apache-2.0
#include "test/truth/guess.h"

#include <stdlib.h>

#include "test/truth/vec.h"

#define HANDOFF_RULE 5
#define ELSEWHERE_RULE 9

struct mark {
	uint64_t worker, ts_ns;
};

struct marks {
	SIDE_VEC(struct mark) v;
};

static int by_worker(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return x->ts_ns == y->ts_ns ? 0 : x->ts_ns < y->ts_ns ? -1 : 1;
}

static bool has(const struct marks *m, uint64_t worker, uint64_t ts_ns)
{
	struct mark key = { worker, ts_ns };

	return m->v.cnt && bsearch(&key, m->v.at, m->v.cnt, sizeof(key), by_worker);
}

static enum guess_kind kind_of(const struct marks *starts, const struct marks *parks,
			       const struct side_poll *o)
{
	if (o->rule == ELSEWHERE_RULE)
		return GUESS_ELSEWHERE;
	if (has(starts, o->worker, o->end_ns))
		return GUESS_NEXT;
	return has(parks, o->worker, o->end_ns) ? GUESS_PARK : GUESS_OTHER;
}

void guess_all(struct guesses *g, const struct pairing *p, const struct side *theirs,
	       const struct side *ours)
{
	struct marks starts = { 0 }, parks = { 0 };

	for (size_t i = 0; i < ours->polls.cnt; i++)
		*vec_push(&starts.v) =
			(struct mark){ ours->polls.at[i].worker, ours->polls.at[i].start_ns };
	for (size_t i = 0; i < ours->parks.cnt; i++)
		*vec_push(&parks.v) =
			(struct mark){ ours->parks.at[i].worker, ours->parks.at[i].from_ns };
	vec_sort(&starts.v, by_worker);
	vec_sort(&parks.v, by_worker);
	for (size_t i = 0; i < theirs->polls.cnt; i++) {
		const struct side_poll *t = &theirs->polls.at[i], *o;
		enum guess_kind kind;

		if (t->mate == SIDE_NONE || window_of(p, t->start_ns, t->end_ns) < 0)
			continue;
		o = &ours->polls.at[t->mate];
		if (o->rule == HANDOFF_RULE || o->kind == POLL_HANDED) {
			g->handed++;
			continue;
		}
		kind = kind_of(&starts, &parks, o);
		diffs_add(&g->all, t->end_ns, o->end_ns);
		diffs_add(&g->by[kind], t->end_ns, o->end_ns);
		g->ours_ns += o->end_ns - o->start_ns;
		g->theirs_ns += t->end_ns - t->start_ns;
		if (o->end_ns + PAIR_SLACK_NS >= t->end_ns)
			continue;
		g->early++;
		pair_say(p, "early end", "task %llu: dial9 %llu..%llu, we ..%llu, kind %d rule %d",
			 (unsigned long long)t->task, (unsigned long long)t->start_ns,
			 (unsigned long long)t->end_ns, (unsigned long long)o->end_ns, (int)kind,
			 o->rule);
	}
	free(starts.v.at);
	free(parks.v.at);
	diffs_close(&g->all);
	for (int k = 0; k < GUESS_CNT; k++)
		diffs_close(&g->by[k]);
}

void guesses_free(struct guesses *g)
{
	free(g->all.v.at);
	for (int k = 0; k < GUESS_CNT; k++)
		free(g->by[k].v.at);
}
