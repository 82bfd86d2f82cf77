// SPDX-License-Identifier: Apache-2.0
/* pains.c - one small counter for each way to hurt. */
#include "pains.h"

#include "report.h"
#include "tasktable.h"
#include "typetable.h"
#include "workertable.h"
#include "format/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAINS_CURVE_STEP_NS 10000000ull /* at first; doubled when the curve is full */

static struct pain_type *pains_type(struct study *s, uint32_t row)
{
	struct pains *p = s->own;
	uint32_t cnt = row < 64 ? 64 : 2 * row;
	struct pain_type *grown;

	if (row >= p->types_cnt) {
		grown = realloc(p->types, cnt * sizeof(*grown));
		if (!grown) {
			s->err = -ENOMEM;
			return NULL;
		}
		memset(grown + p->types_cnt, 0, (cnt - p->types_cnt) * sizeof(*grown));
		p->types = grown;
		p->types_cnt = cnt;
	}
	return &p->types[row];
}

static struct pain_worker *pains_worker(struct study *s, uint64_t worker)
{
	struct pains *p = s->own;

	if (!p->workers)
		p->workers = calloc(MOMENT_WORKERS_MAX, sizeof(*p->workers));
	if (!p->workers)
		s->err = -ENOMEM;
	return p->workers && worker < MOMENT_WORKERS_MAX ? &p->workers[worker] : NULL;
}

void pains_slice(struct study *s, const struct watch_slice *slice)
{
	struct pains *p = s->own;
	uint64_t ns = slice->to_ns - slice->from_ns;

	p->busy_ns += slice->state == WATCH_BUSY ? ns : 0;
	p->between_ns += slice->state == WATCH_BETWEEN ? ns : 0;
	p->unknown_ns += slice->state == WATCH_UNKNOWN ? ns : 0;
	if (slice->state != WATCH_DELAYED || ns < PAINS_DELAY_NS)
		return;
	p->delay_cnt++;
	p->delay_ns += ns;
	if (ns > p->delay.ns)
		p->delay = (struct pain_wait){ ns, 0, slice->from_ns, slice->worker };
}

void pains_poll(struct study *s, uint32_t worker, const struct worker_poll *poll, uint64_t end_ns)
{
	uint64_t ns = end_ns > poll->start_ns ? end_ns - poll->start_ns : 0;
	const struct pain_poll this = { ns,	poll->task,	 poll->start_ns,  poll->nr,
					worker, poll->off_worst, poll->off_stack, poll->wakes };
	struct pain_worker *w = pains_worker(s, worker);
	struct pain_type *t;

	if (w)
		w->polls++;
	if (ns < PAINS_LONG_NS && poll->wakes < PAINS_STORM_CNT)
		return;
	t = pains_type(s, poll->type);
	if (!t)
		return;
	if (ns >= PAINS_LONG_NS) {
		t->long_cnt++;
		t->long_ns += ns;
		t->verdicts[verdict_of(poll, ns,
				       s->report->coverage.kinds[D9_EV_AGENT_OFF_CPU] > 0)] += ns;
		if (ns > t->longest.ns)
			t->longest = this;
	}
	if (poll->wakes >= PAINS_STORM_CNT) {
		t->storm_cnt++;
		t->storm_wakes += poll->wakes;
		if (poll->wakes > t->storm.wakes)
			t->storm = this;
	}
}

void pains_wait(struct study *s, const struct watch_wait *w, const struct behind_parts *parts)
{
	uint64_t ns = w->to_ns - w->from_ns;
	uint64_t starved_ns = parts->ns[WATCH_DELAYED];
	struct pain_type *t;

	if (ns < PAINS_LATE_NS && starved_ns == 0)
		return;
	t = pains_type(s, w->type);
	if (!t)
		return;
	t->starved_ns += starved_ns;
	if (ns < PAINS_LATE_NS)
		return;
	t->late_cnt++;
	t->late_ns += ns;
	for (int i = 0; i < WATCH_STATES; i++)
		t->late_parts[i] += parts->ns[i];
	t->late_idle_cnt += behind_idle(s->behind, w, ns / 2);
	if (ns > t->latest.ns)
		t->latest = (struct pain_wait){ ns, w->task, w->from_ns, w->worker };
}

