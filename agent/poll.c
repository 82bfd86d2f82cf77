// SPDX-License-Identifier: Apache-2.0
/* poll.c - see poll.h. */
#include "agent/poll.h"

#include "agent/life.h"
#include "agent/names.h"
#include "agent/offcpu.h"
#include "agent/track_state.h"

_Static_assert(THREAD_DEPTH == WIRE_POLL_DEPTH, "depth");

/*
 * In current_thread runtimes that were not optimised across crates, Tokio also comes by schedule()
 * when it spawns a task, and when a poll that was woken in its course gives the task back. Neither is
 * a wake: a new task is runnable from the start, and the second is the NOTIFIED end of that poll.
 */
static bool is_own_schedule(struct track *t, const struct task *task, const struct wire_wake *rec)
{
	return rec->waker_id == rec->woken_id || (task && task->is_unpolled) ||
	       (!task && spawns_is_pending(t->spawns, rec->woken_id));
}

bool poll_wake(struct track *t, const struct wire_wake *rec)
{
	struct task *task = tasks_find(t->tasks, rec->woken_id);

	if (is_own_schedule(t, task, rec))
		return false;
	wake_scheduled(t, task, rec->head.ts_ns, rec->waker_id, rec->woken_id,
		       threads_find(t->threads, (pid_t)rec->head.tid));
	return true;
}

/* ---- ends ---- */

static void put_nested(struct track *t, struct thread *th, const struct poll *p, uint64_t ts_ns)
{
	const struct poll *outer = thread_async_poll(th); /* `p` is off the stack already */

	t->stats.nested_polls++;
	emit_put_agent_nested_poll(
		t->e, ts_ns,
		&(struct d9_agent_nested_poll){ .worker_id = poll_worker_id(th),
						.task_id = p->task_id,
						.outer_task_id = outer ? outer->task_id : 0,
						.start_ns = p->start_ns,
						.spawn_loc = p->name });
}

static void put_blocking(struct track *t, struct thread *th, const struct poll *p, uint64_t ts_ns)
{
	t->stats.blocking_polls++;
	emit_put_agent_blocking(t->e, ts_ns,
				&(struct d9_agent_blocking){ .task_id = p->task_id,
							     .tid = (uint32_t)th->tid,
							     .has_queued_ns = p->queued_ns != 0,
							     .queued_ns = p->queued_ns,
							     .start_ns = p->start_ns,
							     .type = p->name });
}

static void close_one(struct track *t, struct thread *th, unsigned d, uint64_t ts_ns,
		      enum worker_rule rule)
{
	struct poll *p = &th->polls[d];
	bool is_seen = rule != RULE_FINISH; /* its end is not to come, as it would at the finish */

	switch (p->kind) {
	case POLL_WORKER:
		workers_poll_end(t->workers, th, p, ts_ns, rule);
		break;
	case POLL_NESTED:
		if (!is_seen)
			break;
		put_nested(t, th, p, ts_ns);
		t->stats.inferred_ends += rule != RULE_EXACT;
		break;
	case POLL_BLOCKING:
		if (p->is_launch || !is_seen)
			break;
		put_blocking(t, th, p, ts_ns);
		t->stats.inferred_ends += rule != RULE_EXACT;
		break;
	default:
		break;
	}
	p->kind = POLL_NONE;
}

void poll_close(struct track *t, struct thread *th, unsigned from, uint64_t ts_ns,
		enum worker_rule rule)
{
	while (th->depth > from)
		close_one(t, th, --th->depth, ts_ns, rule);
}

static enum life_cause cause_of(const struct track *t, const struct wire_poll_end *rec,
				bool was_cancelled)
{
	uint8_t flags = rec->head.flags;

	/* A panic while being dropped is a cancel all the same. */
	if (was_cancelled || (flags & WIRE_END_CANCELLED && !(flags & WIRE_END_RAISED)))
		return CAUSE_CANCELLED;
	if (flags & WIRE_END_RAISED)
		return CAUSE_PANICKED;
	return t->o.has_raise ? CAUSE_FINISHED : CAUSE_FINISHED_OR_PANICKED;
}

static bool is_overtaken(struct track *t, const struct poll *p)
{
	const struct task *task = p->overtaken_ns ? tasks_find(t->tasks, p->task_id) : NULL;

	return task && p->worker && task->polled_by != p->worker->id + 1u;
}

