// SPDX-License-Identifier: Apache-2.0
/* invariants.c - a state for each worker and task, and what may not happen in it. */
#include "invariants.h"

#include "facts.h"
#include "tasktable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *text;
} invariants_words[INVARIANT_CNT] = {
	[INVARIANT_POLLS] = { "polls_alternate", "poll starts and ends alternate per worker" },
	[INVARIANT_PARKS] = { "parks_alternate", "parks and unparks alternate per worker" },
	[INVARIANT_TIME] = { "time_forward", "time does not go backwards per worker" },
	[INVARIANT_ONE_WORKER] = { "one_worker", "no task is polled on two workers at once" },
	[INVARIANT_IDS] = { "ids_unique", "no task id is spawned again while it is alive" },
	[INVARIANT_ENDED] = { "ended_stay", "no task is polled after its end" },
	[INVARIANT_NESTED] = { "nested_inside", "nested polls lie inside a poll of their worker" },
	[INVARIANT_BLOCKING] = { "blocking_alternate",
				 "polls of blocking tasks alternate per thread" },
	[INVARIANT_SUMS] = { "sums_fit", "switches that were added up fit into their time" },
	[INVARIANT_FIELDS] = { "fields_present", "events hold the fields they must have" },
	[INVARIANT_POOLS] = { "pools_resolve", "pool ids name something" },
	[INVARIANT_NUMBERS] = { "numbers_whole", "segment numbers have no holes" },
};

const char *invariant_text(enum invariant i)
{
	return invariants_words[i].text;
}

const char *invariant_name(enum invariant i)
{
	return invariants_words[i].name;
}

int invariants_init(struct invariants *v)
{
	memset(v, 0, sizeof(*v));
	v->tasks = tasktable_new();
	v->workers = calloc(MOMENT_WORKERS_MAX, sizeof(*v->workers));
	v->threads = spans_threads_new();
	return v->tasks && v->workers && v->threads ? 0 : -ENOMEM;
}

void invariants_done(struct invariants *v)
{
	tasktable_free(v->tasks);
	spans_threads_free(v->threads);
	free(v->workers);
	memset(v, 0, sizeof(*v));
}

void invariants_break(struct invariants *v, enum invariant i, uint64_t cnt, uint64_t ts_ns,
		      uint64_t worker, uint64_t task)
{
	struct invariant_result *r = &v->results[i];

	if (r->broken == 0 && cnt > 0) {
		r->first_ns = ts_ns;
		r->first_worker = worker;
		r->first_task = task;
	}
	r->broken += cnt;
}

static bool invariants_is_lane(const struct moment *m)
{
	if (m->kind == MOMENT_NESTED) /* on threads that are no worker, too: these share a number */
		return m->worker < MOMENT_WORKERS_MAX && m->worker != MOMENT_BLOCKING_WORKER &&
		       m->worker != MOMENT_UNKNOWN_WORKER;
	return m->worker != MOMENT_NO_WORKER && m->kind <= MOMENT_UNPARK;
}

/* There is a reason to poll the task, from now on. 0 means none: the first ns counts as the second. */
static void invariants_due(struct task *t, uint64_t ts_ns)
{
	t->wake_ns = ts_ns ? ts_ns : 1;
}

void invariants_in_file(struct invariants *v, const struct moment *m)
{
	struct invariants_worker *w;

	if (!invariants_is_lane(m))
		return;
	w = &v->workers[m->worker];
	v->results[INVARIANT_TIME].looked++;
	if (w->has_file_ns && m->ts_ns < w->file_ns)
		invariants_break(v, INVARIANT_TIME, 1, m->ts_ns, m->worker, m->task);
	w->has_file_ns = true;
	w->file_ns = m->ts_ns;
}

static void invariants_explain(struct invariants *v, const struct task *t, bool is_new)
{
	if (v->has_level && !v->has_wakes)
		return;
	v->polls++;
	if (t->wake_ns || (t->flags & TASK_WOKEN_RUNNING))
		return;
	/* a task that was polled before a gap may have been woken within it */
	if (is_new && v->had_gap)
		return;
	v->unexplained++;
}

static void invariants_poll_start(struct invariants *v, const struct moment *m)
{
	struct invariants_worker *w = &v->workers[m->worker], *other;
	bool is_new = !tasktable_find(v->tasks, m->task);
	struct task *t = tasktable_get(v->tasks, m->task);

	v->results[INVARIANT_POLLS].looked++;
	if (w->is_polling)
		invariants_break(v, INVARIANT_POLLS, 1, m->ts_ns, m->worker, m->task);
	w->is_polling = w->has_polled = true;
	w->task = m->task;
	w->start_ns = m->ts_ns;
	w->overlap_ns = w->overlap_off_ns = 0;
	w->nested.cnt = 0;
	if (!t)
		return;
	v->results[INVARIANT_ONE_WORKER].looked++;
	v->results[INVARIANT_ENDED].looked++;
	if (t->flags & TASK_ENDED) {
		invariants_break(v, INVARIANT_ENDED, 1, m->ts_ns, m->worker, m->task);
		tasktable_revive(v->tasks, t);
		is_new = true;
	}
	other = t->flags & TASK_RUNNING ? &v->workers[t->worker] : NULL;
	if (other && other != w && other->is_polling && other->task == m->task)
		other->overlap_ns = m->ts_ns; /* judged when that poll ends */
	invariants_explain(v, t, is_new);
	t->wake_ns = 0;
	t->flags &= (uint8_t)~TASK_WOKEN_RUNNING;
	t->flags |= TASK_RUNNING | TASK_POLLED;
	t->worker = m->worker;
}

