// SPDX-License-Identifier: Apache-2.0
/* moment.c - events to moments. */
#include "moment.h"

#include "labels.h"
#include "format/trace.h"

#include <string.h>

static bool moment_worker(const struct d9_ev *ev, int field, uint16_t *ret)
{
	uint64_t id;

	if (!d9_val_u64(ev, field, &id))
		return false;
	*ret = id < MOMENT_WORKERS_MAX ? (uint16_t)id : MOMENT_NO_WORKER;
	return true;
}

static uint32_t moment_label(const struct d9_ev *ev, struct labels *labels, int field)
{
	return labels ? labels_field(labels, ev, field) : 0;
}

static int moment_off_cpu(const struct d9_ev *ev, struct moment *m)
{
	uint64_t reason = d9_u64(ev, D9F_agent_off_cpu_reason, 3), nr;

	if (!d9_val_u64(ev, D9F_agent_off_cpu_out_ns, &m->a))
		return -D9_E_BAD_VALUE;
	m->kind = MOMENT_OFF_CPU;
	m->tid = (uint32_t)d9_u64(ev, D9F_agent_off_cpu_tid, 0);
	m->task = d9_u64(ev, D9F_agent_off_cpu_task_id, 0);
	if (!moment_worker(ev, D9F_agent_off_cpu_worker_id, &m->worker))
		m->worker = MOMENT_NO_WORKER;
	m->label = reason == 0 ? MOMENT_OFF_PREEMPTED : MOMENT_OFF_OTHER;
	/* preempted in the midst of a system call is still preempted: the call did not block */
	if (reason != 0 && d9_val_u64(ev, D9F_agent_off_cpu_syscall, &nr) &&
	    nr <= MOMENT_SYSCALL_MAX)
		m->label = MOMENT_SYSCALL + (uint32_t)nr;
	return 1;
}

static int moment_sample(const struct d9_ev *ev, struct moment *m)
{
	if (d9_u64(ev, D9F_cpu_sample_source, 0) != 0)
		return 0; /* taken at a context switch: OffCpu tells of it */
	m->kind = MOMENT_SAMPLE;
	m->tid = (uint32_t)d9_u64(ev, D9F_cpu_sample_tid, 0);
	if (!moment_worker(ev, D9F_cpu_sample_worker_id, &m->worker) ||
	    m->worker == MOMENT_UNKNOWN_WORKER)
		m->worker = MOMENT_NO_WORKER;
	return 1;
}

/* A level that is not known says nothing of what is missing. */
static void moment_level(const struct d9_ev *ev, struct labels *labels, struct moment *m)
{
	static const struct {
		const char *name;
		uint32_t has;
	} levels[] = { { "stat", 0 },
		       { "polls", MOMENT_HAS_POLLS },
		       { "wakes", MOMENT_HAS_POLLS | MOMENT_HAS_WAKES } };
	struct d9_str name = d9_value_str(d9_val(ev, D9F_agent_level_level)),
		      types = d9_value_str(d9_val(ev, D9F_agent_level_types));

	m->kind = MOMENT_LEVEL;
	m->label = MOMENT_HAS_ALL;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (name.len == strlen(levels[i].name) && !memcmp(name.p, levels[i].name, name.len))
			m->label = levels[i].has;
	m->has_a = types.len > 0;
	if (m->has_a)
		m->a = moment_label(ev, labels, D9F_agent_level_types);
}

#define NEED(field, to) d9_val_u64(ev, (field), (to))

