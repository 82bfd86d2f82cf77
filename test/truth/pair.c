// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/truth/pair.h"
#include "test/truth/sleeps.h"
#include "test/truth/vec.h"

#define ULL(x) ((unsigned long long)(x))

int window_of(const struct pairing *p, uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = 0; i < p->windows_cnt; i++)
		if (from_ns >= p->windows[i].from_ns && to_ns <= p->windows[i].to_ns)
			return (int)i;
	return -1;
}

/* Crosses an edge: some of it is inside. */
static bool on_edge(const struct pairing *p, uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = 0; i < p->windows_cnt; i++)
		if (to_ns >= p->windows[i].from_ns && from_ns <= p->windows[i].to_ns)
			return true;
	return false;
}

/* ---- polls ---- */

/* dial9 has no hooks where this task runs. */
static bool is_unseen(const struct pairing *p, const struct side *theirs, const struct side *ours,
		      uint64_t task, const struct side_poll *poll)
{
	size_t at = side_poll_at(theirs, task, 0);

	if ((at < theirs->polls.cnt && theirs->polls.at[at].task == task) ||
	    side_birth_of(theirs, task))
		return false;
	if (side_task_of(ours, task, 'b') || (poll && poll->kind == POLL_INNER))
		return true;
	for (size_t i = 0; poll && i < PAIR_WORKERS_MAX; i++)
		if (p->worker_of[i] == poll->worker)
			return false;
	return true;
}

/* Each worker of dial9's is one of ours. */
static void map_worker(struct pairing *p, const struct side_poll *t, const struct side_poll *o)
{
	if (t->worker >= PAIR_WORKERS_MAX) {
		p->worker_clash++;
		return;
	}
	if (p->worker_of[t->worker] == UINT64_MAX) {
		p->worker_of[t->worker] = o->worker;
		p->life_of[t->worker] = (struct window){ t->start_ns, t->end_ns };
		p->workers++;
	}
	if (t->start_ns < p->life_of[t->worker].from_ns)
		p->life_of[t->worker].from_ns = t->start_ns;
	if (t->end_ns > p->life_of[t->worker].to_ns)
		p->life_of[t->worker].to_ns = t->end_ns;
	if (p->worker_of[t->worker] != o->worker) {
		pair_say(p, "worker", "task %llu at %llu: dial9's %llu is our %llu, here %llu",
			 ULL(t->task), ULL(t->start_ns), ULL(t->worker),
			 ULL(p->worker_of[t->worker]), ULL(o->worker));
		p->polls.wrong_worker++;
	}
}

/* And no two of one time are the same of ours: one that is built again may have its place. */
static bool is_of_one_time(const struct pairing *p, uint64_t i, uint64_t k)
{
	return p->life_of[i].from_ns <= p->life_of[k].to_ns &&
	       p->life_of[k].from_ns <= p->life_of[i].to_ns;
}

static void check_workers(struct pairing *p)
{
	for (size_t i = 0; i < PAIR_WORKERS_MAX; i++)
		for (size_t k = 0; k < i; k++)
			if (p->worker_of[i] != UINT64_MAX && p->worker_of[i] == p->worker_of[k] &&
			    is_of_one_time(p, i, k)) {
				pair_say(p, "worker", "dial9's %zu and %zu are both our %llu", k, i,
					 ULL(p->worker_of[i]));
				p->worker_clash++;
			}
}

unsigned pair_workers_at_once(const struct pairing *p)
{
	unsigned most = p->workers_given;

	for (size_t i = 0; i < PAIR_WORKERS_MAX; i++) {
		unsigned cnt = 0;

		for (size_t k = 0; p->worker_of[i] != UINT64_MAX && k < PAIR_WORKERS_MAX; k++)
			cnt += p->worker_of[k] != UINT64_MAX &&
			       p->life_of[k].from_ns <= p->life_of[i].from_ns &&
			       p->life_of[k].to_ns >= p->life_of[i].from_ns;
		most = cnt > most ? cnt : most;
	}
	return most;
}

