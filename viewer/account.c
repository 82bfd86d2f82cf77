// SPDX-License-Identifier: Apache-2.0
/* account.c - one small function for each kind of moment. */
#include "account.h"

#include "labels.h"
#include "leaftable.h"
#include "pollaccount.h"
#include "taskaccount.h"
#include "tasktable.h"
#include "tell.h"
#include "typetable.h"
#include "watch.h"
#include "workertable.h"
#include "format/trace.h"

#include <errno.h>
#include <string.h>

int account_init(struct account *a, struct labels *labels)
{
	memset(a, 0, sizeof(*a));
	a->labels = labels;
	a->runs.from_ns = BUSYRUNS_LONG_NS;
	a->tasks = tasktable_new();
	a->types = typetable_new();
	a->blocking = typetable_new();
	a->workers = workertable_new();
	a->leaves = leaftable_new();
	return a->tasks && a->types && a->blocking && a->workers && a->leaves ? 0 : -ENOMEM;
}

void account_done(struct account *a)
{
	tasktable_free(a->tasks);
	typetable_free(a->types);
	typetable_free(a->blocking);
	workertable_free(a->workers);
	leaftable_free(a->leaves);
	memset(a, 0, sizeof(*a));
}

const struct type_row *account_type_of(const struct account *a, uint64_t task)
{
	const struct task *t = tasktable_find(a->tasks, task);

	return t && t->type != TASK_TYPE_NONE ? typetable_row(a->types, t->type) : NULL;
}

void account_add(struct account *a, struct histogram *h, uint64_t value)
{
	if (histogram_add(h, value) != 0)
		a->err = -ENOMEM;
}

static void account_park(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);

	pollaccount_cut(a, w, m->worker);
	tell_cut(a, m->worker, m->ts_ns, WORKER_BETWEEN, WORKER_PARKED, 0);
	busyruns_end(&a->runs, &w->run);
	workertable_bind(a->workers, m->tid, m->worker);
	w->parks++;
}

static void account_unpark(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);
	uint64_t ns;

	pollaccount_cut(a, w, m->worker);
	ns = tell_cut(a, m->worker, m->ts_ns, WORKER_PARKED, pollaccount_awake(a), m->has_a ? m->a : 0);
	w->unparks++;
	workertable_bind(a->workers, m->tid, m->worker);
	if (!m->has_a)
		return;
	w->delays_known++;
	workertable_delay(w, ns, m->a);
}

/* Parks that were added up: their time was unknown until now. */
static void account_parks(struct account *a, const struct moment *m)
{
	struct worker *w;

	if (m->worker == MOMENT_NO_WORKER)
		return;
	w = workertable_get(a->workers, m->worker);
	if (!w->is_seen || (w->since_ns < m->a && w->state != WORKER_POLLING))
		tell_cut(a, m->worker, m->a, w->state, pollaccount_awake(a), 0);
	tell_parks(a, m->worker, m->b, m->task, m->c);
	workertable_bind(a->workers, m->tid, m->worker);
	w->parks += m->label;
	w->unparks += m->label;
	w->delays_known += m->label;
}

static void account_off_cpu(struct account *a, const struct moment *m)
{
	struct account_off *off = &a->off[m->label];
	uint64_t ns = m->ts_ns > m->a ? m->ts_ns - m->a : 0;
	struct worker *w = NULL;
	struct task *t;

	if (m->task == 0) /* not inside a poll: a park, or a thread of no worker */
		return;
	off->cnt++;
	off->sum_ns += ns;
	if (ns > off->max_ns)
		off->max_ns = ns;
	t = tasktable_find(a->tasks, m->task);
	if (t && t->type != TASK_TYPE_NONE)
		typetable_row(a->types, t->type)->off_cpu_ns += ns;
	tell_off(a, m, t && t->type != TASK_TYPE_NONE ? t->type : WATCH_NO_TYPE);
	if (m->worker != MOMENT_NO_WORKER)
		w = workertable_get(a->workers, m->worker);
	if (!w || w->state != WORKER_POLLING || m->a < w->poll.start_ns)
		return;
	w->poll.off_ns += ns;
	if (m->label == MOMENT_OFF_PREEMPTED)
		w->poll.off_preempted_ns += ns;
	else if (m->label == MOMENT_FUTEX)
		w->poll.off_lock_ns += ns;
	if (ns > w->poll.off_worst_ns) {
		w->poll.off_worst_ns = ns;
		w->poll.off_worst = m->label;
		w->poll.off_stack = m->stack;
	}
}

