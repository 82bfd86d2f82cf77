// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "test/truth/wakemap.h"

#define ULL(x) ((unsigned long long)(x))

/* The poll of theirs during which ns is, or that begins at most slack later. */
static const struct side_poll *poll_over(const struct side *theirs, uint64_t task, uint64_t ns,
					 uint64_t slack_ns)
{
	size_t at = side_poll_at(theirs, task, ns + slack_ns + 1);

	if (!at || theirs->polls.at[at - 1].task != task || theirs->polls.at[at - 1].end_ns < ns)
		return NULL;
	return &theirs->polls.at[at - 1];
}

/* Ours says so where a poll ends that was woken in its course. */
static bool is_notified(const struct side_wake *o)
{
	return o->waker == o->woken;
}

/* The wake may be of the thread that made the call; where either is off a worker, it may be any. */
static bool is_its_thread(const struct pairing *p, const struct side_wake *t,
			  const struct side_wake *o)
{
	return t->worker >= 255 || o->worker >= 255 || p->worker_of[t->worker] == UINT64_MAX ||
	       p->worker_of[t->worker] == o->worker;
}

/*
 * The wake of ours that the call t itself is. Its thread did nothing else that dial9 records until
 * next_ns, so what that thread made runnable until then is this call's, and no other thread's is.
 */
static struct side_wake *wake_by(const struct side *theirs, struct side *ours,
				 const struct pairing *p, const struct side_wake *t)
{
	size_t poll = side_poll_at(theirs, t->woken, 0);
	/* of a LocalSet's tasks dial9 has no polls that the call could lie in */
	bool has_polls = poll < theirs->polls.cnt && theirs->polls.at[poll].task == t->woken;

	for (size_t i = side_wake_at(ours, t->woken, t->ts_ns); i < ours->wakes.cnt; i++) {
		struct side_wake *o = &ours->wakes.at[i];

		if (o->woken != t->woken || o->ts_ns > t->next_ns)
			break;
		if (!o->is_claimed && !(has_polls && is_notified(o)) && is_its_thread(p, t, o))
			return o;
	}
	return NULL;
}

/* First wake of ours of the task in [from, to]: at the end of a poll that was woken, or any. */
static struct side_wake *wake_in(struct side *ours, uint64_t task, uint64_t from_ns, uint64_t to_ns,
				 bool is_of_poll)
{
	for (size_t i = side_wake_at(ours, task, from_ns); i < ours->wakes.cnt; i++) {
		struct side_wake *o = &ours->wakes.at[i];

		if (o->woken != task || o->ts_ns > to_ns)
			break;
		if (!is_of_poll || is_notified(o))
			return o;
	}
	return NULL;
}

/* Whether the task was scheduled and not yet polled at ns. */
static bool is_standing(const struct side *ours, uint64_t task, uint64_t ns)
{
	size_t wake = side_wake_at(ours, task, ns), poll;

	if (!wake || ours->wakes.at[wake - 1].woken != task)
		return false;
	poll = side_poll_at(ours, task, ours->wakes.at[wake - 1].ts_ns);
	return poll == ours->polls.cnt || ours->polls.at[poll].task != task ||
	       ours->polls.at[poll].start_ns > ns;
}

/*
 * dial9 asks Tokio for the current task: on a worker outside any poll, and when a task that is over
 * wakes its joiner, that is the worker's own blocking task, on a thread of the blocking pool none.
 * We name none, or the one that is over.
 */
static bool is_waker(const struct side *theirs, const struct side *ours, const struct side_wake *t,
		     const struct side_wake *o)
{
	const struct side_task *blocking = side_task_of(ours, o->waker, 'b');
	size_t at;

	if (t->waker == o->waker)
		return true;
	if (side_birth_of(theirs, t->waker))
		return false;
	if (blocking && blocking->start_ns <= o->ts_ns && blocking->end_ns >= o->ts_ns)
		return true;
	at = side_poll_at(ours, o->waker, o->ts_ns);
	return !o->waker || (at && ours->polls.at[at - 1].task == o->waker &&
			     ours->polls.at[at - 1].end_ns >= o->ts_ns);
}

