// SPDX-License-Identifier: Apache-2.0
/* account.c - one small function for each kind of moment. */
#include "account.h"

#include "labels.h"
#include "leaftable.h"
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
	a->tasks = tasktable_new();
	a->types = typetable_new();
	a->workers = workertable_new();
	a->leaves = leaftable_new();
	return a->tasks && a->types && a->workers && a->leaves ? 0 : -ENOMEM;
}

void account_done(struct account *a)
{
	tasktable_free(a->tasks);
	typetable_free(a->types);
	workertable_free(a->workers);
	leaftable_free(a->leaves);
	memset(a, 0, sizeof(*a));
}

void account_add(struct account *a, struct histogram *h, uint64_t value)
{
	if (histogram_add(h, value) != 0)
		a->err = -ENOMEM;
}

/*
 * agent:InferredEnd rules from here on close a poll whose end is not known, or not in the recording:
 * 5 its thread gave the worker away while it ran on, 6 its record was lost, 7 its thread ended,
 * 8 the recording ends. By the rules below it is known to a few microseconds.
 */
#define ACCOUNT_RULE_CUT 5
#define ACCOUNT_RULE_HANDOFF 5

/* Counts the last poll of a worker, now that nothing cuts it any more. */
static void account_settle(struct account *a, struct worker *w, uint32_t worker)
{
	struct type_row *row;

	if (!w->has_ended)
		return;
	w->has_ended = false;
	row = typetable_row(a->types, w->ended.type);
	account_add(a, &row->poll, w->ended_ns);
	row->busy_ns += w->ended_ns > w->ended.nested_ns ? w->ended_ns - w->ended.nested_ns : 0;
	longpolls_add(&a->longest, w->ended_ns, worker, &w->ended);
	tell_poll(a, worker, &w->ended, w->ended_at_ns);
}

/* The last poll has no duration after all. The time is unknown, except that a poll which goes on
 * elsewhere did run until then. */
static void account_unsettle(struct account *a, struct worker *w, uint64_t rule)
{
	struct task *t = tasktable_find(a->tasks, w->ended.task);

	w->has_ended = false;
	w->cut_polls++;
	if (t && t->wake_ns == w->ended_at_ns) {
		t->wake_ns = 0;
		a->waits_cut++;
	}
	if (rule == ACCOUNT_RULE_HANDOFF)
		return;
	w->is_void = true;
	w->busy_ns -= w->ended_ns;
	w->unknown_ns += w->ended_ns;
}

/* The worker does something else though its poll has not ended: events are missing, and what
 * became of its task is unknown. */
static void account_cut_poll(struct account *a, const struct worker *w, uint16_t worker)
{
	struct task *t;

	if (w->state != WORKER_POLLING)
		return;
	t = tasktable_find(a->tasks, w->poll.task);
	if (t && t->worker == worker)
		t->flags &= (uint8_t) ~(TASK_RUNNING | TASK_WOKEN_RUNNING);
}

static void account_poll_start(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);
	uint32_t type = typetable_find(a->types, m->label);
	struct task *t = tasktable_get(a->tasks, m->task);
	struct type_row *row = typetable_row(a->types, type);

	account_settle(a, w, m->worker);
	account_cut_poll(a, w, m->worker);
	tell_cut(a, m->worker, m->ts_ns, WORKER_BETWEEN, WORKER_POLLING, 0);
	w->polls++;
	w->poll = (struct worker_poll){ .task = m->task, .start_ns = m->ts_ns, .type = type };
	row->polls++;
	if (!t)
		return;
	if (t->flags & TASK_ENDED) /* its end came first (other threads' clocks), or its id again */
		tasktable_revive(a->tasks, t);
	taskaccount_type(a, t, type);
	if (t->flags & TASK_WOKEN_RUNNING)
		a->waits_cut++;
	else if (t->wake_ns)
		tell_wait(a, m->worker, type, t, t->polls + 1, m->ts_ns);
	t->wake_ns = 0;
	t->flags &= (uint8_t)~TASK_WOKEN_RUNNING;
	t->flags |= TASK_POLLED | TASK_RUNNING;
	w->poll.nr = ++t->polls;
	t->worker = m->worker;
}

/* Awake and in no poll that is recorded: Tokio's own work, unless some polls are not recorded. */
static enum worker_state account_awake(const struct account *a)
{
	bool is_blind = a->has_level && (!(a->level & MOMENT_HAS_POLLS) || a->is_partial);

	return is_blind ? WORKER_UNKNOWN : WORKER_BETWEEN;
}

static void account_poll_end(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);
	bool was_polling = w->state == WORKER_POLLING;
	struct task *t;

	account_settle(a, w, m->worker);
	w->ended_ns = tell_cut(a, m->worker, m->ts_ns, WORKER_POLLING, account_awake(a), 0);
	if (!was_polling) {
		a->stray_ends++;
		return;
	}
	w->ended = w->poll;
	w->ended_at_ns = m->ts_ns;
	w->has_ended = true;
	w->is_told = w->is_void = false;
	t = tasktable_find(a->tasks, w->poll.task);
	/* another worker may have begun to poll it before this end was stamped */
	if (t && (t->flags & TASK_RUNNING) && t->worker == m->worker) {
		if (t->flags & TASK_WOKEN_RUNNING)
			t->wake_ns = m->ts_ns;
		t->flags &= (uint8_t) ~(TASK_RUNNING | TASK_WOKEN_RUNNING);
	}
	if (w->ended.cut_rule)
		account_unsettle(a, w, w->ended.cut_rule);
}