/* Polls are not recorded, but the recorder looked which task the thread held. */
static void account_sample_by_id(struct account *a, const struct moment *m, struct worker *w)
{
	const struct task *t = tasktable_find(a->tasks, m->task);

	a->samples_in_polls++;
	a->samples_by_id++;
	if (t && t->type != TASK_TYPE_NONE)
		typetable_row(a->types, t->type)->samples++;
	else
		a->samples_untyped++;
	if (!w)
		return;
	w->samples++;
	busyruns_sample(&a->runs, &w->run, m->ts_ns, m->task);
}

/* Of the poll, or else of the task that the thread held. */
static uint32_t account_sample_type(const struct account *a, const struct moment *m,
				    const struct worker *w)
{
	const struct task *t = NULL;

	if (w && w->state == WORKER_POLLING)
		return w->poll.type;
	if (m->task)
		t = tasktable_find(a->tasks, m->task);
	return t && t->type != TASK_TYPE_NONE ? t->type : WATCH_NO_TYPE;
}

static void account_sample(struct account *a, const struct moment *m)
{
	uint16_t worker = m->worker;
	struct worker *w;

	a->samples++;
	a->runs.from_ns = busyruns_from_ns(m->a);
	if (worker == MOMENT_NO_WORKER)
		worker = workertable_of_thread(a->workers, m->tid);
	w = worker == MOMENT_NO_WORKER ? NULL : workertable_get(a->workers, worker);
	leaftable_count(a->leaves, m->label, m->task || (w && w->state == WORKER_POLLING));
	tell_sample(a, m, worker, account_sample_type(a, m, w));
	if (m->task && !(w && w->state == WORKER_POLLING)) {
		account_sample_by_id(a, m, w);
	} else if (worker == MOMENT_BLOCKING_WORKER && !w->is_seen) {
		a->samples_blocking++;
	} else if (!w || !w->is_seen) {
		a->samples_unknown++;
	} else if (w->state == WORKER_POLLING) {
		a->samples_in_polls++;
		w->samples++;
		w->poll.samples++;
		typetable_row(a->types, w->poll.type)->samples++;
	} else {
		*(m->has_a || pollaccount_awake(a) == WORKER_BETWEEN ? &a->samples_between
								       : &a->samples_blind) += 1;
		w->samples++;
		busyruns_end(&a->runs, &w->run);
	}
}

/* Another level: who waits for a poll, or runs, may not be seen any more, or not have been. */
static void account_level(struct account *a, const struct moment *m)
{
	bool was_partial = a->is_partial;

	a->is_partial = m->has_a ? true : false;
	if (!m->has_a && a->has_level && a->level == m->label && !was_partial)
		return; /* a segment begins */
	if (!m->has_a)
		a->level = m->label;
	a->has_level = true;
	pollaccount_settle_all(a);
	tasktable_forget_states(a->tasks);
	for (uint32_t i = 0; i < workertable_cnt(a->workers); i++) {
		const struct worker *w = workertable_get(a->workers, i);

		if (w->is_seen && w->state == WORKER_BETWEEN)
			tell_cut(a, i, m->ts_ns, WORKER_BETWEEN, pollaccount_awake(a), 0);
	}
}