static void compare_polls(struct pairing *p, const struct side_poll *t, const struct side_poll *o)
{
	p->polls.both++;
	/* Rule 9: the thread was kept from its end until another worker polled the task. */
	p->polls_overtaken += o->rule == 9;
	p->polls_inferred += o->rule != 0 && o->rule != 9 && o->kind != POLL_HANDED &&
			     (p->level == PAIR_FULL || (o->rule != 5 && o->rule != 7));
	diffs_add(&p->start, t->start_ns, o->start_ns);
	if (t->is_cold)
		diffs_add(&p->start_cold, t->start_ns, o->start_ns);
	if (o->start_ns > t->start_ns + PAIR_SLACK_NS)
		t->is_cold ? p->far_cold++ : p->far_warm++;
	if (o->rule != 9)
		diffs_add(&p->end, t->end_ns, o->end_ns);
	if (o->start_ns < t->start_ns || (p->level == PAIR_FULL && o->end_ns > t->end_ns)) {
		p->polls_outside++;
		pair_say(p, "outside", "task %llu: dial9 %llu..%llu, we %llu..%llu, kind %d rule %d",
			 ULL(t->task), ULL(t->start_ns), ULL(t->end_ns), ULL(o->start_ns),
			 ULL(o->end_ns), o->kind, o->rule);
	} else if ((p->level == PAIR_FULL && t->end_ns - o->end_ns > 50 * PAIR_SLACK_NS) ||
		   o->start_ns - t->start_ns > 50 * PAIR_SLACK_NS) {
		pair_say(p, "far", "task %llu: dial9 %llu..%llu, we %llu..%llu, kind %d rule %d",
			 ULL(t->task), ULL(t->start_ns), ULL(t->end_ns), ULL(o->start_ns),
			 ULL(o->end_ns), o->kind, o->rule);
	}
	if (t->loc != o->loc) {
		p->polls.wrong_loc++;
		pair_say(p, "location", "task %llu: dial9 %s, we %s", ULL(t->task),
			 side_str(t->loc), side_str(o->loc));
	}
	if (o->kind != POLL_INNER)
		map_worker(p, t, o);
}

/* Polls of one task never overlap: both lists run side by side. */
static void pair_polls(struct pairing *p, struct side *theirs, struct side *ours)
{
	size_t i = 0, j = 0;

	while (i < theirs->polls.cnt && j < ours->polls.cnt) {
		struct side_poll *t = &theirs->polls.at[i], *o = &ours->polls.at[j];

		if (t->task != o->task) {
			t->task < o->task ? i++ : j++;
		} else if (o->end_ns == SIDE_OPEN) {
			j++;
		} else if (o->start_ns <= t->end_ns && o->end_ns >= t->start_ns) {
			t->mate = (uint32_t)j++;
			o->mate = (uint32_t)i++;
		} else {
			t->start_ns < o->start_ns ? i++ : j++;
		}
	}
	for (i = 0; i < theirs->polls.cnt; i++) {
		struct side_poll *t = &theirs->polls.at[i];

		if (window_of(p, t->start_ns, t->end_ns) < 0) {
			p->polls.edge += on_edge(p, t->start_ns, t->end_ns);
			continue;
		}
		p->polls.theirs++;
		if (t->mate != SIDE_NONE) {
			compare_polls(p, t, &ours->polls.at[t->mate]);
			continue;
		}
		p->polls.theirs_only++;
		pair_say(p, "poll of dial9 only", "task %llu worker %llu %llu..%llu %s",
			 ULL(t->task), ULL(t->worker), ULL(t->start_ns), ULL(t->end_ns),
			 side_str(t->loc));
	}
	for (i = 0; i < ours->polls.cnt; i++) {
		const struct side_poll *o = &ours->polls.at[i];

		if (window_of(p, o->start_ns, o->end_ns) < 0 ||
		    (o->mate != SIDE_NONE &&
		     window_of(p, theirs->polls.at[o->mate].start_ns,
			       theirs->polls.at[o->mate].end_ns) < 0)) {
			p->polls.edge += on_edge(p, o->start_ns, o->end_ns);
			continue;
		}
		p->polls.ours++;
		if (o->mate != SIDE_NONE)
			continue;
		if (is_unseen(p, theirs, ours, o->task, o)) {
			p->polls.unseen++;
			continue;
		}
		p->polls.ours_only++;
		pair_say(p, "poll of ours only", "task %llu worker %llu %llu..%llu %s kind %d",
			 ULL(o->task), ULL(o->worker), ULL(o->start_ns), ULL(o->end_ns),
			 side_str(o->loc), o->kind);
	}
}