static struct pain_call *pains_call(struct pains *p, uint32_t type, uint32_t label)
{
	for (uint32_t i = 0; i < p->calls_cnt; i++)
		if (p->calls[i].type == type && p->calls[i].label == label)
			return &p->calls[i];
	if (p->calls_cnt == PAINS_CALLS_MAX) {
		p->calls_over_cap++;
		return NULL;
	}
	p->calls[p->calls_cnt] = (struct pain_call){ .type = type, .label = label };
	return &p->calls[p->calls_cnt++];
}

void pains_off(struct study *s, const struct moment *m, uint32_t type)
{
	uint64_t ns = m->ts_ns > m->a ? m->ts_ns - m->a : 0;
	const struct task *t = tasktable_find(s->report->account.tasks, m->task);
	const struct pain_poll this = { ns,	   m->task,  m->a,     t ? t->polls : 0,
					m->worker, m->label, m->stack, 0 };
	struct pains *p = s->own;
	struct pain_type *row;
	struct pain_call *c;

	if (ns < PAINS_BLOCK_NS || type == WATCH_NO_TYPE)
		return;
	if (m->label == MOMENT_OFF_PREEMPTED) {
		p->preempted_cnt++;
		p->preempted_ns += ns;
		row = pains_type(s, type);
		if (!row)
			return;
		row->preempted_ns += ns;
		if (ns > row->preempted.ns)
			row->preempted = this;
		return;
	}
	c = pains_call(p, type, m->label);
	if (!c)
		return;
	c->cnt++;
	c->ns += ns;
	if (ns > c->worst.ns)
		c->worst = this;
}

void pains_sample(struct study *s, const struct moment *m, uint32_t worker, uint32_t type)
{
	struct pain_hot *free_at = NULL;
	struct pain_type *t;

	(void)worker;
	if (type == WATCH_NO_TYPE || m->stack == 0)
		return;
	t = pains_type(s, type);
	for (uint32_t i = 0; t && i < PAINS_HOT_MAX; i++) {
		if (t->hot[i].cnt && t->hot[i].stack == m->stack) {
			t->hot[i].cnt++;
			return;
		}
		if (t->hot[i].cnt == 0)
			free_at = &t->hot[i];
	}
	if (free_at)
		*free_at = (struct pain_hot){ m->stack, 1 };
	for (uint32_t i = 0; t && !free_at && i < PAINS_HOT_MAX; i++)
		t->hot[i].cnt--;
}

/* A point of each type's curve; a full curve keeps every second point. */
static void pains_curve(struct study *s, uint64_t ts_ns)
{
	struct pains *p = s->own;
	uint32_t cnt = typetable_cnt(s->report->account.types);
	struct pain_type *t;

	if (!p->curve_step_ns) {
		p->curve_step_ns = PAINS_CURVE_STEP_NS;
		p->curve_next_ns = ts_ns;
	}
	if (ts_ns < p->curve_next_ns)
		return;
	if (p->curve_cnt == PAINS_CURVE_MAX) {
		for (uint32_t i = 0; i < p->types_cnt; i++)
			for (uint32_t k = 0; k < PAINS_CURVE_MAX / 2; k++)
				p->types[i].curve[k] = p->types[i].curve[2 * k];
		p->curve_cnt /= 2;
		p->curve_step_ns *= 2;
	}
	for (uint32_t i = 0; i < cnt; i++) {
		const struct type_row *row = typetable_row(s->report->account.types, i);

		t = pains_type(s, i);
		if (!t)
			return;
		t->curve[p->curve_cnt] =
			row->spawned > row->ended ? (uint32_t)(row->spawned - row->ended) : 0;
	}
	p->curve_cnt++;
	p->curve_next_ns = ts_ns + p->curve_step_ns;
}

