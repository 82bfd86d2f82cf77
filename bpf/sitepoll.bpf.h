/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sitepoll.bpf.h - a poll begins, and a poll returns, at a probed instruction.
 *
 * The two bodies that most hits run are functions of their own: with less than 64 bytes of stack each
 * they stay on the stack at hand (task.bpf.h says why that matters), and the dispatch stays small.
 */
#ifndef DIAL9_SITEPOLL_BPF_H
#define DIAL9_SITEPOLL_BPF_H

static __noinline __u16 site_local_queue(const struct wire_thread *seat)
{
	__u64 words[2];
	__u32 tail, depth;

	if (!seat->queue_addr)
		return WIRE_QUEUE_UNKNOWN;
	if (bpf_probe_read_user(words, sizeof(words), (void *)seat->queue_addr))
		return WIRE_QUEUE_UNKNOWN;
	tail = words[1];
	if (seat->tail_off != 8 &&
	    bpf_probe_read_user(&tail, sizeof(tail), (void *)(seat->queue_addr + seat->tail_off)))
		return WIRE_QUEUE_UNKNOWN;
	/* the low half of the head word; the high one is where a thief has got to */
	depth = tail - (__u32)words[0];
	return depth < WIRE_QUEUE_UNKNOWN ? depth : WIRE_QUEUE_UNKNOWN;
}

/* Drops polls whose frames are gone: a call at `sp` cannot have an outer call at or below it. */
static __always_inline void site_drop_dead(struct thread *t, __u64 sp)
{
	for (int i = 0; i < WIRE_POLL_DEPTH; i++) {
		struct open_poll *top = thread_top(t);

		if (!top)
			return;
		/* without return sites a deeper frame may be a later call: ask the task itself */
		if (top->sp > sp && (top->is_exact || task_is_running(top, &t->task)))
			return;
		t->depth--;
	}
}

/* A poll returns to another place than this thread's last one: is that place probed? */
static __always_inline void site_new_return(struct thread *t, __u64 addr, __u64 vtable, __u64 now)
{
	struct return_key key = { .addr = addr, .slot = t->slot };
	struct wire_return_site *rec;

	t->last_return = addr;
	t->returns_known = bpf_map_lookup_elem(&return_addrs, &key) != NULL;
	if (t->returns_known)
		return;
	if (submit_reserve(rec, t, WIRE_RETURN_SITE, 0, now)) {
		rec->return_addr = addr;
		rec->vtable = vtable;
		submit_commit(rec);
	}
}

static __always_inline void site_report_owner(struct thread *t, const struct task_words *w,
					      __u64 header, __u64 now)
{
	struct wire_owner *rec;

	if (submit_reserve(rec, t, WIRE_OWNER, 0, now)) {
		rec->owner_id = w->owner_id;
		rec->scheduler = w->scheduler;
		rec->vtable = w->vtable;
		rec->task_header = header;
		submit_commit(rec);
		t->last_owner = w->owner_id;
	}
}

/* The thread is about to poll as a worker: which one, and where does its task word rest? */
static __noinline void site_settle(struct thread *t, __u32 want, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();

	seat_take(t, task, t->task.scheduler, now);
	if (want & WIRE_WANT_POLLS) /* else it may stand inside a poll that is not seen */
		taskword_rest(t, task);
}