/* ---- spawns and ends ---- */

static void pair_births(struct pairing *p, struct side *theirs, struct side *ours)
{
	for (size_t i = 0; i < theirs->births.cnt; i++) {
		struct side_birth *t = &theirs->births.at[i];
		struct side_birth *o = (struct side_birth *)side_birth_of(ours, t->task);

		if (o)
			o->mate = (uint32_t)i;
		if (window_of(p, t->ts_ns, t->ts_ns) < 0)
			continue;
		p->births.theirs++;
		if (!o) {
			p->births.theirs_only++;
			if (p->level != PAIR_FULL)
				continue;
			pair_say(p, "spawn of dial9 only", "task %llu at %llu %s", ULL(t->task),
				 ULL(t->ts_ns), side_str(t->loc));
			continue;
		}
		p->births.both++;
		diffs_add(&p->birth, t->ts_ns, o->ts_ns);
		if (t->loc != o->loc) {
			p->births.wrong_loc++;
			pair_say(p, "spawn location", "task %llu: dial9 %s, we %s", ULL(t->task),
				 side_str(t->loc), side_str(o->loc));
		}
		if (t->worker < PAIR_WORKERS_MAX && p->worker_of[t->worker] != UINT64_MAX &&
		    p->worker_of[t->worker] != o->worker) {
			p->births.wrong_worker++;
			pair_say(p, "spawn worker", "task %llu at %llu: dial9 %llu, we %lld",
				 ULL(t->task), ULL(t->ts_ns), ULL(t->worker),
				 (long long)o->worker);
		}
	}
	for (size_t j = 0; j < ours->births.cnt; j++) {
		const struct side_birth *o = &ours->births.at[j];
		size_t at = side_poll_at(ours, o->task, 0);
		const struct side_poll *poll = at < ours->polls.cnt ? &ours->polls.at[at] : NULL;

		if (window_of(p, o->ts_ns, o->ts_ns) < 0)
			continue;
		p->births.ours++;
		if (o->mate != SIDE_NONE)
			continue;
		if (is_unseen(p, theirs, ours, o->task,
			      poll && poll->task == o->task ? poll : NULL)) {
			p->births.unseen++;
			continue;
		}
		p->births.ours_only++;
		pair_say(p, "spawn of ours only", "task %llu at %llu %s", ULL(o->task),
			 ULL(o->ts_ns), side_str(o->loc));
	}
}

/* The poll that the task's end came with crosses an edge. */
static bool is_cut(const struct pairing *p, const struct side *theirs, const struct side_death *t)
{
	size_t at = side_poll_at(theirs, t->task, t->ts_ns);
	const struct side_poll *last = at ? &theirs->polls.at[at - 1] : NULL;

	return last && last->task == t->task && last->end_ns + PAIR_SLACK_NS >= t->ts_ns &&
	       window_of(p, last->start_ns, t->ts_ns) < 0;
}