int moment_of(const struct d9_ev *ev, struct labels *labels, struct moment *m)
{
	bool ok = true;

	if (!ev->schema->has_ts)
		return 0;
	*m = (struct moment){ .ts_ns = ev->ts_ns, .worker = MOMENT_NO_WORKER };
	switch (ev->schema->kind) {
	case D9_EV_POLL_START:
		m->kind = MOMENT_POLL_START;
		ok = moment_worker(ev, D9F_poll_start_worker_id, &m->worker) &&
		     NEED(D9F_poll_start_task_id, &m->task);
		m->label = moment_label(ev, labels, D9F_poll_start_spawn_loc);
		break;
	case D9_EV_POLL_END:
		m->kind = MOMENT_POLL_END;
		ok = moment_worker(ev, D9F_poll_end_worker_id, &m->worker);
		break;
	case D9_EV_WORKER_PARK:
		m->kind = MOMENT_PARK;
		ok = moment_worker(ev, D9F_worker_park_worker_id, &m->worker);
		m->tid = (uint32_t)d9_u64(ev, D9F_worker_park_tid, 0);
		break;
	case D9_EV_WORKER_UNPARK:
		m->kind = MOMENT_UNPARK;
		ok = moment_worker(ev, D9F_worker_unpark_worker_id, &m->worker);
		m->tid = (uint32_t)d9_u64(ev, D9F_worker_unpark_tid, 0);
		m->has_a = NEED(D9F_worker_unpark_sched_wait_ns, &m->a);
		break;
	case D9_EV_TASK_SPAWN:
		m->kind = MOMENT_SPAWN;
		ok = NEED(D9F_task_spawn_task_id, &m->task);
		m->label = moment_label(ev, labels, D9F_task_spawn_spawn_loc);
		break;
	case D9_EV_TASK_TERMINATE:
		m->kind = MOMENT_END;
		ok = NEED(D9F_task_terminate_task_id, &m->task);
		break;
	case D9_EV_AGENT_TASK_END:
		m->kind = MOMENT_TASK_END;
		ok = NEED(D9F_agent_task_end_task_id, &m->task);
		m->a = d9_u64(ev, D9F_agent_task_end_cause, 0);
		break;
	case D9_EV_WAKE:
		m->kind = MOMENT_WAKE;
		ok = NEED(D9F_wake_woken_task_id, &m->task);
		m->a = d9_u64(ev, D9F_wake_waker_task_id, 0);
		break;
	case D9_EV_AGENT_ALIVE:
		m->kind = MOMENT_ALIVE;
		ok = NEED(D9F_agent_alive_task_id, &m->task);
		m->label = moment_label(ev, labels, D9F_agent_alive_type);
		break;
	case D9_EV_AGENT_NESTED_POLL:
		m->kind = MOMENT_NESTED;
		ok = moment_worker(ev, D9F_agent_nested_poll_worker_id, &m->worker) &&
		     NEED(D9F_agent_nested_poll_task_id, &m->task) &&
		     NEED(D9F_agent_nested_poll_start_ns, &m->a);
		m->label = moment_label(ev, labels, D9F_agent_nested_poll_spawn_loc);
		break;
	case D9_EV_AGENT_BLOCKING:
		m->kind = MOMENT_BLOCKING;
		ok = NEED(D9F_agent_blocking_task_id, &m->task) &&
		     NEED(D9F_agent_blocking_start_ns, &m->a);
		m->tid = (uint32_t)d9_u64(ev, D9F_agent_blocking_tid, 0);
		m->label = moment_label(ev, labels, D9F_agent_blocking_type);
		break;
	case D9_EV_AGENT_INFERRED_END:
		m->kind = MOMENT_INFERRED;
		ok = moment_worker(ev, D9F_agent_inferred_end_worker_id, &m->worker) &&
		     NEED(D9F_agent_inferred_end_task_id, &m->task);
		m->a = d9_u64(ev, D9F_agent_inferred_end_rule, 0);
		break;
	case D9_EV_AGENT_PARKS:
		m->kind = MOMENT_PARKS;
		ok = NEED(D9F_agent_parks_from_ns, &m->a) && NEED(D9F_agent_parks_to_ns, &m->b);
		moment_worker(ev, D9F_agent_parks_worker_id, &m->worker);
		m->tid = (uint32_t)d9_u64(ev, D9F_agent_parks_tid, 0);
		m->label = (uint32_t)d9_u64(ev, D9F_agent_parks_parks, 0);
		m->task = d9_u64(ev, D9F_agent_parks_parked_ns, 0);
		m->c = d9_u64(ev, D9F_agent_parks_delayed_ns, 0);
		break;
	case D9_EV_AGENT_LEVEL:
		moment_level(ev, labels, m);
		break;
	case D9_EV_CPU_SAMPLE:
		return moment_sample(ev, m);
	case D9_EV_AGENT_OFF_CPU:
		return moment_off_cpu(ev, m);
	default:
		return 0;
	}
	return ok ? 1 : -D9_E_BAD_VALUE;
}
