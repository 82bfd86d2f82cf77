/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sitetask.bpf.h - what else befalls a task at a probed instruction: woken, born, shut down, panicking.
 */
#ifndef DIAL9_SITETASK_BPF_H
#define DIAL9_SITETASK_BPF_H

static __noinline void site_schedule(struct pt_regs *ctx, __u64 cookie, struct thread *t,
				     struct task_struct *task, __u64 now)
{
	__u64 header = siteregs_value(ctx, cookie);
	__u16 id_off = WIRE_COOKIE_ID_OFF(cookie);
	struct task_words *w = &t->task;
	struct wire_wake *rec;

	ends_infer(t, task, ENDS_WAKES, now); /* or a task that is no longer polled would be the waker */
	if (id_off ? user_word(header + id_off, &w->id) : task_read(w, header, cookie)) {
		count(t->slot, WIRE_HEADER_UNREAD);
		return;
	}
	if (submit_reserve(rec, t, WIRE_WAKE, 0, now)) {
		rec->woken_id = WIRE_COPY_ID(WIRE_COOKIE_COPY(cookie), w->id);
		rec->waker_id = thread_in_poll(t) ? thread_task_id(t) : 0;
		submit_commit(rec);
	}
	taskword_show(t, task, submit_ring(), TASKWORD_AT_WAKE, now);
}

static __noinline void site_shutdown(struct pt_regs *ctx, __u64 cookie, struct thread *t,
					  __u64 now)
{
	struct wire_shutdown *rec;
	struct task_words *w = &t->task;

	if (task_read(w, siteregs_value(ctx, cookie), cookie)) {
		count(t->slot, WIRE_HEADER_UNREAD);
		return;
	}
	/* running: its end comes with its poll's; complete: it came already */
	if (w->state & (TASK_RUNNING | TASK_COMPLETE))
		return;
	if (submit_reserve(rec, t, WIRE_SHUTDOWN, 0, now)) {
		rec->task_id = w->id;
		submit_commit(rec);
	}
}

static __noinline void site_spawn_id(struct pt_regs *ctx, __u64 cookie, struct thread *t,
					  struct task_struct *task, __u64 now)
{
	struct wire_spawn_id *rec;

	if (submit_reserve(rec, t, WIRE_SPAWN_ID, 0, now)) {
		rec->task_id = WIRE_COPY_ID(WIRE_COOKIE_COPY(cookie), siteregs_value(ctx, cookie));
		rec->spawner_id = thread_in_poll(t) ? thread_task_id(t) : 0;
		rec->counter = WIRE_COOKIE_COUNTER(cookie);
		rec->pad = 0;
		submit_commit(rec);
	}
	taskword_show(t, task, submit_ring(), TASKWORD_AT_SPAWN, now);
}

static __noinline void site_bind(struct pt_regs *ctx, __u64 cookie, struct thread *t,
				      __u64 now)
{
	__u64 return_addr = 0;
	struct wire_bind *rec;
	struct task_words *w = &t->task;

	if (task_read(w, siteregs_value(ctx, cookie), cookie)) {
		count(t->slot, WIRE_HEADER_UNREAD);
		return;
	}
	if (w->state != TASK_STATE_NEW) {
		count(t->slot, WIRE_NOT_A_TASK);
		return;
	}
	if (WIRE_COOKIE_PUSHED(cookie) == WIRE_PUSHED_INLINED)
		return_addr = ctx->rip;
	else if (user_word(siteregs_sp(ctx, cookie), &return_addr))
		count(t->slot, WIRE_HEADER_UNREAD);
	if (submit_reserve(rec, t, WIRE_BIND, 0, now)) {
		rec->task_id = w->id;
		rec->vtable = w->vtable;
		rec->location = WIRE_COOKIE_HAS_LOCATION(cookie) ? w->location : 0;
		rec->return_addr = return_addr;
		rec->spawner_id = thread_in_poll(t) ? thread_task_id(t) : 0;
		rec->owned_tasks = WIRE_COOKIE_HAS_LIST(cookie) ? ctx->rdi : 0;
		submit_commit(rec);
	}
}

static __always_inline void site_raise(struct thread *t)
{
	struct open_poll *top = thread_top(t);

	count(t->slot, WIRE_RAISED);
	if (top)
		top->has_raised = 1;
}

#endif /* DIAL9_SITETASK_BPF_H */
