// SPDX-License-Identifier: Apache-2.0
/* life.c - see life.h. */
#include "agent/life.h"

#include "agent/names.h"
#include "agent/track_state.h"

/* Id of the worker this thread is, UINT32_MAX if none. */
static uint32_t worker_of(struct track *t, uint32_t tid)
{
	const struct thread *th = threads_find(t->threads, (pid_t)tid);

	return th && th->worker ? th->worker->id : UINT32_MAX;
}

bool life_spawn_id(struct track *t, const struct wire_spawn_id *rec)
{
	return spawns_drawn(t->spawns, rec, worker_of(t, rec->head.tid));
}

bool life_bind(struct track *t, const struct wire_bind *rec)
{
	struct spawn_task st = {.task_id = rec->task_id, .vtable = rec->vtable};
	struct spawn_birth birth;
	struct task *task;

	if (!rec->task_id || tasks_find(t->tasks, rec->task_id) ||
	    tasks_has_ended(t->tasks, rec->task_id))
		return false; /* polled before its bind arrived: announced already */
	st.name = places_spawn(t->places, rec->location, rec->return_addr, rec->vtable);
	spawns_take(t->spawns, rec->task_id, rec->head.tid, rec->head.ts_ns, &birth);
	task = tasks_add(t->tasks, rec->task_id);
	if (task) {
		task->name = st.name;
		task->is_unpolled = true;
		if (rec->owned_tasks)
			task->list = tasklists_bound(&t->lists, rec->owned_tasks);
	} else {
		t->stats.tasks_over_cap++;
	}
	spawns_put(t->spawns, &st, rec->head.ts_ns, worker_of(t, rec->head.tid));
	return true;
}

static uint32_t first_sight(struct track *t, const struct wire_poll_start *rec,
			    const struct runtime *rt)
{
	struct spawn_task st = {
		.task_id = rec->task_id,
		.vtable = rec->vtable,
		.seen_ns = rec->head.ts_ns,
		.type_name = places_type(t->places, rec->vtable)->name,
		.name = places_spawn(t->places, rec->location, 0, rec->vtable),
	};
	struct spawn_birth birth;
	struct task *task;

	if (tasks_has_ended(t->tasks, rec->task_id))
		return st.name; /* a late record: it was announced */
	task = tasks_add(t->tasks, rec->task_id);
	if (!task) {
		t->stats.tasks_over_cap++; /* announced only if it can be remembered: once */
		return st.name;
	}
	task->name = st.name;
	if (rt)
		task->list = tasklists_polled(&t->lists, TASK_NO_LIST, rt->owner_id);
	if (!spawns_take(t->spawns, rec->task_id, 0, rec->head.ts_ns, &birth))
		spawns_put_alive(t->spawns, &st);
	else if (birth.is_sure)
		spawns_put(t->spawns, &st, birth.ts_ns, birth.worker_id);
	else
		spawns_defer(t->spawns, &st, &birth);
	return st.name;
}

uint32_t life_polled(struct track *t, const struct wire_poll_start *rec, const struct runtime *rt)
{
	struct task *task = tasks_find(t->tasks, rec->task_id);

	if (!task)
		return first_sight(t, rec, rt);
	task->is_fresh = true;
	if (task->is_unpolled) {
		task->is_unpolled = false;
		if (rt)
			task->list = tasklists_polled(&t->lists, task->list, rt->owner_id);
	}
	return task->name;
}

bool life_end(struct track *t, uint64_t task_id, uint64_t ts_ns, enum life_cause cause)
{
	struct task *task = tasks_find(t->tasks, task_id);

	if (!task && tasks_has_ended(t->tasks, task_id))
		return false;
	if (task) {
		wake_due(t, task);
		tasklists_ended(&t->lists, task->list);
	}
	tasks_end(t->tasks, task_id);
	if (!t->o.has_task_events)
		return true;
	t->stats.ends++;
	emit_put_task_terminate(t->e, ts_ns, &(struct d9_task_terminate){.task_id = task_id});
	emit_put_agent_task_end(
		t->e, ts_ns,
		&(struct d9_agent_task_end){.task_id = task_id, .cause = (uint8_t)cause});
	return true;
}

bool life_shutdown(struct track *t, const struct wire_shutdown *rec)
{
	struct spawn_task st = {.task_id = rec->task_id, .seen_ns = rec->head.ts_ns};
	struct spawn_birth birth;

	/* Spawned and never polled. Where binds are seen, one without a bind is a blocking task
	 * that was still queued: none of ours. */
	if (!tasks_find(t->tasks, rec->task_id) &&
	    spawns_take(t->spawns, rec->task_id, 0, rec->head.ts_ns, &birth)) {
		if (t->o.has_bind)
			return false;
		st.name = st.type_name = NAMES_UNKNOWN;
		if (birth.is_sure)
			spawns_put(t->spawns, &st, birth.ts_ns, birth.worker_id);
	}
	return life_end(t, rec->task_id, rec->head.ts_ns, CAUSE_SHUTDOWN);
}
