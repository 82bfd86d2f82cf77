// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "test/truth/samples.h"
#include "test/truth/vec.h"

struct step { /* a task more or less */
	uint64_t ts_ns;
	int64_t by;
};

struct steps {
	SIDE_VEC(struct step) v;
};

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return x->ts_ns == y->ts_ns ? 0 : x->ts_ns < y->ts_ns ? -1 : 1;
}

/* Ours are named after threads that begin with dial9's name of the runtime. */
static bool is_runtime(const struct side *theirs, uint32_t ours)
{
	for (size_t i = 0; i < theirs->members.cnt; i++) {
		const char *name = side_str(theirs->members.at[i].runtime);

		if (!strncmp(side_str(ours), name, strlen(name)))
			return true;
	}
	return false;
}

/* The samples of theirs before and after it say the same: so it was no passing state. */
static bool has_stood(const struct side *theirs, size_t i)
{
	const struct side_metric *m = &theirs->metrics.at[i];

	return i && i + 1 < theirs->metrics.cnt && m[-1].runtime == m->runtime &&
	       m[1].runtime == m->runtime && m[-1].queue + 1 >= m->queue &&
	       m->queue + 1 >= m[-1].queue && m[1].queue + 1 >= m->queue &&
	       m->queue + 1 >= m[1].queue;
}

static void compare_global(struct pairing *p, const struct side *theirs, const struct side *ours)
{
	for (size_t i = 0; i < theirs->metrics.cnt; i++) {
		const struct side_metric *t = &theirs->metrics.at[i];
		const char *name = side_str(t->runtime);
		uint32_t least = UINT32_MAX, most = 0;

		if (window_of(p, t->ts_ns - SAMPLES_AROUND_NS, t->ts_ns + SAMPLES_AROUND_NS) < 0)
			continue;
		for (size_t j = 0; j < ours->metrics.cnt; j++) {
			const struct side_metric *o = &ours->metrics.at[j];

			if (!o->has_queue || o->ts_ns + SAMPLES_AROUND_NS < t->ts_ns ||
			    t->ts_ns + SAMPLES_AROUND_NS < o->ts_ns ||
			    strncmp(side_str(o->runtime), name, strlen(name)))
				continue;
			least = o->queue < least ? o->queue : least;
			most = o->queue > most ? o->queue : most;
		}
		if (least == UINT32_MAX || !has_stood(theirs, i))
			continue;
		p->metric_read++;
		p->metric_deep += t->queue > 1;
		if (t->queue + 1 < least || t->queue > most + 1) {
			p->global_off++;
			pair_say(p, "global queue", "at %llu: dial9 %u, we %u to %u",
				 (unsigned long long)t->ts_ns, t->queue, least, most);
		}
	}
}

/* Ends of blocking tasks are among theirs, their spawns are not: only tasks born count. */
static void gather(struct steps *steps, const struct side *theirs)
{
	for (size_t i = 0; i < theirs->births.cnt; i++)
		*vec_push(&steps->v) = (struct step){ theirs->births.at[i].ts_ns, 1 };
	for (size_t i = 0; i < theirs->deaths.cnt; i++)
		if (side_birth_of(theirs, theirs->deaths.at[i].task))
			*vec_push(&steps->v) = (struct step){ theirs->deaths.at[i].ts_ns, -1 };
	vec_sort(&steps->v, by_time);
}

static int by_ts(const void *a, const void *b)
{
	const struct side_metric *x = a, *y = b;

	return x->ts_ns == y->ts_ns ? 0 : x->ts_ns < y->ts_ns ? -1 : 1;
}

/* A worker of dial9's had its first or last poll just before: a runtime may have come or gone. */
static bool is_settled(const struct pairing *p, uint64_t ts_ns)
{
	for (size_t i = 0; i < PAIR_WORKERS_MAX; i++)
		if (p->worker_of[i] != UINT64_MAX &&
		    ((p->life_of[i].from_ns + SAMPLES_SETTLE_NS > ts_ns &&
		      p->life_of[i].from_ns < ts_ns + SAMPLES_APART_NS) ||
		     (p->life_of[i].to_ns + SAMPLES_SETTLE_NS > ts_ns &&
		      p->life_of[i].to_ns < ts_ns + SAMPLES_APART_NS)))
			return false;
	return true;
}

/* All runtimes of one moment together: spawns do not tell their runtime. */
static void compare_alive(struct pairing *p, const struct side *theirs, const struct side *ours)
{
	struct steps steps = { 0 };
	SIDE_VEC(struct side_metric) all = { 0 };
	int64_t alive = 0, slack = (int64_t)p->workers;
	size_t at = 0;

	gather(&steps, theirs);
	for (size_t i = 0; i < ours->metrics.cnt; i++)
		if (is_runtime(theirs, ours->metrics.at[i].runtime))
			*vec_push(&all) = ours->metrics.at[i];
	vec_sort(&all, by_ts);
	for (size_t i = 0, next; i < all.cnt; i = next) {
		uint64_t ts_ns = all.at[i].ts_ns;
		int64_t sum = 0, least, most, now;

		bool is_known = true;

		for (next = i; next < all.cnt && all.at[next].ts_ns == ts_ns; next++) {
			sum += all.at[next].alive;
			is_known &= all.at[next].has_alive;
		}
		if (!is_known || !is_settled(p, ts_ns) || window_of(p, ts_ns - SAMPLES_APART_NS, ts_ns + SAMPLES_APART_NS) < 0)
			continue;
		for (; at < steps.v.cnt && steps.v.at[at].ts_ns + SAMPLES_APART_NS < ts_ns; at++)
			alive += steps.v.at[at].by;
		least = most = now = alive;
		for (size_t k = at; k < steps.v.cnt &&
				    steps.v.at[k].ts_ns <= ts_ns + SAMPLES_APART_NS; k++) {
			now += steps.v.at[k].by;
			least = now < least ? now : least;
			most = now > most ? now : most;
		}
		p->alive_read++;
		if (sum + slack < least || sum > most + slack) {
			p->alive_off++;
			pair_say(p, "alive", "at %llu: dial9 %lld to %lld, we %lld",
				 (unsigned long long)ts_ns, (long long)least, (long long)most,
				 (long long)sum);
		}
	}
	free(all.at);
	free(steps.v.at);
}

void samples_compare(struct pairing *p, const struct side *theirs, const struct side *ours)
{
	compare_global(p, theirs, ours);
	compare_alive(p, theirs, ours);
}
