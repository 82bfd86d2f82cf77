// SPDX-License-Identifier: Apache-2.0
#include "test/truth/depths.h"

#include <stdlib.h>

#include "test/truth/vec.h"

struct start {
	uint64_t ts_ns, worker;
};

struct starts {
	SIDE_VEC(struct start) v;
};

static int by_time(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	return x->ts_ns == y->ts_ns ? 0 : x->ts_ns < y->ts_ns ? -1 : 1;
}

/* Another worker begins a poll in (from, to]. */
static bool is_taken_by(const struct starts *s, uint64_t worker, uint64_t from_ns, uint64_t to_ns)
{
	size_t lo = 0, hi = s->v.cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v.at[mid].ts_ns <= from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < s->v.cnt && s->v.at[lo].ts_ns <= to_ns; lo++)
		if (s->v.at[lo].worker != worker)
			return true;
	return false;
}

void depths_compare(struct pairing *p, const struct side *theirs, const struct side *ours)
{
	struct starts starts = { 0 };

	for (size_t i = 0; i < theirs->polls.cnt; i++)
		*vec_push(&starts.v) = (struct start){ theirs->polls.at[i].start_ns,
						       theirs->polls.at[i].worker };
	vec_sort(&starts.v, by_time);
	for (size_t i = 0; i < theirs->polls.cnt; i++) {
		const struct side_poll *t = &theirs->polls.at[i], *o;
		uint8_t less; /* theirs are cut to 8 bits */

		if (t->mate == SIDE_NONE || window_of(p, t->start_ns, t->end_ns) < 0)
			continue;
		o = &ours->polls.at[t->mate];
		if (!o->has_queue || o->kind == POLL_INNER)
			continue;
		p->queue_read++;
		less = (uint8_t)((uint8_t)t->queue - (uint8_t)o->queue);
		if (less <= 1 || less == 255)
			continue;
		if (less >= 128)
			p->queue_more++;
		else if (!is_taken_by(&starts, t->worker, t->start_ns,
				      o->start_ns + DEPTHS_THEFT_NS))
			p->queue_off++;
		else {
			p->queue_stolen++;
			continue;
		}
		pair_say(p, "queue", "task %llu at %llu: dial9 %u, we %u, %llu ns later",
			 (unsigned long long)t->task, (unsigned long long)t->start_ns, t->queue,
			 o->queue, (unsigned long long)(o->start_ns - t->start_ns));
	}
	free(starts.v.at);
}