static void invariants_poll_end(struct invariants *v, const struct moment *m)
{
	struct invariants_worker *w = &v->workers[m->worker];
	struct task *t = w->is_polling ? tasktable_find(v->tasks, w->task) : NULL;
	uint64_t both_ns;

	v->results[INVARIANT_POLLS].looked++;
	/* the first thing seen of a worker may be the end of a poll that began before */
	if (!w->is_polling && w->has_polled)
		invariants_break(v, INVARIANT_POLLS, 1, m->ts_ns, m->worker, 0);
	if (w->is_polling && w->overlap_ns) {
		both_ns = m->ts_ns > w->overlap_ns ? m->ts_ns - w->overlap_ns : 0;
		if (both_ns > w->overlap_off_ns &&
		    both_ns - w->overlap_off_ns > INVARIANTS_OVERLAP_NS)
			invariants_break(v, INVARIANT_ONE_WORKER, 1, w->overlap_ns, m->worker,
					 w->task);
		else
			v->overlaps++;
	}
	w->is_polling = false;
	w->has_polled = true;
	if (t && (t->flags & TASK_RUNNING) && t->worker == m->worker)
		t->flags &= (uint8_t)~TASK_RUNNING;
}

static void invariants_park(struct invariants *v, const struct moment *m)
{
	struct invariants_worker *w = &v->workers[m->worker];
	bool parks = m->kind == MOMENT_PARK;

	v->results[INVARIANT_PARKS].looked++;
	if (w->has_parked && w->is_parked == parks)
		invariants_break(v, INVARIANT_PARKS, 1, m->ts_ns, m->worker, 0);
	w->has_parked = true;
	w->is_parked = parks;
}

static void invariants_spawn(struct invariants *v, const struct moment *m)
{
	struct task *t = tasktable_get(v->tasks, m->task);

	if (!t)
		return;
	v->results[INVARIANT_IDS].looked++;
	if (t->flags & TASK_ENDED)
		tasktable_revive(v->tasks, t);
	else if (t->flags & TASK_SPAWNED)
		invariants_break(v, INVARIANT_IDS, 1, m->ts_ns, 0, m->task);
	t->flags |= TASK_SPAWNED;
	invariants_due(t, m->ts_ns);
}

static void invariants_wake(struct invariants *v, const struct moment *m)
{
	struct task *t = tasktable_get(v->tasks, m->task);

	if (!t || (t->flags & TASK_ENDED))
		return;
	if (t->flags & TASK_RUNNING || t->wake_ns)
		t->flags |= TASK_WOKEN_RUNNING;
	else
		invariants_due(t, m->ts_ns);
}

/* A poll inside another one; its events come when it is over. */
static void invariants_nested(struct invariants *v, const struct moment *m)
{
	struct invariants_worker *w = &v->workers[m->worker];
	bool is_new = !tasktable_find(v->tasks, m->task);
	struct task *t = tasktable_get(v->tasks, m->task);

	if (invariants_is_lane(m) && w->has_polled) {
		v->results[INVARIANT_NESTED].looked++;
		if (!w->is_polling || m->a < w->start_ns ||
		    !spans_add(&w->nested, m->a, m->ts_ns))
			invariants_break(v, INVARIANT_NESTED, 1, m->ts_ns, m->worker, m->task);
	}
	if (!t)
		return;
	v->results[INVARIANT_ENDED].looked++;
	if (t->flags & TASK_ENDED) {
		invariants_break(v, INVARIANT_ENDED, 1, m->ts_ns, m->worker, m->task);
		tasktable_revive(v->tasks, t);
		is_new = true;
	}
	if (t->wake_ns > m->a) { /* woken since, in this poll's course; no reason for it */
		invariants_explain(v, &(struct task){ .id = m->task }, is_new);
		return;
	}
	invariants_explain(v, t, is_new);
	t->wake_ns = 0;
	if (t->flags & TASK_WOKEN_RUNNING)
		invariants_due(t, m->ts_ns);
	t->flags &= (uint8_t)~TASK_WOKEN_RUNNING;
	t->flags |= TASK_POLLED;
}