/* Wakes by no task: bursts of them within a millisecond. */
static void pains_driver(struct pains *p, uint64_t ts_ns)
{
	if (ts_ns - p->driver_from_ns > PAINS_STORM_NS) {
		p->driver_from_ns = ts_ns;
		p->driver_cnt = 0;
	}
	p->driver_cnt++;
	if (p->driver_cnt == PAINS_STORM_CNT) {
		p->driver_storms++;
		p->driver_storm_wakes += PAINS_STORM_CNT;
	} else if (p->driver_cnt > PAINS_STORM_CNT) {
		p->driver_storm_wakes++;
	}
	if (p->driver_cnt > p->driver_worst) {
		p->driver_worst = p->driver_cnt;
		p->driver_worst_ns = p->driver_from_ns;
	}
}

void pains_moment(struct study *s, const struct moment *m)
{
	struct pains *p = s->own;

	pains_curve(s, m->ts_ns);
	if (m->kind != MOMENT_WAKE)
		return;
	p->wakes++;
	if (m->a == 0)
		pains_driver(p, m->ts_ns);
}

static void pains_queue(struct study *s, const struct d9_ev *ev, int field, uint64_t worker)
{
	struct pains *p = s->own;
	uint64_t depth;

	if (!d9_value_u64(d9_val(ev, field), &depth) ||
	    facts_is_unknown_in(&s->report->facts, ev, field, depth))
		return;
	p->queue_known++;
	if (depth <= p->queue_max || !filter_time(&s->filter, ev->ts_ns))
		return;
	p->queue_max = depth;
	p->queue_at_ns = ev->ts_ns;
	p->queue_worker = worker < MOMENT_WORKERS_MAX ? (uint32_t)worker : MOMENT_NO_WORKER;
}

/* CPU time between an unpark and the next park, where the recorder knows it. */
static void pains_cpu(struct study *s, const struct d9_ev *ev, bool is_park)
{
	int field = is_park ? D9F_worker_park_cpu_time_ns : D9F_worker_unpark_cpu_time_ns;
	struct pain_worker *w = pains_worker(
		s, d9_u64(ev, is_park ? D9F_worker_park_worker_id : D9F_worker_unpark_worker_id,
			  MOMENT_NO_WORKER));
	uint64_t cpu_ns, ns;

	if (!w || !d9_value_u64(d9_val(ev, field), &cpu_ns) ||
	    facts_is_unknown_in(&s->report->facts, ev, field, cpu_ns))
		return;
	ns = ev->ts_ns > w->cpu_at_ns ? ev->ts_ns - w->cpu_at_ns : 0;
	if (is_park && w->has_cpu && ns > 0 && cpu_ns >= w->cpu_ns) {
		w->periods++;
		w->contended += ns > PAINS_DELAY_NS && cpu_ns - w->cpu_ns < ns / 2;
	}
	w->has_cpu = !is_park;
	w->cpu_ns = cpu_ns;
	w->cpu_at_ns = ev->ts_ns;
}

void pains_event(struct study *s, const struct d9_ev *ev)
{
	switch (ev->schema->kind) {
	case D9_EV_RUNTIME_METRICS:
		pains_queue(s, ev, D9F_runtime_metrics_global_queue_depth, MOMENT_NO_WORKER);
		break;
	case D9_EV_QUEUE_SAMPLE:
		pains_queue(s, ev, D9F_queue_sample_global_queue, MOMENT_NO_WORKER);
		break;
	case D9_EV_POLL_START:
		pains_queue(s, ev, D9F_poll_start_local_queue,
			    d9_u64(ev, D9F_poll_start_worker_id, MOMENT_NO_WORKER));
		break;
	case D9_EV_WORKER_PARK:
		pains_cpu(s, ev, true);
		break;
	case D9_EV_WORKER_UNPARK:
		pains_cpu(s, ev, false);
		break;
	default:
		break;
	}
}

void pains_done(struct pains *p)
{
	free(p->types);
	free(p->workers);
}