int account_moment(void *ctx, const struct moment *m)
{
	struct account *a = ctx;

	tell_moment(a, m);
	/* these mean nothing without a worker */
	if (m->worker == MOMENT_NO_WORKER &&
	    (m->kind <= MOMENT_UNPARK || m->kind == MOMENT_NESTED || m->kind == MOMENT_INFERRED)) {
		a->over_worker_cap++;
		return 0;
	}
	switch ((enum moment_kind)m->kind) {
	case MOMENT_POLL_START:
		pollaccount_start(a, m);
		break;
	case MOMENT_POLL_END:
		pollaccount_end(a, m);
		break;
	case MOMENT_PARK:
		account_park(a, m);
		break;
	case MOMENT_UNPARK:
		account_unpark(a, m);
		break;
	case MOMENT_PARKS:
		account_parks(a, m);
		break;
	case MOMENT_SPAWN:
		taskaccount_spawn(a, m);
		break;
	case MOMENT_END:
		taskaccount_end(a, m);
		break;
	case MOMENT_TASK_END:
		taskaccount_cause(a, m);
		break;
	case MOMENT_WAKE:
		tell_waker(a, m);
		taskaccount_wake(a, m);
		break;
	case MOMENT_ALIVE:
		taskaccount_alive(a, m);
		break;
	case MOMENT_SAMPLE:
		account_sample(a, m);
		break;
	case MOMENT_OFF_CPU:
		account_off_cpu(a, m);
		break;
	case MOMENT_NESTED:
		pollaccount_nested(a, m);
		break;
	case MOMENT_INFERRED:
		pollaccount_inferred(a, m);
		break;
	case MOMENT_LEVEL:
		account_level(a, m);
		break;
	case MOMENT_BLOCKING:
	case MOMENT_KIND_CNT:
		break;
	}
	return 0;
}

void account_ahead(void *ctx, const struct moment *m)
{
	const struct account *a = ctx;

	tasktable_fetch(a->tasks, m->task);
}

int account_blocking(struct account *a, const struct d9_ev *ev)
{
	uint64_t start_ns, queued_ns;
	struct type_row *row;
	int err;

	if (!d9_value_u64(d9_val(ev, D9F_agent_blocking_start_ns), &start_ns))
		return 0;
	row = typetable_row(a->blocking,
			    typetable_find(a->blocking,
					   labels_field(a->labels, ev, D9F_agent_blocking_type)));
	row->blocking++;
	err = histogram_add(&row->run, ev->ts_ns > start_ns ? ev->ts_ns - start_ns : 0);
	if (err == 0 && d9_value_u64(d9_val(ev, D9F_agent_blocking_queued_ns), &queued_ns))
		err = histogram_add(&row->queued, start_ns > queued_ns ? start_ns - queued_ns : 0);
	return err;
}

/* What was counted apart joins the types. */
static void account_join_blocking(struct account *a)
{
	for (uint32_t i = 0; i < typetable_cnt(a->blocking); i++) {
		const struct type_row *from = typetable_row(a->blocking, i);
		struct type_row *to;

		if (!from->blocking)
			continue;
		to = typetable_row(a->types, typetable_find(a->types, from->label));
		to->blocking += from->blocking;
		if (histogram_merge(&to->run, &from->run) ||
		    histogram_merge(&to->queued, &from->queued))
			a->err = -ENOMEM;
	}
}

void account_block_in_place(struct account *a, const struct d9_ev *ev)
{
	uint64_t handoff_ns;

	a->block_in_places++;
	/* the blocking began some time before another thread took over: this much is sure */
	if (d9_value_u64(d9_val(ev, D9F_agent_block_in_place_handoff_ns), &handoff_ns))
		a->block_in_place_ns += ev->ts_ns > handoff_ns ? ev->ts_ns - handoff_ns : 0;
}

void account_gap(struct account *a)
{
	pollaccount_settle_all(a);
	workertable_gap(a->workers);
	tasktable_forget_states(a->tasks);
}

void account_session(struct account *a)
{
	account_gap(a);
	workertable_unbind(a->workers);
}

void account_finish(struct account *a, uint64_t first_ns, uint64_t last_ns)
{
	account_join_blocking(a);
	for (uint32_t i = 0; i < workertable_cnt(a->workers); i++)
		busyruns_end(&a->runs, &workertable_get(a->workers, i)->run);
	pollaccount_settle_all(a);
	for (uint32_t i = 0; i < workertable_cnt(a->workers); i++)
		if (workertable_get(a->workers, i)->is_seen)
			tell_cut(a, i, last_ns, WORKER_PARKED, WORKER_UNKNOWN, 0);
	workertable_finish(a->workers, first_ns, last_ns);
}
