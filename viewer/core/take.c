// SPDX-License-Identifier: Apache-2.0
/* take.c - one small function for each kind of event. */
#include "take.h"

#include "gather.h"
#include "record.h"
#include "format/trace.h"

#include <string.h>

#define TAKE_NOWHERE_IDS 254u /* 254 and 255 are "no worker" in samples and wakes */
#define TAKE_FACTS_MAX 4096u /* metadata keys kept; further ones are counted in odd */

static void take_span_of_time(struct gather *g, uint64_t ts_ns)
{
	struct gather_segment *s = &g->segment;

	if (ts_ns == 0)
		return;
	if (ts_ns < g->odd.first_ns || g->odd.first_ns == 0)
		g->odd.first_ns = ts_ns;
	if (ts_ns > g->odd.last_ns)
		g->odd.last_ns = ts_ns;
	if (ts_ns < s->first_ns || s->first_ns == 0)
		s->first_ns = ts_ns;
	if (ts_ns > s->last_ns)
		s->last_ns = ts_ns;
}

static bool take_need(struct gather *g, const struct d9_ev *ev, int field, uint64_t *ret)
{
	if (d9_value_u64(d9_val(ev, field), ret))
		return true;
	g->odd.bad_fields++;
	return false;
}

static uint16_t take_queue_of(const struct d9_ev *ev, int field)
{
	uint64_t depth = d9_u64(ev, field, COLUMNS_QUEUE_UNKNOWN);

	return depth < COLUMNS_QUEUE_UNKNOWN ? (uint16_t)depth : COLUMNS_QUEUE_UNKNOWN;
}

static struct gather_moment *take_moment(struct gather *g, const struct d9_ev *ev, int field,
					 enum gather_kind kind)
{
	struct gather_moment *m;
	uint64_t worker;

	if (!take_need(g, ev, field, &worker))
		return NULL;
	m = gather_row(g, &g->moments);
	if (m)
		*m = (struct gather_moment){ .ts_ns = ev->ts_ns,
					     .lane = gather_lane(g, COLUMNS_WORKER, worker),
					     .kind = (uint8_t)kind,
					     .task = COLUMNS_NONE,
					     .queue = COLUMNS_QUEUE_UNKNOWN };
	take_span_of_time(g, ev->ts_ns);
	return m;
}

static void take_poll_start(struct gather *g, const struct d9_ev *ev)
{
	struct gather_moment *m = take_moment(g, ev, D9F_poll_start_worker_id, GATHER_START);
	struct gather_task *t;

	if (!m)
		return;
	m->place = gather_text(g, ev, d9_val(ev, D9F_poll_start_spawn_loc));
	m->queue = take_queue_of(ev, D9F_poll_start_local_queue);
	m->task = gather_task(g, d9_u64(ev, D9F_poll_start_task_id, 0));
	t = gather_task_row(g, m->task);
	if (t && !t->place)
		t->place = m->place;
}

static void take_parked(struct gather *g, const struct d9_ev *ev, enum gather_kind kind)
{
	bool is_park = kind == GATHER_PARK;
	struct gather_moment *m = take_moment(
		g, ev, is_park ? D9F_worker_park_worker_id : D9F_worker_unpark_worker_id, kind);
	struct gather_binding *b;
	struct gather_park *p;

	if (!m)
		return;
	m->task = (uint32_t)g->parks.cnt;
	p = gather_row(g, &g->parks);
	if (!p)
		return;
	p->cpu_ns = d9_u64(
		ev, is_park ? D9F_worker_park_cpu_time_ns : D9F_worker_unpark_cpu_time_ns, 0);
	p->delay_ns =
		is_park ? UINT64_MAX : d9_u64(ev, D9F_worker_unpark_sched_wait_ns, UINT64_MAX);
	p->tid = (uint32_t)d9_u64(ev, is_park ? D9F_worker_park_tid : D9F_worker_unpark_tid, 0);
	if (p->tid == 0 || (m->lane < 1024 && g->tid_of[m->lane] == p->tid))
		return;
	if (m->lane < 1024)
		g->tid_of[m->lane] = p->tid;
	b = gather_row(g, &g->bindings);
	if (b)
		*b = (struct gather_binding){ ev->ts_ns, m->lane, p->tid };
}

