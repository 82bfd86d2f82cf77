// SPDX-License-Identifier: Apache-2.0
#include "test/truth/sleeps.h"

#define ULL(x) ((unsigned long long)(x))

/* dial9 has no poll on that worker later on. */
static bool is_last(const struct side *theirs, const struct pairing *p, const struct side_park *o)
{
	for (size_t i = 0; i < theirs->polls.cnt; i++)
		if (theirs->polls.at[i].start_ns > o->from_ns &&
		    theirs->polls.at[i].worker < PAIR_WORKERS_MAX &&
		    p->worker_of[theirs->polls.at[i].worker] == o->worker)
			return false;
	return true;
}

/* No poll and no park of that thread's in dial9's lies there: it slept in between, for a lock. */
static bool is_between(const struct side *theirs, const struct pairing *p,
		       const struct side_park *o, const struct side_park *next)
{
	if (next && next->tid == o->tid && next->from_ns < o->to_ns)
		return false;
	for (size_t i = 0; i < theirs->polls.cnt; i++)
		if (theirs->polls.at[i].end_ns > o->from_ns &&
		    theirs->polls.at[i].start_ns < o->to_ns &&
		    theirs->polls.at[i].worker < PAIR_WORKERS_MAX &&
		    p->worker_of[theirs->polls.at[i].worker] == o->worker)
			return false;
	return true;
}

/*
 * The thread gave its worker away in block_in_place and sleeps in the blocking pool: the next park
 * that dial9 saw of that worker is another thread's, or the last before was.
 */
static bool is_given_away(const struct side *theirs, const struct pairing *p,
			  const struct side_park *o)
{
	const struct side_park *before = NULL, *after = NULL;

	for (size_t i = 0; i < theirs->parks.cnt; i++) {
		const struct side_park *t = &theirs->parks.at[i];

		if (t->worker >= PAIR_WORKERS_MAX || p->worker_of[t->worker] != o->worker)
			continue;
		if (t->from_ns <= o->from_ns && (!before || t->from_ns > before->from_ns))
			before = t;
		if (t->from_ns > o->from_ns && (!after || t->from_ns < after->from_ns))
			after = t;
	}
	return (before && before->tid != o->tid) || (after && after->tid != o->tid);
}

/* Nothing happened on that thread in dial9's from its unpark until ours, which was the next event. */
static bool is_next_event(const struct side *theirs, const struct pairing *p,
			  const struct side_park *t, const struct side_park *o)
{
	if (t + 1 < theirs->parks.at + theirs->parks.cnt && t[1].tid == o->tid &&
	    t[1].from_ns < o->to_ns)
		return false;
	for (size_t i = 0; i < theirs->polls.cnt; i++) {
		const struct side_poll *poll = &theirs->polls.at[i];

		if (poll->start_ns > t->to_ns && poll->start_ns < o->to_ns &&
		    poll->worker < PAIR_WORKERS_MAX && p->worker_of[poll->worker] == o->worker)
			return false;
	}
	return true;
}

/* Where ends are inferred: it slept for a lock in the tail of a poll whose task was over. */
static bool is_in_tail(const struct pairing *p, const struct side *theirs, const struct side *ours,
		       const struct side_park *o)
{
	for (size_t i = 0; p->level != PAIR_FULL && i < ours->polls.cnt; i++) {
		const struct side_poll *poll = &ours->polls.at[i];

		if (poll->worker == o->worker && poll->end_ns == o->from_ns &&
		    poll->mate != SIDE_NONE && theirs->polls.at[poll->mate].end_ns >= o->to_ns)
			return true;
	}
	return false;
}

void sleeps_pair(struct pairing *p, struct side *theirs, struct side *ours)
{
	size_t i = 0;

	for (size_t j = 0; j < ours->parks.cnt; j++) {
		const struct side_park *o = &ours->parks.at[j];
		struct side_park *t;

		if (window_of(p, o->from_ns, o->to_ns) < 0)
			continue;
		while (i < theirs->parks.cnt &&
		       (theirs->parks.at[i].tid < o->tid ||
			(theirs->parks.at[i].tid == o->tid && theirs->parks.at[i].to_ns < o->from_ns)))
			i++;
		t = i < theirs->parks.cnt ? &theirs->parks.at[i] : NULL;
		if (t && t->tid == o->tid && t->from_ns <= o->from_ns && t->to_ns >= o->to_ns) {
			p->parks_inside++;
			t->is_claimed = true;
			if (t->worker < PAIR_WORKERS_MAX &&
			    p->worker_of[t->worker] != UINT64_MAX &&
			    p->worker_of[t->worker] != o->worker)
				p->parks_stray++;
		} else if (t && t->tid == o->tid && t->from_ns <= o->from_ns &&
			   (o->is_guess || is_next_event(theirs, p, t, o))) {
			p->parks_guessed++;
			t->is_claimed = true;
		} else if ((!t || t->tid != o->tid) && is_last(theirs, p, o)) {
			p->parks_after++;
		} else if (is_given_away(theirs, p, o)) {
			p->parks_given++;
			pair_say(p, "park given away", "tid %u worker %llu %llu..%llu", o->tid,
				 ULL(o->worker), ULL(o->from_ns), ULL(o->to_ns));
		} else if (is_between(theirs, p, o, t) || is_in_tail(p, theirs, ours, o)) {
			p->parks_locked++;
			pair_say(p, "park for a lock", "tid %u worker %llu %llu..%llu", o->tid,
				 ULL(o->worker), ULL(o->from_ns), ULL(o->to_ns));
		} else {
			p->parks_stray++;
			pair_say(p, "park", "tid %u worker %llu %llu..%llu; dial9's next %llu..%llu",
				 o->tid, ULL(o->worker), ULL(o->from_ns), ULL(o->to_ns),
				 t ? ULL(t->from_ns) : 0, t ? ULL(t->to_ns) : 0);
		}
		p->parks_ours++;
	}
	for (i = 0; i < theirs->parks.cnt; i++)
		if (window_of(p, theirs->parks.at[i].from_ns, theirs->parks.at[i].to_ns) >= 0) {
			p->parks_theirs++;
			p->never_slept += !theirs->parks.at[i].is_claimed;
		}
}
