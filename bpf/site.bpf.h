/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * site.bpf.h - what happens at each kind of probed instruction (enum wire_site).
 *
 * One body per kind, called from the thin entries in recorder.bpf.c. Nothing here writes to the
 * target; a read that fails is counted and the fact is "unknown", never guessed.
 */
#ifndef DIAL9_SITE_BPF_H
#define DIAL9_SITE_BPF_H

/* Offsets into the uprobe's registers, by enum wire_reg. */
const __u16 site_reg_offs[16] = {
	offsetof(struct pt_regs, rax), offsetof(struct pt_regs, rcx), offsetof(struct pt_regs, rdx),
	offsetof(struct pt_regs, rbx), offsetof(struct pt_regs, rsp), offsetof(struct pt_regs, rbp),
	offsetof(struct pt_regs, rsi), offsetof(struct pt_regs, rdi), offsetof(struct pt_regs, r8),
	offsetof(struct pt_regs, r9),  offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
	offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13), offsetof(struct pt_regs, r14),
	offsetof(struct pt_regs, r15),
};

/* The header (or id) that the cookie locates. The verifier refuses a variable context offset, so
 * all but the usual register go through a kernel read of the context; the barrier keeps the
 * compiler from merging the usual load with others into just such an offset. */
static __always_inline __u64 site_value(struct pt_regs *ctx, __u64 cookie)
{
	__u8 reg = WIRE_COOKIE_REG(cookie);
	__u64 value = ctx->rdi;

	barrier_var(value);
	if (reg == WIRE_RDI)
		return value;
	if (reg == WIRE_RSP) {
		__u64 off = 8 * WIRE_COOKIE_STACK_WORD(cookie);
		__u64 addr = WIRE_COOKIE_BELOW_RBP(cookie) ? ctx->rbp - off : ctx->rsp + off;

		user_word(addr, &value);
		return value;
	}
	bpf_probe_read_kernel(&value, sizeof(value), (void *)ctx + site_reg_offs[reg]);
	return value;
}

/* Where the stack pointer stood at function entry, or right after the return. */
static __always_inline __u64 site_sp(struct pt_regs *ctx, __u64 cookie)
{
	return ctx->rsp + 8 * WIRE_COOKIE_PUSHED(cookie);
}

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