static void take_inferred(struct gather *g, const struct d9_ev *ev)
{
	struct gather_moment *m =
		take_moment(g, ev, D9F_agent_inferred_end_worker_id, GATHER_INFERRED);

	if (!m)
		return;
	m->rule = (uint8_t)d9_u64(ev, D9F_agent_inferred_end_rule, 0);
	m->task = gather_task(g, d9_u64(ev, D9F_agent_inferred_end_task_id, 0));
}

static void take_born(struct gather *g, const struct d9_ev *ev, int id_field, int place_field,
		      uint8_t flag)
{
	struct gather_task *t = gather_task_row(g, gather_task(g, d9_u64(ev, id_field, 0)));

	if (!t)
		return;
	t->flags |= flag;
	if (flag == COLUMNS_TASK_SPAWNED)
		t->spawn_ns = ev->ts_ns;
	if (!t->place)
		t->place = gather_text(g, ev, d9_val(ev, place_field));
	take_span_of_time(g, ev->ts_ns);
}

static void take_ended(struct gather *g, const struct d9_ev *ev, int field, uint64_t cause)
{
	struct gather_task *t = gather_task_row(g, gather_task(g, d9_u64(ev, field, 0)));

	if (!t)
		return;
	t->end_ns = ev->ts_ns;
	if (cause && cause < 256)
		t->cause = (uint8_t)cause;
}

static void take_wake(struct gather *g, const struct d9_ev *ev)
{
	uint64_t worker = d9_u64(ev, D9F_wake_target_worker, TAKE_NOWHERE_IDS), woken;
	struct gather_wake *w;

	if (!take_need(g, ev, D9F_wake_woken_task_id, &woken))
		return;
	w = gather_row(g, &g->wakes);
	if (w)
		*w = (struct gather_wake){
			ev->ts_ns,
			worker < TAKE_NOWHERE_IDS ? gather_lane(g, COLUMNS_WORKER, worker) : 0,
			gather_task(g, woken),
			gather_task(g, d9_u64(ev, D9F_wake_waker_task_id, 0)),
		};
	take_span_of_time(g, ev->ts_ns);
}

static void take_sample(struct gather *g, const struct d9_ev *ev)
{
	uint64_t worker = d9_u64(ev, D9F_cpu_sample_worker_id, TAKE_NOWHERE_IDS);
	uint32_t tid = (uint32_t)d9_u64(ev, D9F_cpu_sample_tid, 0);
	struct gather_sample *s = gather_row(g, &g->samples);

	if (s)
		*s = (struct gather_sample){
			ev->ts_ns,
			worker < TAKE_NOWHERE_IDS ? gather_lane(g, COLUMNS_WORKER, worker) : 0,
			(uint8_t)d9_u64(ev, D9F_cpu_sample_source, 0),
			false,
			tid,
			gather_stack(g, ev, d9_val(ev, D9F_cpu_sample_callchain)),
			gather_text(g, ev, d9_val(ev, D9F_cpu_sample_thread_name)),
			gather_sampled_task(g, ev->ts_ns, tid),
		};
	take_span_of_time(g, ev->ts_ns);
}

static void take_off(struct gather *g, const struct d9_ev *ev)
{
	uint64_t worker = d9_u64(ev, D9F_agent_off_cpu_worker_id, UINT64_MAX), out_ns;
	uint64_t syscall = d9_u64(ev, D9F_agent_off_cpu_syscall, COLUMNS_NO_SYSCALL);
	struct gather_off *o;

	if (!take_need(g, ev, D9F_agent_off_cpu_out_ns, &out_ns))
		return;
	o = gather_row(g, &g->offs);
	if (!o)
		return;
	*o = (struct gather_off){
		.ts_ns = out_ns,
		.end_ns = ev->ts_ns > out_ns ? ev->ts_ns : out_ns,
		.lane = worker != UINT64_MAX ? gather_lane(g, COLUMNS_WORKER, worker) : 0,
		.reason = (uint8_t)d9_u64(ev, D9F_agent_off_cpu_reason, 3),
		.tid = (uint32_t)d9_u64(ev, D9F_agent_off_cpu_tid, 0),
		.stack = gather_stack(g, ev, d9_val(ev, D9F_agent_off_cpu_callchain)),
		.syscall = syscall < COLUMNS_NO_SYSCALL ? (uint16_t)syscall : COLUMNS_NO_SYSCALL,
	};
	o->task = gather_task(g, d9_u64(ev, D9F_agent_off_cpu_task_id, 0));
	take_span_of_time(g, ev->ts_ns);
}

