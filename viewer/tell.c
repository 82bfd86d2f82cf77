// SPDX-License-Identifier: Apache-2.0
/* tell.c - the account's lines to its watch, and what only a watch wants to know. */
#include "tell.h"

#include "account.h"
#include "tasktable.h"
#include "typetable.h"
#include "watch.h"

#include <stdbool.h>
#include <stddef.h>

static void tell_slice(struct account *a, uint32_t worker, uint64_t from_ns, uint64_t to_ns,
		       enum watch_state state, const struct worker_poll *poll)
{
	const struct watch_slice s = { worker, state, from_ns, to_ns, poll };

	if (a->watch && a->watch->slice && to_ns > from_ns)
		a->watch->slice(a->watch->ctx, &s);
}

/* Tells of the last poll's time, now that it is not cut any more. */
static void tell_settled(struct account *a, struct worker *w, uint32_t worker)
{
	if (w->is_told)
		return;
	w->is_told = true;
	tell_slice(a, worker, w->ended_at_ns - w->ended_ns, w->ended_at_ns,
		   w->is_void ? WATCH_UNKNOWN : WATCH_BUSY, w->is_void ? NULL : &w->ended);
}

uint64_t tell_cut(struct account *a, uint32_t worker, uint64_t ts_ns, enum worker_state expected,
		  enum worker_state next, uint64_t delay_ns)
{
	static const enum watch_state states[] = { WATCH_UNKNOWN, WATCH_BETWEEN, WATCH_BUSY,
						   WATCH_PARKED };
	struct worker *w = workertable_get(a->workers, worker);
	enum worker_state was = w->state;
	uint64_t since_ns = w->since_ns, ns;
	bool is_new = !w->is_seen;

	ns = workertable_cut(w, ts_ns, expected, next);
	if (is_new) {
		w->is_told = true;
		return ns;
	}
	tell_settled(a, w, worker);
	if (was == WORKER_POLLING && was == expected)
		return ns; /* account_poll_end keeps it back until it is settled */
	if (delay_ns > ns)
		delay_ns = ns;
	tell_slice(a, worker, since_ns, w->since_ns - delay_ns,
		   was == expected ? states[was] : WATCH_UNKNOWN, NULL);
	tell_slice(a, worker, w->since_ns - delay_ns, w->since_ns, WATCH_DELAYED, NULL);
	return ns;
}

void tell_parks(struct account *a, uint32_t worker, uint64_t to_ns, uint64_t parked_ns,
		uint64_t delayed_ns)
{
	struct worker *w = workertable_get(a->workers, worker);
	uint64_t from_ns = w->since_ns, until_ns;

	if (w->state == WORKER_UNKNOWN || w->state == WORKER_BETWEEN) {
		/* where in this time it slept is not known: it is told as if that came first */
		if (to_ns > from_ns)
			workertable_cut(w, to_ns, w->state, w->state);
		until_ns = from_ns + (parked_ns < w->since_ns - from_ns ? parked_ns : w->since_ns - from_ns);
		tell_slice(a, worker, from_ns, until_ns, WATCH_PARKED, NULL);
		from_ns = until_ns;
		until_ns += delayed_ns < w->since_ns - from_ns ? delayed_ns : w->since_ns - from_ns;
		tell_slice(a, worker, from_ns, until_ns, WATCH_DELAYED, NULL);
		tell_slice(a, worker, until_ns, w->since_ns,
			   w->state == WORKER_BETWEEN ? WATCH_BETWEEN : WATCH_UNKNOWN, NULL);
	}
	workertable_parks(w, parked_ns, delayed_ns);
}

void tell_wait(struct account *a, uint32_t worker, uint32_t type, const struct task *t,
	       uint32_t nr, uint64_t ts_ns)
{
	const struct watch_wait wait = { t->id, type, worker, nr, t->wake_ns,
					 ts_ns > t->wake_ns ? ts_ns : t->wake_ns };

	account_add(a, &typetable_row(a->types, type)->wait, wait.to_ns - wait.from_ns);
	if (a->watch && a->watch->wait)
		a->watch->wait(a->watch->ctx, &wait);
}

void tell_waker(struct account *a, const struct moment *m)
{
	const struct task *waker = tasktable_find(a->tasks, m->a);
	struct worker *w;

	if (!waker || !(waker->flags & TASK_RUNNING))
		return;
	w = workertable_get(a->workers, waker->worker);
	if (w->state != WORKER_POLLING || w->poll.task != waker->id)
		return;
	if (m->task == m->a)
		typetable_row(a->types, w->poll.type)->self_wakes++;
	else
		w->poll.wakes++;
}

void tell_poll(struct account *a, uint32_t worker, const struct worker_poll *p, uint64_t end_ns)
{
	if (a->watch && a->watch->poll)
		a->watch->poll(a->watch->ctx, worker, p, end_ns);
}

void tell_off(struct account *a, const struct moment *m, uint32_t type)
{
	if (a->watch && a->watch->off)
		a->watch->off(a->watch->ctx, m, type);
}

void tell_sample(struct account *a, const struct moment *m, uint32_t worker, uint32_t type)
{
	if (a->watch && a->watch->sample)
		a->watch->sample(a->watch->ctx, m, worker, type);
}

void tell_moment(struct account *a, const struct moment *m)
{
	if (a->watch && a->watch->moment)
		a->watch->moment(a->watch->ctx, m);
}