/* A blocking task is polled once, and done then. */
static void invariants_blocking(struct invariants *v, const struct moment *m)
{
	struct spans *spans = spans_of_thread(v->threads, m->tid);
	struct task *t = tasktable_get(v->tasks, m->task);

	if (spans) {
		v->results[INVARIANT_BLOCKING].looked++;
		if (!spans_add(spans, m->a, m->ts_ns))
			invariants_break(v, INVARIANT_BLOCKING, 1, m->ts_ns, 0, m->task);
	}
	if (!t)
		return;
	v->results[INVARIANT_ENDED].looked++;
	if (t->flags & TASK_ENDED)
		invariants_break(v, INVARIANT_ENDED, 1, m->ts_ns, 0, m->task);
	tasktable_end(v->tasks, t);
}

static void invariants_off_cpu(struct invariants *v, const struct moment *m)
{
	struct invariants_worker *w;
	uint64_t from_ns;

	if (m->worker == MOMENT_NO_WORKER)
		return;
	w = &v->workers[m->worker];
	if (!w->is_polling || !w->overlap_ns)
		return;
	from_ns = m->a > w->overlap_ns ? m->a : w->overlap_ns;
	w->overlap_off_ns += m->ts_ns > from_ns ? m->ts_ns - from_ns : 0;
}

/*
 * Another level: wakes, spawns and ends of tasks may not be seen any more, or not have been. Starts
 * and ends of polls, parks and unparks alternate through it all.
 */
static int invariants_level(struct invariants *v, const struct moment *m)
{
	struct tasktable *fresh;
	bool is_new = m->has_a || v->is_partial || !v->has_level || v->level != m->label;

	v->is_partial = m->has_a;
	v->has_wakes = m->has_a ? false : (m->label & MOMENT_HAS_WAKES) != 0;
	if (!m->has_a)
		v->level = m->label;
	if (!v->has_level || !is_new) { /* the first one, or a segment begins */
		v->has_level = true;
		return 0;
	}
	fresh = tasktable_new();
	if (!fresh)
		return -ENOMEM;
	tasktable_free(v->tasks);
	v->tasks = fresh;
	v->had_gap = true;
	return 0;
}

int invariants_moment(void *ctx, const struct moment *m)
{
	struct invariants *v = ctx;
	struct task *t;

	switch ((enum moment_kind)m->kind) {
	case MOMENT_POLL_START:
		if (invariants_is_lane(m))
			invariants_poll_start(v, m);
		break;
	case MOMENT_POLL_END:
		if (invariants_is_lane(m))
			invariants_poll_end(v, m);
		break;
	case MOMENT_PARK:
	case MOMENT_UNPARK:
		if (invariants_is_lane(m))
			invariants_park(v, m);
		break;
	case MOMENT_SPAWN:
		invariants_spawn(v, m);
		break;
	case MOMENT_END:
		t = tasktable_find(v->tasks, m->task);
		if (t)
			tasktable_end(v->tasks, t);
		break;
	case MOMENT_WAKE:
		invariants_wake(v, m);
		break;
	case MOMENT_ALIVE:
		t = tasktable_get(v->tasks, m->task);
		if (t && !(t->flags & TASK_ENDED)) {
			t->flags |= TASK_ALIVE;
			invariants_due(t, m->ts_ns);
		}
		break;
	case MOMENT_OFF_CPU:
		invariants_off_cpu(v, m);
		break;
	case MOMENT_NESTED:
		invariants_nested(v, m);
		break;
	case MOMENT_BLOCKING:
		invariants_blocking(v, m);
		break;
	case MOMENT_LEVEL:
		return invariants_level(v, m);
	case MOMENT_TASK_END:
	case MOMENT_SAMPLE:
	case MOMENT_PARKS:
	case MOMENT_INFERRED:
	case MOMENT_KIND_CNT:
		break;
	}
	return 0;
}

int invariants_gap(struct invariants *v)
{
	struct tasktable *fresh = tasktable_new();
	struct spans_threads *threads = spans_threads_new();

	if (!fresh || !threads) {
		tasktable_free(fresh);
		spans_threads_free(threads);
		return -ENOMEM;
	}
	tasktable_free(v->tasks);
	spans_threads_free(v->threads);
	v->tasks = fresh;
	v->threads = threads;
	v->had_gap = true;
	memset(v->workers, 0, MOMENT_WORKERS_MAX * sizeof(*v->workers));
	return 0;
}

void invariants_finish(struct invariants *v, const struct facts *facts)
{
	bool has_ends = facts_claims(facts, D9_EV_TASK_TERMINATE);
	bool has_spawns = facts_claims(facts, D9_EV_TASK_SPAWN);

	for (int i = 0; i < INVARIANT_CNT; i++)
		v->results[i].is_judged = true;
	/* without OffCpu a preempted worker looks like one that polls on */
	v->results[INVARIANT_ONE_WORKER].is_judged = facts_claims(facts, D9_EV_AGENT_OFF_CPU);
	v->results[INVARIANT_IDS].is_judged = has_ends && has_spawns;
	v->results[INVARIANT_ENDED].is_judged = has_ends && has_spawns;
}