static void take_nested(struct gather *g, const struct d9_ev *ev)
{
	uint64_t worker, start_ns;
	struct gather_span *s;

	if (!take_need(g, ev, D9F_agent_nested_poll_worker_id, &worker) ||
	    !take_need(g, ev, D9F_agent_nested_poll_start_ns, &start_ns))
		return;
	s = gather_row(g, &g->spans);
	if (!s)
		return;
	*s = (struct gather_span){ .ts_ns = start_ns,
				   .end_ns = ev->ts_ns,
				   .lane = gather_lane(g, COLUMNS_NESTED, worker),
				   .place = gather_text(
					   g, ev, d9_val(ev, D9F_agent_nested_poll_spawn_loc)) };
	s->task = gather_task(g, d9_u64(ev, D9F_agent_nested_poll_task_id, 0));
}

static void take_blocking(struct gather *g, const struct d9_ev *ev)
{
	struct gather_task *t;
	struct gather_span *s;
	uint64_t start_ns;

	if (!take_need(g, ev, D9F_agent_blocking_start_ns, &start_ns))
		return;
	s = gather_row(g, &g->spans);
	if (!s)
		return;
	*s = (struct gather_span){
		.ts_ns = start_ns,
		.end_ns = ev->ts_ns,
		.lane = gather_lane(g, COLUMNS_BLOCKING, d9_u64(ev, D9F_agent_blocking_tid, 0)),
		.place = gather_text(g, ev, d9_val(ev, D9F_agent_blocking_type)),
		.ready_ns = d9_u64(ev, D9F_agent_blocking_queued_ns, 0),
	};
	s->task = gather_task(g, d9_u64(ev, D9F_agent_blocking_task_id, 0));
	t = gather_task_row(g, s->task);
	if (t && !t->place)
		t->place = s->place;
	take_span_of_time(g, ev->ts_ns);
}

static void take_queue(struct gather *g, const struct d9_ev *ev, uint32_t runtime, uint64_t depth,
		       uint64_t alive)
{
	struct gather_queue *q = gather_row(g, &g->queues);

	if (q)
		*q = (struct gather_queue){ ev->ts_ns, 0, runtime,
					    depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX,
					    alive < UINT32_MAX ? (uint32_t)alive : UINT32_MAX };
	take_span_of_time(g, ev->ts_ns);
}

static void take_symbol(struct gather *g, const struct d9_ev *ev)
{
	struct gather_symbol *s = gather_row(g, &g->symbols);

	if (s)
		*s = (struct gather_symbol){
			gather_frame(g, d9_u64(ev, D9F_symbol_addr, 0)),
			(uint32_t)d9_u64(ev, D9F_symbol_inline_depth, 0),
			gather_text(g, ev, d9_val(ev, D9F_symbol_symbol_name)),
			gather_text(g, ev, d9_val(ev, D9F_symbol_source_file)),
			(uint32_t)d9_u64(ev, D9F_symbol_source_line, 0),
		};
}

static void take_fact(struct gather *g, uint32_t key, uint32_t value)
{
	struct gather_fact *f;

	for (size_t i = 0; i < g->facts.cnt; i++) {
		f = rows_at(&g->facts, i);
		if (f->key == key) {
			f->value = value;
			return;
		}
	}
	if (g->facts.cnt >= TAKE_FACTS_MAX) {
		g->odd.over_cap++;
		return;
	}
	f = gather_row(g, &g->facts);
	if (f)
		*f = (struct gather_fact){ key, value };
}