static void check(struct wakemap *m, const struct pairing *p, const struct side *theirs,
		  const struct side *ours, const struct side_wake *t, struct side_wake *o)
{
	o->is_claimed = true;
	if (!is_waker(theirs, ours, t, o)) {
		m->wrong_waker++;
		pair_say(p, "waker", "task %llu at %llu: dial9 %llu, we %llu", ULL(t->woken),
			 ULL(t->ts_ns), ULL(t->waker), ULL(o->waker));
	}
}

/*
 * dial9's own waker holds Tokio's only from when the future is entered, and gave it away at the call
 * before: a call in the first instant of a poll ends there, and the poll sees what it was for. It had
 * no effect if the task was idle after it: if it was not polled again, or not without a wake first.
 */
static bool is_swallowed(const struct side *theirs, const struct side *ours,
			 const struct side_poll *poll, const struct side_wake *t)
{
	const struct side_poll *next = poll + 1;

	if (next == theirs->polls.at + theirs->polls.cnt || next->task != poll->task)
		return true;
	for (size_t i = side_wake_at(ours, t->woken, t->ts_ns); i < ours->wakes.cnt; i++) {
		const struct side_wake *o = &ours->wakes.at[i];

		if (o->woken != t->woken || o->ts_ns > next->start_ns)
			break;
		if (!is_notified(o))
			return true;
	}
	return false;
}

/* A call while the task is polled, or just before: ours comes when that poll ends. */
static bool map_own(struct wakemap *m, const struct side_wake *t, struct side *theirs,
		    struct side *ours, uint64_t slack_ns)
{
	const struct side_poll *poll = poll_over(theirs, t->woken, t->ts_ns, slack_ns);
	const struct side_death *death = side_death_of(theirs, t->woken);
	struct side_wake *o;

	if (!poll)
		return false;
	o = wake_in(ours, t->woken, t->ts_ns, poll->end_ns + PAIR_SLACK_NS, true);
	if (o) {
		m->own += !o->is_claimed;
		m->redundant += o->is_claimed;
		o->is_claimed = true;
		return true;
	}
	if (death && death->ts_ns <= poll->end_ns + PAIR_SLACK_NS)
		m->after_end++;
	else if (is_swallowed(theirs, ours, poll, t))
		m->swallowed++;
	else
		return false;
	return true;
}

/* A call just before a poll that reached the task in it: counted as redundant, and this is its. */
static bool is_belated(const struct side *theirs, const struct side *ours,
		       const struct side_wake *o)
{
	size_t poll = side_poll_at(ours, o->woken, o->ts_ns), call;
	uint64_t from_ns;

	if (o->waker != o->woken || !poll || ours->polls.at[poll - 1].task != o->woken)
		return false;
	from_ns = ours->polls.at[poll - 1].start_ns - PAIR_SLACK_NS;
	call = side_wake_at(theirs, o->woken, from_ns);
	return call < theirs->wakes.cnt && theirs->wakes.at[call].woken == o->woken &&
	       theirs->wakes.at[call].ts_ns <= o->ts_ns;
}

/*
 * Only an exact end tells that a task was woken in its poll: by this call, or before it, so that it
 * stood already; then it is polled next without a wake of ours.
 */
static bool is_own_unseen(const struct side *theirs, struct side *ours, const struct side_wake *t)
{
	size_t next = side_poll_at(theirs, t->woken, t->ts_ns + 1);
	const struct side_poll *polls = theirs->polls.at;

	if (poll_over(theirs, t->woken, t->ts_ns, PAIR_SLACK_NS))
		return true;
	return next && next < theirs->polls.cnt && polls[next - 1].task == t->woken &&
	       polls[next].task == t->woken &&
	       !wake_in(ours, t->woken, polls[next - 1].end_ns, polls[next].start_ns, false);
}

