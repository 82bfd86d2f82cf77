// SPDX-License-Identifier: Apache-2.0
/* wake.c - see wake.h. */
#include "agent/wake.h"

#include "agent/track_state.h"

/* The field holds 8 bits: a worker of a higher id reads as "not a worker". */
static uint8_t worker_id(const struct thread *th)
{
	const struct worker *w = th ? th->worker : NULL;

	return w && w->id < WORKER_BLOCKING ? (uint8_t)w->id : WORKER_UNKNOWN;
}

static void put(struct track *t, uint64_t ts_ns, uint64_t waker, uint64_t woken, uint8_t worker)
{
	t->stats.wakes++;
	emit_put_wake(t->e, ts_ns,
		      &(struct d9_wake){.waker_task_id = waker,
					.woken_task_id = woken,
					.target_worker = worker});
}

static bool take(struct wakes *wakes, uint64_t task_id, struct wake_held *ret)
{
	for (uint32_t i = 0; i < wakes->held_cnt; i++)
		if (wakes->held[i].task_id == task_id) {
			*ret = wakes->held[i];
			wakes->held[i] = wakes->held[--wakes->held_cnt];
			return true;
		}
	return false;
}

void wake_scheduled(struct track *t, struct task *task, uint64_t ts_ns, uint64_t waker_id,
		    uint64_t woken_id, const struct thread *th)
{
	struct wake_held held;

	if (task) {
		if (task->has_held_wake)
			take(&t->wakes, woken_id, &held); /* its NOTIFIED was this one's */
		task->has_held_wake = false;
		task->is_woken = true;
	}
	put(t, ts_ns, waker_id, woken_id, worker_id(th));
}

void wake_notified(struct track *t, struct task *task, uint64_t task_id, uint64_t ts_ns,
		   const struct thread *th, bool is_last)
{
	if (task && (task->is_woken || task->has_held_wake || !is_last))
		return;
	if (!task || t->wakes.held_cnt == WAKES_HELD_MAX) {
		if (task)
			task->is_woken = true;
		put(t, ts_ns, task_id, task_id, worker_id(th));
		return;
	}
	task->has_held_wake = true;
	t->wakes.held[t->wakes.held_cnt++] = (struct wake_held){
		.task_id = task_id, .ts_ns = ts_ns, .worker_id = worker_id(th)};
}

void wake_due(struct track *t, struct task *task)
{
	struct wake_held held;

	if (task->has_held_wake && take(&t->wakes, task->id, &held))
		put(t, held.ts_ns, held.task_id, held.task_id, held.worker_id);
	task->has_held_wake = false;
	task->is_woken = false;
}

void wake_overtaken(struct track *t, struct task *task, uint64_t ts_ns, const struct thread *th)
{
	if (!task->is_woken && !task->has_held_wake)
		put(t, ts_ns, task->id, task->id, worker_id(th));
}

void wake_finish(struct track *t)
{
	for (uint32_t i = 0; i < t->wakes.held_cnt; i++) {
		const struct wake_held *h = &t->wakes.held[i];

		put(t, h->ts_ns, h->task_id, h->task_id, h->worker_id);
	}
	t->wakes.held_cnt = 0;
}
