// SPDX-License-Identifier: Apache-2.0
/* pollaccount.c - a poll is counted once nothing can cut it any more. */
#include "pollaccount.h"

#include "account.h"
#include "taskaccount.h"
#include "tasktable.h"
#include "tell.h"
#include "typetable.h"

/*
 * agent:InferredEnd rules from here on close a poll whose end is not known, or not in the recording:
 * 5 its thread gave the worker away while it ran on, 6 its record was lost, 7 its thread ended,
 * 8 the recording ends. By the rules below it is known to a few microseconds.
 */
#define POLLACCOUNT_RULE_CUT 5
#define POLLACCOUNT_RULE_HANDOFF 5

void pollaccount_settle(struct account *a, struct worker *w, uint32_t worker)
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
static void pollaccount_unsettle(struct account *a, struct worker *w, uint64_t rule)
{
	struct task *t = tasktable_find(a->tasks, w->ended.task);

	w->has_ended = false;
	w->cut_polls++;
	if (t && t->wake_ns == w->ended_at_ns) {
		t->wake_ns = 0;
		a->waits_cut++;
	}
	if (rule == POLLACCOUNT_RULE_HANDOFF)
		return;
	w->is_void = true;
	w->busy_ns -= w->ended_ns;
	w->unknown_ns += w->ended_ns;
}

void pollaccount_cut(struct account *a, const struct worker *w, uint16_t worker)
{
	struct task *t;

	if (w->state != WORKER_POLLING)
		return;
	t = tasktable_find(a->tasks, w->poll.task);
	if (t && t->worker == worker)
		t->flags &= (uint8_t) ~(TASK_RUNNING | TASK_WOKEN_RUNNING);
}

void pollaccount_start(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);
	uint32_t type = typetable_find(a->types, m->label);
	struct task *t = tasktable_get(a->tasks, m->task);
	struct type_row *row = typetable_row(a->types, type);

	pollaccount_settle(a, w, m->worker);
	pollaccount_cut(a, w, m->worker);
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

enum worker_state pollaccount_awake(const struct account *a)
{
	bool is_blind = a->has_level && (!(a->level & MOMENT_HAS_POLLS) || a->is_partial);

	return is_blind ? WORKER_UNKNOWN : WORKER_BETWEEN;
}

void pollaccount_end(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);
	bool was_polling = w->state == WORKER_POLLING;
	struct task *t;

	pollaccount_settle(a, w, m->worker);
	w->ended_ns = tell_cut(a, m->worker, m->ts_ns, WORKER_POLLING, pollaccount_awake(a), 0);
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
		pollaccount_unsettle(a, w, w->ended.cut_rule);
}

void pollaccount_inferred(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);

	if (m->a < POLLACCOUNT_RULE_CUT)
		return;
	if (w->has_ended && w->ended_at_ns == m->ts_ns && w->ended.task == m->task)
		pollaccount_unsettle(a, w, m->a);
	else if (w->state == WORKER_POLLING && w->poll.task == m->task)
		w->poll.cut_rule = (uint8_t)m->a; /* it stands before the end it speaks of */
}

void pollaccount_nested(struct account *a, const struct moment *m)
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

void pollaccount_settle_all(struct account *a)
{
	for (uint32_t i = 0; i < workertable_cnt(a->workers); i++)
		pollaccount_settle(a, workertable_get(a->workers, i), i);
}