static __always_inline void site_poll(struct pt_regs *ctx, __u64 cookie, struct thread *t,
				      struct task_struct *task, __u32 want, __u64 now)
{
	__u64 header = site_value(ctx, cookie);
	__u64 sp = site_sp(ctx, cookie);
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
	if (w->owner_id && !thread_in_async_poll(t)) {
		seat_take(t, task, w->scheduler, now);
		if (want & WIRE_WANT_POLLS) /* else it may stand inside a poll that is not seen */
			taskword_rest(t, task);
	}

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
static __always_inline void site_return(struct pt_regs *ctx, __u64 cookie, struct thread *t,
					struct task_struct *task, __u32 want, __u64 now)
{
	__u64 entry_sp = site_sp(ctx, cookie) - 8;
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
	if (fate == TASK_UNREAD && task_is_unmapped(task, p->header))
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

static __always_inline void site_schedule(struct pt_regs *ctx, __u64 cookie, struct thread *t,
					  struct task_struct *task, __u64 now)
{
	__u64 header = site_value(ctx, cookie);
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
	taskword_show(t, task, submit_ring(), true, now);
}

static __always_inline void site_shutdown(struct pt_regs *ctx, __u64 cookie, struct thread *t,
					  __u64 now)
{
	struct wire_shutdown *rec;
	struct task_words *w = &t->task;

	if (task_read(w, site_value(ctx, cookie), cookie)) {
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

static __always_inline void site_spawn_id(struct pt_regs *ctx, __u64 cookie, struct thread *t,
					  struct task_struct *task, __u64 now)
{
	struct wire_spawn_id *rec;

	if (submit_reserve(rec, t, WIRE_SPAWN_ID, 0, now)) {
		rec->task_id = WIRE_COPY_ID(WIRE_COOKIE_COPY(cookie), site_value(ctx, cookie));
		rec->spawner_id = thread_in_poll(t) ? thread_task_id(t) : 0;
		rec->counter = WIRE_COOKIE_COUNTER(cookie);
		rec->pad = 0;
		submit_commit(rec);
	}
	taskword_show(t, task, submit_ring(), false, now);
}

static __always_inline void site_bind(struct pt_regs *ctx, __u64 cookie, struct thread *t,
				      __u64 now)
{
	__u64 return_addr = 0;
	struct wire_bind *rec;
	struct task_words *w = &t->task;

	if (task_read(w, site_value(ctx, cookie), cookie)) {
		count(t->slot, WIRE_HEADER_UNREAD);
		return;
	}
	if (w->state != TASK_STATE_NEW) {
		count(t->slot, WIRE_NOT_A_TASK);
		return;
	}
	if (WIRE_COOKIE_PUSHED(cookie) == WIRE_PUSHED_INLINED)
		return_addr = ctx->rip;
	else if (user_word(site_sp(ctx, cookie), &return_addr))
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

/* Every hit costs the target, whatever comes of it: the budget wants to know where. Hits so far of
 * this site on this CPU; 0 = not known. */
static __always_inline __u64 site_count(const struct wire_target_state *state, __u64 cookie)
{
	__u32 key = state->hits_base + WIRE_COOKIE_SITE_NO(cookie);
	__u64 *hits = bpf_map_lookup_elem(&site_hits, &key);

	return hits ? ++*hits : 0;
}

/* Hits of sites that are being put in or taken out say nothing of the level that holds. */
const __u16 site_wants[16] = {
	[WIRE_SITE_RETURN] = WIRE_WANT_EXACT_ENDS, [WIRE_SITE_SPAWN_ID] = WIRE_WANT_TASKS,
	[WIRE_SITE_BIND] = WIRE_WANT_TASKS,	   [WIRE_SITE_SCHEDULE] = WIRE_WANT_WAKES,
	[WIRE_SITE_SHUTDOWN] = WIRE_WANT_TASKS,	   [WIRE_SITE_POLL] = WIRE_WANT_POLLS,
	[WIRE_SITE_RAISE] = WIRE_WANT_TASKS,
	[WIRE_SITE_KEPT_POLL] = WIRE_WANT_KEPT(0), [WIRE_SITE_KEPT_POLL + 1] = WIRE_WANT_KEPT(1),
	[WIRE_SITE_KEPT_END] = WIRE_WANT_KEPT(0),  [WIRE_SITE_KEPT_END + 1] = WIRE_WANT_KEPT(1),
};

static __always_inline int site_hit(struct pt_regs *ctx)
{
	/* before all that may stand in no cache: on a core that has slept each look-up takes long */
	__u64 cookie, now = bpf_ktime_get_ns();
	struct task_struct *task = bpf_get_current_task_btf();
	const struct wire_target_state *state;
	struct thread *t = thread_find(task);
	bool is_clocked;
	__u8 site;

	if (!t) {
		t = thread_make(task);
		if (!t)
			return 0;
	}
	state = thread_state(t);
	if (!thread_is_on(t, task, state))
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	site = WIRE_COOKIE_SITE(cookie);
	if (site >= WIRE_SITE_CNT || !(state->want & site_wants[site & 15])) {
		count(t->slot, WIRE_UNWANTED);
		return 0;
	}
	is_clocked = clocked_is_due(site_count(state, cookie));
	thread_follow(t, state);
	switch (site) {
	case WIRE_SITE_POLL:
	case WIRE_SITE_KEPT_POLL:
	case WIRE_SITE_KEPT_POLL + 1:
		site_poll(ctx, cookie, t, task, state->want, now);
		break;
	case WIRE_SITE_RETURN:
	case WIRE_SITE_KEPT_END:
	case WIRE_SITE_KEPT_END + 1:
		site_return(ctx, cookie, t, task, state->want, now);
		break;
	case WIRE_SITE_SCHEDULE:
		site_schedule(ctx, cookie, t, task, now);
		break;
	case WIRE_SITE_SPAWN_ID:
		site_spawn_id(ctx, cookie, t, task, now);
		break;
	case WIRE_SITE_BIND:
		site_bind(ctx, cookie, t, now);
		break;
	case WIRE_SITE_SHUTDOWN:
		site_shutdown(ctx, cookie, t, now);
		break;
	case WIRE_SITE_RAISE:
		site_raise(t);
		break;
	}
	if (is_clocked)
		clocked_end(t->slot, WIRE_CLOCKED_SITES, now);
	return 0;
}

#endif /* DIAL9_SITE_BPF_H */