static void account_inferred(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);

	if (m->a < ACCOUNT_RULE_CUT)
		return;
	if (w->has_ended && w->ended_at_ns == m->ts_ns && w->ended.task == m->task)
		account_unsettle(a, w, m->a);
	else if (w->state == WORKER_POLLING && w->poll.task == m->task)
		w->poll.cut_rule = (uint8_t)m->a; /* it stands before the end it speaks of */
}

static void account_nested(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);
	uint32_t type = typetable_find(a->types, m->label);
	struct type_row *row = typetable_row(a->types, type);
	struct task *t = tasktable_get(a->tasks, m->task);
	uint64_t ns = m->ts_ns > m->a ? m->ts_ns - m->a : 0;

	a->nested_polls++;
	row->polls++;
	row->busy_ns += ns;
	account_add(a, &row->poll, ns);
	if (w->state == WORKER_POLLING)
		w->poll.nested_ns += ns;
	if (!t)
		return;
	taskaccount_type(a, t, type);
	if (t->wake_ns && t->wake_ns <= m->a)
		tell_wait(a, m->worker, type, t, 0, m->a);
	/* a wake inside the poll is a new wait, from its end on */
	t->wake_ns = t->wake_ns > m->a ? m->ts_ns : 0;
	t->flags |= TASK_POLLED;
}

static void account_park(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);

	account_cut_poll(a, w, m->worker);
	tell_cut(a, m->worker, m->ts_ns, WORKER_BETWEEN, WORKER_PARKED, 0);
	workertable_bind(a->workers, m->tid, m->worker);
	w->parks++;
}

static void account_unpark(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);
	uint64_t ns;

	account_cut_poll(a, w, m->worker);
	ns = tell_cut(a, m->worker, m->ts_ns, WORKER_PARKED, account_awake(a), m->has_a ? m->a : 0);
	w->unparks++;
	workertable_bind(a->workers, m->tid, m->worker);
	if (!m->has_a)
		return;
	w->delays_known++;
	workertable_delay(w, ns, m->a);
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

static void account_sample(struct account *a, const struct moment *m)
{
	uint16_t worker = m->worker;
	struct worker *w;

	a->samples++;
	if (worker == MOMENT_NO_WORKER)
		worker = workertable_of_thread(a->workers, m->tid);
	w = worker == MOMENT_NO_WORKER ? NULL : workertable_get(a->workers, worker);
	leaftable_count(a->leaves, m->label, w && w->state == WORKER_POLLING);
	tell_sample(a, m, worker, w && w->state == WORKER_POLLING ? w->poll.type : WATCH_NO_TYPE);
	if (worker == MOMENT_BLOCKING_WORKER && !w->is_seen) {
		a->samples_blocking++;
	} else if (!w || !w->is_seen) {
		a->samples_unknown++;
	} else if (w->state == WORKER_POLLING) {
		a->samples_in_polls++;
		w->samples++;
		w->poll.samples++;
		typetable_row(a->types, w->poll.type)->samples++;
	} else {
		a->samples_between++;
		w->samples++;
	}
}

static void account_settle_all(struct account *a)
{
	for (uint32_t i = 0; i < workertable_cnt(a->workers); i++)
		account_settle(a, workertable_get(a->workers, i), i);
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
	account_settle_all(a);
	tasktable_forget_states(a->tasks);
	for (uint32_t i = 0; i < workertable_cnt(a->workers); i++) {
		const struct worker *w = workertable_get(a->workers, i);

		if (w->is_seen && w->state == WORKER_BETWEEN)
			tell_cut(a, i, m->ts_ns, WORKER_BETWEEN, account_awake(a), 0);
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
		account_poll_start(a, m);
		break;
	case MOMENT_POLL_END:
		account_poll_end(a, m);
		break;
	case MOMENT_PARK:
		account_park(a, m);
		break;
	case MOMENT_UNPARK:
		account_unpark(a, m);
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
		account_nested(a, m);
		break;
	case MOMENT_INFERRED:
		account_inferred(a, m);
		break;
	case MOMENT_LEVEL:
		account_level(a, m);
		break;
	case MOMENT_KIND_CNT:
		break;
	}
	return 0;
}

void account_blocking(struct account *a, const struct d9_ev *ev)
{
	uint64_t start_ns, queued_ns;
	struct type_row *row;

	if (!d9_value_u64(d9_val(ev, D9F_agent_blocking_start_ns), &start_ns))
		return;
	row = typetable_row(
		a->types,
		typetable_find(a->types, labels_field(a->labels, ev, D9F_agent_blocking_type)));
	row->blocking++;
	account_add(a, &row->run, ev->ts_ns > start_ns ? ev->ts_ns - start_ns : 0);
	if (d9_value_u64(d9_val(ev, D9F_agent_blocking_queued_ns), &queued_ns))
		account_add(a, &row->queued, start_ns > queued_ns ? start_ns - queued_ns : 0);
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
	account_settle_all(a);
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
	account_settle_all(a);
	for (uint32_t i = 0; i < workertable_cnt(a->workers); i++)
		if (workertable_get(a->workers, i)->is_seen)
			tell_cut(a, i, last_ns, WORKER_PARKED, WORKER_UNKNOWN, 0);
	workertable_finish(a->workers, first_ns, last_ns);
}