bool poll_end(struct track *t, const struct wire_poll_end *rec)
{
	struct thread *th = threads_find(t->threads, (pid_t)rec->head.tid);
	uint8_t flags = rec->head.flags;
	uint64_t ts = rec->head.ts_ns;
	enum worker_rule rule = RULE_EXACT;
	bool was_cancelled, is_async, is_written;
	struct poll *p;

	if (flags & WIRE_END_INFERRED)
		rule = rec->rule && rec->rule <= RULE_SWITCH_OUT ? rec->rule : RULE_LOST;
	if (!th || rec->depth >= th->depth || th->polls[rec->depth].kind == POLL_NONE ||
	    th->polls[rec->depth].task_id != rec->task_id) {
		t->stats.unpaired_ends++;
		if (th && rec->depth < th->depth)
			poll_close(t, th, rec->depth, ts, RULE_LOST);
		/* Of a task that we know, the end is news; of another, it may be a blocking one's. */
		return flags & WIRE_END_TASK_ENDED && tasks_find(t->tasks, rec->task_id) &&
		       life_end(t, rec->task_id, ts, cause_of(t, rec, false));
	}
	poll_close(t, th, rec->depth + 1u, ts, RULE_LOST);
	p = &th->polls[rec->depth];
	is_async = p->kind != POLL_BLOCKING;
	is_written = p->kind != POLL_UNPLACED;
	was_cancelled = p->was_cancelled;
	/* Woken during its own poll: when is not known, but it is runnable from here on. */
	if (is_async && flags & WIRE_END_NOTIFIED && !(flags & WIRE_END_TASK_ENDED)) {
		struct task *task = tasks_find(t->tasks, rec->task_id);

		wake_notified(t, task, rec->task_id, ts, th,
			      !task || p->kind != POLL_WORKER ||
				      task->polled_by == p->worker->id + 1u);
	}
	th->depth = rec->depth;
	close_one(t, th, rec->depth, ts, rule);
	/* It is the poll that ended it which says so, not one that another worker has overtaken. */
	if (is_async && flags & WIRE_END_TASK_ENDED && !is_overtaken(t, p))
		is_written |= life_end(t, rec->task_id, ts, cause_of(t, rec, was_cancelled));
	return is_written;
}

/* ---- starts ---- */

static bool start_blocking(struct track *t, struct thread *th, struct poll *p,
			   const struct place_type *type)
{
	struct spawn_birth birth;

	p->kind = POLL_BLOCKING;
	p->name = type->name;
	p->is_launch = type->is_launch;
	if (spawns_take(t->spawns, p->task_id, 0, p->start_ns, &birth) && birth.is_sure)
		p->queued_ns = birth.ts_ns;
	/* A thread takes a new task from the pool: whatever worker it was, it is no more. */
	if (!thread_async_poll(th)) {
		workers_release(t->workers, th, p->start_ns);
		th->is_pool = !p->is_launch;
	}
	return true;
}

/* An async poll of worker `w` (NULL = unplaced) stands on the thread's blocking task, if there is
 * one. Below a multi_thread worker's poll it is that worker's launch. */
static void mark_blocking(struct track *t, struct thread *th, const struct worker *w)
{
	for (unsigned d = 0; d + 1u < th->depth; d++) {
		struct poll *p = &th->polls[d];

		if (p->kind != POLL_BLOCKING)
			continue;
		p->has_async = true;
		if (p->is_launch || !w || w->runtime->kind != RUNTIME_MULTI)
			continue;
		p->is_launch = true;
		places_type(t->places, p->vtable)->is_launch = true;
		th->is_pool = false;
	}
}

static struct worker *place(struct track *t, struct thread *th, const struct wire_poll_start *rec)
{
	struct worker *w = th->worker;

	if (!(rec->head.flags & WIRE_START_UNREAD) && rec->owner_id)
		w = workers_place(t->workers, th, rec->owner_id, rec->head.ts_ns);
	if (!w || w->runtime->kind == RUNTIME_UNSEATED)
		t->stats.unknown_worker++;
	return w;
}

/* A task is polled by one worker at a time: its poll here shows that the one there is over. Where
 * ends are inferred, that is its end; where they are exact, it has only not got there yet. */