static void take_metadata(struct gather *g, const struct d9_ev *ev)
{
	const struct d9_value *map = d9_val(ev, D9F_segment_metadata_entries);
	struct d9_iter it = { 0 };
	struct d9_pair p;
	uint32_t value;

	while (map && d9_map_next(map, &it, &p)) {
		value = dict_put(&g->texts, p.val.p, p.val.len, &g->err);
		take_fact(g, dict_put(&g->texts, p.key.p, p.key.len, &g->err), value);
		if (p.key.len != 13 || memcmp(p.key.p, "agent.session", 13) != 0)
			continue;
		/* the recorder was started again: nothing is known of the time between */
		if (g->session && g->session != value)
			gather_gap(g);
		g->session = value;
	}
}

static void take_clock(struct gather *g, const struct d9_ev *ev)
{
	uint64_t realtime_ns = d9_u64(ev, D9F_clock_sync_realtime_ns, 0);
	struct gather_clock *k = realtime_ns ? gather_row(g, &g->clocks) : NULL;

	if (k)
		*k = (struct gather_clock){ ev->ts_ns, 0, realtime_ns };
}

void take_event(struct gather *g, const struct d9_ev *ev)
{
	g->odd.events++;
	g->segment.events++;
	switch (ev->schema->kind) {
	case D9_EV_POLL_START:
		take_poll_start(g, ev);
		break;
	case D9_EV_POLL_END:
		take_moment(g, ev, D9F_poll_end_worker_id, GATHER_END);
		break;
	case D9_EV_WORKER_PARK:
		take_parked(g, ev, GATHER_PARK);
		break;
	case D9_EV_WORKER_UNPARK:
		take_parked(g, ev, GATHER_UNPARK);
		break;
	case D9_EV_WAKE:
		take_wake(g, ev);
		break;
	case D9_EV_TASK_SPAWN:
		take_born(g, ev, D9F_task_spawn_task_id, D9F_task_spawn_spawn_loc,
			  COLUMNS_TASK_SPAWNED);
		break;
	case D9_EV_TASK_TERMINATE:
		take_ended(g, ev, D9F_task_terminate_task_id, 0);
		break;
	case D9_EV_AGENT_TASK_END:
		take_ended(g, ev, D9F_agent_task_end_task_id,
			   d9_u64(ev, D9F_agent_task_end_cause, 0));
		break;
	case D9_EV_AGENT_ALIVE:
		take_born(g, ev, D9F_agent_alive_task_id, D9F_agent_alive_type, COLUMNS_TASK_OLD);
		break;
	case D9_EV_AGENT_INFERRED_END:
		take_inferred(g, ev);
		break;
	case D9_EV_CPU_SAMPLE:
		take_sample(g, ev);
		break;
	case D9_EV_AGENT_SAMPLE:
		gather_sampled(g, ev);
		record_gather(g, ev);
		break;
	case D9_EV_AGENT_OFF_CPU:
		take_off(g, ev);
		break;
	case D9_EV_AGENT_NESTED_POLL:
		take_nested(g, ev);
		break;
	case D9_EV_AGENT_BLOCKING:
		take_blocking(g, ev);
		break;
	case D9_EV_RUNTIME_METRICS:
		take_queue(g, ev, gather_text(g, ev, d9_val(ev, D9F_runtime_metrics_runtime_name)),
			   d9_u64(ev, D9F_runtime_metrics_global_queue_depth, UINT32_MAX),
			   d9_u64(ev, D9F_runtime_metrics_alive_tasks, UINT32_MAX));
		break;
	case D9_EV_QUEUE_SAMPLE:
		take_queue(g, ev, 0, d9_u64(ev, D9F_queue_sample_global_queue, UINT32_MAX),
			   d9_u64(ev, D9F_queue_sample_active_tasks, UINT32_MAX));
		break;
	case D9_EV_SYMBOL:
		take_symbol(g, ev);
		break;
	case D9_EV_CLOCK_SYNC:
		take_clock(g, ev);
		break;
	case D9_EV_SEGMENT_METADATA:
		take_metadata(g, ev);
		break;
	default:
		record_gather(g, ev);
		break;
	}
}