/* Theirs have ends of blocking tasks too, whose spawns and runs they do not have. */
static void pair_deaths(struct pairing *p, struct side *theirs, struct side *ours)
{
	for (size_t i = 0; i < theirs->deaths.cnt; i++) {
		struct side_death *t = &theirs->deaths.at[i];
		struct side_death *o = (struct side_death *)side_death_of(ours, t->task);
		size_t at = side_poll_at(theirs, t->task, 0);
		bool is_known = side_birth_of(theirs, t->task) ||
				(at < theirs->polls.cnt && theirs->polls.at[at].task == t->task);

		if (o)
			o->mate = (uint32_t)i;
		if (window_of(p, t->ts_ns, t->ts_ns) < 0)
			continue;
		if (!is_known) {
			p->deaths.unseen++;
			continue;
		}
		/* it ends with a poll that began before the attach: its header was never seen */
		if (!o && is_known && at < theirs->polls.cnt && is_cut(p, theirs, t)) {
			p->deaths.edge++;
			continue;
		}
		p->deaths.theirs++;
		if (!o) {
			p->deaths.theirs_only++;
			if (p->level != PAIR_FULL)
				continue;
			pair_say(p, "end of dial9 only", "task %llu at %llu", ULL(t->task),
				 ULL(t->ts_ns));
			continue;
		}
		p->deaths.both++;
		diffs_add(&p->death, t->ts_ns, o->ts_ns);
	}
	for (size_t j = 0; j < ours->deaths.cnt; j++) {
		const struct side_death *o = &ours->deaths.at[j];

		if (window_of(p, o->ts_ns, o->ts_ns) < 0)
			continue;
		p->deaths.ours++;
		if (o->mate != SIDE_NONE)
			continue;
		if (is_unseen(p, theirs, ours, o->task, NULL)) {
			p->deaths.unseen++;
			continue;
		}
		p->deaths.ours_only++;
		pair_say(p, "end of ours only", "task %llu at %llu", ULL(o->task), ULL(o->ts_ns));
	}
}

/* ---- runtimes ---- */

/* Workers of one runtime of theirs are workers of one of ours. */
static void pair_runtimes(struct pairing *p, const struct side *theirs, const struct side *ours)
{
	for (size_t i = 0; i < theirs->members.cnt; i++) {
		const struct side_member *t = &theirs->members.at[i];

		for (size_t k = 0; k < i; k++) {
			const struct side_member *u = &theirs->members.at[k];
			uint64_t a, b;
			bool is_together = false, is_known = false;

			if (u->runtime != t->runtime || t->worker >= PAIR_WORKERS_MAX ||
			    u->worker >= PAIR_WORKERS_MAX || t->worker == u->worker ||
			    !is_of_one_time(p, t->worker, u->worker))
				continue; /* one that is built again has the same name */
			a = p->worker_of[t->worker];
			b = p->worker_of[u->worker];
			for (size_t m = 0; m < ours->members.cnt; m++)
				for (size_t n = 0; n < ours->members.cnt; n++)
					if (ours->members.at[m].worker == a &&
					    ours->members.at[n].worker == b) {
						is_known = true;
						is_together |= ours->members.at[m].runtime ==
							       ours->members.at[n].runtime;
					}
			if (a != UINT64_MAX && b != UINT64_MAX && is_known && !is_together) {
				p->runtime_clash++;
				pair_say(p, "runtime", "our workers %llu and %llu are apart",
					 ULL(a), ULL(b));
			}
		}
	}
}

void pair_all(struct pairing *p, struct side *theirs, struct side *ours)
{
	for (size_t i = 0; i < PAIR_WORKERS_MAX; i++)
		p->worker_of[i] = UINT64_MAX;
	pair_polls(p, theirs, ours);
	check_workers(p);
	pair_births(p, theirs, ours);
	pair_deaths(p, theirs, ours);
	pair_runtimes(p, theirs, ours);
	sleeps_pair(p, theirs, ours);
	diffs_close(&p->start);
	diffs_close(&p->end);
	diffs_close(&p->start_cold);
	diffs_close(&p->birth);
	diffs_close(&p->death);
}

void pairing_free(struct pairing *p)
{
	free(p->start.v.at);
	free(p->end.v.at);
	free(p->start_cold.v.at);
	free(p->birth.v.at);
	free(p->death.v.at);
}