static void overtake(struct track *t, struct task *task, const struct poll *p)
{
	struct worker *w;

	w = task->polled_by ? runtimes_worker(t->runtimes, task->polled_by - 1u) : NULL;
	if (!w || w == p->worker || !w->open || w->open->task_id != p->task_id)
		return;
	if (t->o.has_exact_ends) {
		if (!w->open->overtaken_ns)
			w->open->overtaken_ns = p->start_ns;
		wake_overtaken(t, task, p->start_ns, w->holder);
	} else {
		workers_poll_end(t->workers, w->holder, w->open, p->start_ns, RULE_ELSEWHERE);
	}
}

/* The task's last wake has led to this poll. */
static void arrive(struct track *t, const struct poll *p)
{
	struct task *task = tasks_find(t->tasks, p->task_id);

	if (!task)
		return;
	if (p->worker) {
		overtake(t, task, p);
		task->polled_by = (uint16_t)(p->worker->id + 1);
	}
	wake_due(t, task);
}

bool poll_start(struct track *t, const struct wire_poll_start *rec)
{
	struct thread *th = threads_get(t->threads, (pid_t)rec->head.tid);
	bool is_unread = rec->head.flags & WIRE_START_UNREAD;
	uint64_t ts = rec->head.ts_ns;
	bool is_nested;
	struct poll *p;

	if (!th || rec->depth >= THREAD_DEPTH || !t->has_polls)
		return false;
	if (th->off_slot)
		offcpu_drop(t, th);
	if (th->depth > rec->depth)
		poll_close(t, th, rec->depth, ts, RULE_NEXT_START);
	while (th->depth < rec->depth)
		th->polls[th->depth++].kind = POLL_NONE;
	is_nested = thread_async_poll(th);
	p = &th->polls[th->depth];
	*p = (struct poll){ .task_id = rec->task_id,
			    .start_ns = ts,
			    .vtable = rec->vtable,
			    .was_cancelled = rec->head.flags & WIRE_START_CANCELLED };
	if (!is_unread && (!rec->owner_id || (!tasks_find(t->tasks, rec->task_id) &&
					      places_type(t->places, rec->vtable)->is_blocking))) {
		start_blocking(t, th, p, places_type(t->places, rec->vtable));
		th->depth++;
		return true;
	}
	p->name = NAMES_UNKNOWN;
	if (is_nested) {
		bool is_known;

		if (!is_unread)
			p->name = life_polled(
				t, rec, runtimes_by_owner(t->runtimes, rec->owner_id, &is_known));
		p->kind = POLL_NESTED;
		th->depth++;
		arrive(t, p);
		return true;
	}
	p->worker = place(t, th, rec);
	p->kind = p->worker ? POLL_WORKER : POLL_UNPLACED;
	if (!is_unread) {
		const struct runtime *rt = p->worker ? p->worker->runtime : NULL;

		p->name = life_polled(t, rec, rt && rt->owner_id ? rt : NULL);
	}
	th->depth++;
	mark_blocking(t, th, p->worker);
	arrive(t, p);
	if (!p->worker)
		return false;
	unread_note(&t->unread, t->e, p->worker, rec->local_queue != WIRE_QUEUE_UNKNOWN, ts);
	workers_poll_start(t->workers, p,
			   rec->local_queue == WIRE_QUEUE_UNKNOWN ? 0 : rec->local_queue);
	return true;
}

bool poll_seen(struct track *t, const struct wire_task_seen *rec)
{
	struct thread *th = threads_get(t->threads, (pid_t)rec->head.tid);
	const struct wire_poll_start start = {
		.head = rec->head,
		.task_id = rec->task_id,
		.vtable = rec->vtable,
		.owner_id = rec->owner_id,
	};
	struct worker *w;

	if (!th || t->has_polls || rec->is_blocking || !rec->owner_id)
		return false;
	w = workers_place(t->workers, th, rec->owner_id, rec->head.ts_ns);
	life_polled(t, &start, w && w->runtime->owner_id ? w->runtime : NULL);
	return true;
}

uint32_t poll_worker_id(struct thread *th)
{
	const struct poll *p = thread_async_poll(th);

	if (th->depth && th->polls[th->depth - 1].kind == POLL_BLOCKING &&
	    !th->polls[th->depth - 1].is_launch)
		return WORKER_BLOCKING;
	if (p && p->handoff_ns)
		return WORKER_UNKNOWN;
	if (th->worker)
		return th->worker->id;
	return th->is_pool ? WORKER_BLOCKING : WORKER_UNKNOWN;
}