static void map_one(struct wakemap *m, const struct pairing *p, struct side_wake *t,
		    struct side *theirs, struct side *ours)
{
	const struct side_death *death = side_death_of(theirs, t->woken);
	struct side_wake *o = wake_by(theirs, ours, p, t);

	if (o && o->ts_ns > t->ts_ns + PAIR_SLACK_NS) {
		m->late++;
		diffs_add(&m->lateness, t->ts_ns, o->ts_ns);
		check(m, p, theirs, ours, t, o);
		return;
	}
	if (o) {
		m->direct++;
		diffs_add(&m->delay, t->ts_ns, o->ts_ns);
		check(m, p, theirs, ours, t, o);
		return;
	}
	if (map_own(m, t, theirs, ours, 0))
		return;
	/* another thread's came before it, at the latest while this call was under way */
	if (is_standing(ours, t->woken, t->ts_ns) ||
	    wake_in(ours, t->woken, t->ts_ns, t->ts_ns + PAIR_SLACK_NS, false)) {
		m->redundant++;
		return;
	}
	if (death && death->ts_ns <= t->ts_ns + PAIR_SLACK_NS) {
		m->after_end++;
		return;
	}
	if (map_own(m, t, theirs, ours, PAIR_SLACK_NS))
		return;
	if (wake_in(ours, t->woken, t->ts_ns, t->next_ns, false)) {
		m->late++;
		return;
	}
	/* likewise it ended while the call was under way, as when its runtime shuts down */
	if (death && death->ts_ns <= t->next_ns) {
		m->after_end++;
		return;
	}
	if (p->level == PAIR_WAKES && is_own_unseen(theirs, ours, t)) {
		m->own_unseen++;
		return;
	}
	m->unmapped++;
	pair_say(p, "wake unmapped", "task %llu at %llu by %llu on %u, next of that thread %+lld",
		 ULL(t->woken), ULL(t->ts_ns), ULL(t->waker), t->worker,
		 (long long)(t->next_ns - t->ts_ns));
}

void wakemap_all(struct wakemap *m, const struct pairing *p, struct side *theirs,
		 struct side *ours)
{
	for (size_t i = 0; i < theirs->wakes.cnt; i++) {
		struct side_wake *t = &theirs->wakes.at[i];
		uint64_t end_ns = t->ts_ns + PAIR_SLACK_NS;
		const struct side_poll *poll = poll_over(theirs, t->woken, t->ts_ns, 0);

		if (poll && poll->end_ns != SIDE_OPEN)
			end_ns = poll->end_ns + PAIR_SLACK_NS;
		if (window_of(p, t->ts_ns, end_ns) < 0) {
			m->edge += window_of(p, t->ts_ns, t->ts_ns) >= 0;
			continue;
		}
		m->theirs++;
		map_one(m, p, t, theirs, ours);
	}
	for (size_t i = 0; i < ours->wakes.cnt; i++) {
		const struct side_wake *o = &ours->wakes.at[i];
		const struct side_birth *birth = side_birth_of(theirs, o->woken);
		const struct side_task *end = side_task_of(ours, o->woken, 'e');

		if (o->is_claimed) {
			m->ours++;
			continue;
		}
		if (window_of(p, o->ts_ns - PAIR_SLACK_NS, o->ts_ns + PAIR_SLACK_NS) < 0)
			continue;
		if (!birth || !birth->has_wakes) {
			m->plain++;
			continue;
		}
		m->ours++;
		if (end && (end->cause == 1 || end->cause == 2)) {
			m->aborts++;
			continue;
		}
		if (is_belated(theirs, ours, o)) {
			m->belated++;
			continue;
		}
		m->ours_only++;
		pair_say(p, "wake of ours only", "task %llu at %llu by %llu on %u %s", ULL(o->woken),
			 ULL(o->ts_ns), ULL(o->waker), o->worker, side_str(birth->loc));
	}
	diffs_close(&m->delay);
	diffs_close(&m->lateness);
}

void wakemap_free(struct wakemap *m)
{
	free(m->delay.v.at);
	free(m->lateness.v.at);
}