static __noinline void site_poll(struct pt_regs *ctx, __u64 cookie, struct thread *t, __u32 want,
				 __u64 now)
{
	__u64 header = siteregs_value(ctx, cookie);
	__u64 sp = siteregs_sp(ctx, cookie);
	struct wire_poll_start *rec;
	struct task_words *w = &t->task;
	struct open_poll *p;
	__u64 return_addr;
	__u8 flags = 0;

	site_drop_dead(t, sp);
	if (task_read(w, header, cookie)) {
		count(t->slot, WIRE_HEADER_UNREAD);
		__builtin_memset(w, 0, sizeof(*w));
		flags = WIRE_START_UNREAD;
	}
	if (t->depth >= WIRE_POLL_DEPTH) {
		count(t->slot, WIRE_TOO_DEEP);
		return;
	}
	if (w->state & TASK_CANCELLED)
		flags |= WIRE_START_CANCELLED;
	/* What a poll shows for the first time is reported before it. One frame has one place to
	 * return to, nearly: a look at each change of frame is enough to find those not probed. */
	if ((want & WIRE_WANT_EXACT_ENDS) && sp != t->last_sp) {
		t->last_sp = sp;
		if (!user_word(sp, &return_addr) && return_addr != t->last_return)
			site_new_return(t, return_addr, w->vtable, now);
	}
	if (!w->owner_id && !t->depth) {
		t->polls_async = 0;
		thread_leave_seat(t);
	}
	if (w->owner_id && w->owner_id != t->last_owner) {
		site_report_owner(t, w, header, now);
		if (!thread_in_poll(t))
			thread_doubt_seat(t);
	}
	if (w->owner_id && !thread_in_async_poll(t) &&
	    (seat_is_due(t) || ((want & WIRE_WANT_POLLS) && taskword_rest_is_due(t))))
		site_settle(t, want, now);

	p = &t->polls[t->depth & (WIRE_POLL_DEPTH - 1)];
	p->header = header;
	p->sp = sp;
	p->vtable = w->vtable;
	p->task_id = w->id;
	p->id_off = WIRE_COOKIE_ID_OFF(cookie) ?: TASK_ID_OFF;
	p->is_blocking = !w->owner_id;
	p->is_cancelled = flags & WIRE_START_CANCELLED;
	p->has_raised = 0;
	p->has_many_refs = w->state >> TASK_REF_SHIFT >= TASK_REF_MANY;
	p->is_exact = ((want & WIRE_WANT_EXACT_ENDS) && t->returns_known) ||
		      (want & WIRE_WANT_OWN_ENDS);
	if (w->owner_id)
		t->polls_async = 1;

	if (submit_reserve(rec, t, WIRE_POLL_START, flags, now)) {
		rec->task_id = w->id;
		rec->vtable = w->vtable;
		rec->location = WIRE_COOKIE_HAS_LOCATION(cookie) ? w->location : 0;
		rec->owner_id = w->owner_id;
		rec->local_queue = WIRE_QUEUE_UNKNOWN;
		if (want & WIRE_WANT_QUEUE) {
			thread_refresh(t);
			rec->local_queue = site_local_queue(&t->seat);
		}
		rec->depth = t->depth;
		rec->pad = 0;
		submit_commit(rec);
	}
	t->depth++;
}

/* Just behind the call that polled. The frame tells which poll it was; polls deeper than it had
 * no return site of their own and are dropped, the reader closes them as inferred. */
static __noinline void site_return(struct pt_regs *ctx, __u64 cookie, struct thread *t, __u32 want,
				   __u64 now)
{
	__u64 entry_sp = siteregs_sp(ctx, cookie) - 8;
	struct wire_poll_end *rec;
	struct task_words *w = &t->task;
	struct open_poll *p = NULL;
	enum task_fate fate;
	__u8 flags = 0;

	for (int i = 0; i < WIRE_POLL_DEPTH; i++) {
		struct open_poll *top = thread_top(t);

		if (!top || top->sp > entry_sp)
			break;
		t->depth--;
		if (top->sp == entry_sp) {
			p = top;
			break;
		}
	}
	if (!p && (want & WIRE_WANT_ANY_KEPT))
		return; /* it may have begun before its type was kept */
	if (!t->depth && (!p || p->is_blocking)) {
		t->polls_async = 0; /* a pool thread is no worker once its worker task has ended */
		thread_leave_seat(t);
	}
	if (!p) {
		count(t->slot, WIRE_END_UNPAIRED);
		return;
	}
	fate = task_fate(p, w);
	if (fate == TASK_UNREAD && task_is_unmapped(bpf_get_current_task_btf(), p->header))
		fate = TASK_GONE;
	switch (fate) {
	case TASK_GONE:
		flags |= WIRE_END_TASK_ENDED;
		/* another worker may have polled the task since, and ended it: that poll's start
		 * must come before this record, or a poll would follow the task's end */
		now = bpf_ktime_get_ns();
		break;
	case TASK_UNREAD:
		flags |= WIRE_END_UNREAD;
		count(t->slot, WIRE_HEADER_UNREAD);
		break;
	case TASK_ALIVE:
		if (w->state & TASK_NOTIFIED)
			flags |= WIRE_END_NOTIFIED;
		break;
	}
	if (p->is_cancelled || (w->state & TASK_CANCELLED))
		flags |= WIRE_END_CANCELLED;
	if (p->has_raised)
		flags |= WIRE_END_RAISED;
	if (submit_reserve(rec, t, WIRE_POLL_END, flags, now)) {
		rec->task_id = p->task_id;
		rec->depth = t->depth;
		rec->rule = 0;
		__builtin_memset(rec->pad, 0, sizeof(rec->pad));
		submit_commit(rec);
	}
}

#endif /* DIAL9_SITEPOLL_BPF_H */
