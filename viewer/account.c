// SPDX-License-Identifier: Apache-2.0
/* account.c - one small function for each kind of moment. */
#include "account.h"

#include "labels.h"
#include "leaftable.h"
#include "tasktable.h"
#include "typetable.h"
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

static void account_add(struct account *a, struct histogram *h, uint64_t value)
{
	if (histogram_add(h, value) != 0)
		a->err = -ENOMEM;
}

/* Gives a task its type when it is first known; a task is counted in its type only then. */
static void account_type(struct account *a, struct task *t, uint32_t type)
{
	struct type_row *row = typetable_row(a->types, type);

	if (t->type != TASK_TYPE_NONE)
		return;
	t->type = type;
	if (t->flags & TASK_SPAWNED) {
		row->spawned++;
	} else {
		t->flags |= TASK_ALIVE;
		row->seen++;
	}
}

static void account_spawn(struct account *a, const struct moment *m)
{
	struct task *t = tasktable_get(a->tasks, m->task);

	if (!t)
		return;
	/* a task that was seen alive before its spawn (late event) is not counted twice */
	if (t->flags & TASK_ENDED)
		tasktable_revive(a->tasks, t);
	t->flags |= TASK_SPAWNED;
	account_type(a, t, typetable_find(a->types, m->label));
}

static void account_alive(struct account *a, const struct moment *m)
{
	struct task *t = tasktable_get(a->tasks, m->task);

	if (t && !(t->flags & TASK_ENDED))
		account_type(a, t, typetable_find(a->types, m->label));
}

static void account_end(struct account *a, const struct moment *m)
{
	struct task *t = tasktable_find(a->tasks, m->task);

	if (!t || t->type == TASK_TYPE_NONE)
		a->unknown_ends++;
	else if (!(t->flags & TASK_ENDED))
		typetable_row(a->types, t->type)->ended++;
	if (t)
		tasktable_end(a->tasks, t);
}

static void account_cause(struct account *a, const struct moment *m)
{
	struct task *t = tasktable_find(a->tasks, m->task);

	if (!t || t->type == TASK_TYPE_NONE)
		return;
	typetable_row(a->types, t->type)->cancelled += m->a == 1;
	typetable_row(a->types, t->type)->panicked += m->a == 4;
}

static void account_wake(struct account *a, const struct moment *m)
{
	struct task *t = tasktable_get(a->tasks, m->task);
	struct type_row *row;

	if (!t || (t->flags & TASK_ENDED))
		return;
	row = t->type == TASK_TYPE_NONE ? NULL : typetable_row(a->types, t->type);
	if (row)
		row->wakes++;
	if (t->wake_ns || (t->flags & TASK_WOKEN_RUNNING)) {
		if (row)
			row->redundant_wakes++;
	} else if (t->flags & TASK_RUNNING) {
		t->flags |= TASK_WOKEN_RUNNING;
	} else {
		t->wake_ns = m->ts_ns;
	}
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

	account_cut_poll(a, w, m->worker);
	workertable_cut(w, m->ts_ns, WORKER_BETWEEN, WORKER_POLLING);
	w->polls++;
	w->poll = (struct worker_poll){ .task = m->task, .start_ns = m->ts_ns, .type = type };
	row->polls++;
	if (!t)
		return;
	if (t->flags & TASK_ENDED) /* its end came first (other threads' clocks), or its id again */
		tasktable_revive(a->tasks, t);
	account_type(a, t, type);
	if (t->flags & TASK_WOKEN_RUNNING)
		a->waits_cut++;
	else if (t->wake_ns)
		account_add(a, &row->wait, m->ts_ns > t->wake_ns ? m->ts_ns - t->wake_ns : 0);
	t->wake_ns = 0;
	t->flags &= (uint8_t)~TASK_WOKEN_RUNNING;
	t->flags |= TASK_POLLED | TASK_RUNNING;
	t->worker = m->worker;
}

static void account_poll_end(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);
	bool was_polling = w->state == WORKER_POLLING;
	uint64_t ns = workertable_cut(w, m->ts_ns, WORKER_POLLING, WORKER_BETWEEN);
	struct type_row *row;
	struct task *t;

	if (!was_polling) {
		a->stray_ends++;
		return;
	}
	row = typetable_row(a->types, w->poll.type);
	account_add(a, &row->poll, ns);
	row->busy_ns += ns > w->poll.nested_ns ? ns - w->poll.nested_ns : 0;
	longpolls_add(&a->longest, ns, m->worker, &w->poll);
	t = tasktable_find(a->tasks, w->poll.task);
	/* another worker may have begun to poll it before this end was stamped */
	if (!t || !(t->flags & TASK_RUNNING) || t->worker != m->worker)
		return;
	if (t->flags & TASK_WOKEN_RUNNING)
		t->wake_ns = m->ts_ns;
	t->flags &= (uint8_t) ~(TASK_RUNNING | TASK_WOKEN_RUNNING);
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
	account_type(a, t, type);
	if (t->wake_ns && t->wake_ns <= m->a)
		account_add(a, &row->wait, m->a - t->wake_ns);
	/* a wake inside the poll is a new wait, from its end on */
	t->wake_ns = t->wake_ns > m->a ? m->ts_ns : 0;
	t->flags |= TASK_POLLED;
}

static void account_park(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);

	account_cut_poll(a, w, m->worker);
	workertable_cut(w, m->ts_ns, WORKER_BETWEEN, WORKER_PARKED);
	workertable_bind(a->workers, m->tid, m->worker);
	w->parks++;
}

static void account_unpark(struct account *a, const struct moment *m)
{
	struct worker *w = workertable_get(a->workers, m->worker);
	uint64_t ns;

	account_cut_poll(a, w, m->worker);
	ns = workertable_cut(w, m->ts_ns, WORKER_PARKED, WORKER_BETWEEN);
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
	if (m->worker != MOMENT_NO_WORKER)
		w = workertable_get(a->workers, m->worker);
	if (!w || w->state != WORKER_POLLING || m->a < w->poll.start_ns)
		return;
	w->poll.off_ns += ns;
	if (ns > w->poll.off_worst_ns) {
		w->poll.off_worst_ns = ns;
		w->poll.off_worst = m->label;
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

int account_moment(void *ctx, const struct moment *m)
{
	struct account *a = ctx;

	/* these five have no meaning without a worker */
	if (m->worker == MOMENT_NO_WORKER &&
	    (m->kind <= MOMENT_UNPARK || m->kind == MOMENT_NESTED)) {
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
		account_spawn(a, m);
		break;
	case MOMENT_END:
		account_end(a, m);
		break;
	case MOMENT_TASK_END:
		account_cause(a, m);
		break;
	case MOMENT_WAKE:
		account_wake(a, m);
		break;
	case MOMENT_ALIVE:
		account_alive(a, m);
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
	uint64_t start_ns;

	a->block_in_places++;
	if (d9_value_u64(d9_val(ev, D9F_agent_block_in_place_start_ns), &start_ns))
		a->block_in_place_ns += ev->ts_ns > start_ns ? ev->ts_ns - start_ns : 0;
}

void account_gap(struct account *a)
{
	workertable_gap(a->workers);
	tasktable_forget_states(a->tasks);
}

void account_finish(struct account *a, uint64_t first_ns, uint64_t last_ns)
{
	workertable_finish(a->workers, first_ns, last_ns);
}
