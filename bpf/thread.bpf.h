/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thread.bpf.h - what is known of one thread of a target, kept in the kernel's task storage:
 * found in a few ns from any probe, gone with the thread.
 */
#ifndef DIAL9_THREAD_BPF_H
#define DIAL9_THREAD_BPF_H

struct open_poll {
	__u64 header; /* the task's Header in user memory */
	__u64 sp; /* address of the return address: identifies the call's frame */
	__u64 vtable;
	__u64 task_id;
	__u16 id_off;
	__u8 is_blocking; /* owner id 0: a task of the blocking pool */
	__u8 is_cancelled; /* CANCELLED stood at the start */
	__u8 has_raised;
	__u8 is_exact; /* it returns to a place that is probed */
	__u8 has_many_refs; /* at the start */
	__u8 pad;
};

struct task_words { /* of a task's Header, and behind it; see task.bpf.h */
	__u64 state, queue_next, vtable, owner_id;
	__u64 scheduler, id, location;
};

struct thread {
	struct open_poll polls[WIRE_POLL_DEPTH];
	struct task_words task; /* scratch: the task last read */
	__u32 depth; /* open polls; the innermost is polls[depth - 1] */
	__u32 tid;
	__u32 slot;
	__u32 gen; /* threads_gen when the seat below was read; 0 = never */
	struct wire_thread seat;
	__u64 last_sp; /* frame of the last poll whose return address was read */
	__u64 last_return; /* that address */
	__u64 last_owner; /* owner id of the last async task: a change is reported */
	__u64 out_ns; /* switched out since; 0 = on a CPU or unseen */
	__u64 runnable_ns; /* runnable again since; 0 = asleep or unseen */
	__u64 out_task_id;
	__u64 out_cpu_ns; /* CPU time used up to out_ns */
	__u64 rest_id; /* what stands in the task word between polls (taskword.bpf.h) */
	__u64 found_id; /* task last looked for on the stack (taskfind.bpf.h), when, and its vtable */
	__u64 found_ns, found_vtable, found_header;
	__u64 shown_id, shown_ns; /* task for which the TLS block was last recorded, and when */
	__u32 layout_gen; /* seat_layouts[].gen at the last try to read the seat; 0 = try */
	__u32 rest_gen; /* task_words[].gen when rest_id was read; 0 = never */
	__u32 polls_gen, ends_gen; /* of target_states[] when the polls above were last right */
	struct wire_task_type found; /* of found_id: flags 0 = not found */
	__u8 has_seat; /* read here, from memory: what the agent found out is older */
	__u8 returns_known; /* last_return is probed */
	__u8 polls_async; /* has polled an async task: parks of this thread are wanted */
	__u8 has_polls; /* WIRE_WANT_POLLS was there at the last look */
	__u64 sums[WIRE_SUM_CNT]; /* switches without a record (parks.bpf.h) */
	__u64 parks_begin_ns, parks_window_ns, parks_in_ns, parks_delay_ns;
	__u32 parks_cnt; /* in the window */
	__u32 parks_seq; /* odd: the sums are being changed */
	__s32 parks_sum; /* to which the time since out_ns belongs, -1 = it has a record */
	__u32 parks_on; /* they are added up */
	__u32 session; /* in which all this was seen (wire_target_state.ready) */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* The user-mode registers saved at the top of a thread's kernel stack. To be read as they stand: by a
 * helper each costs 30 ns. */
static __always_inline const struct pt_regs *thread_regs(struct task_struct *task)
{
	return (const struct pt_regs *)bpf_task_pt_regs(task);
}

/* The system call in which it is, -1 = none. */
static __always_inline __s32 thread_syscall(struct task_struct *task)
{
	return thread_regs(task)->orig_rax;
}

/* NULL for a thread that was never of interest. */
static __always_inline struct thread *thread_find(struct task_struct *task)
{
	/* the programs see every switch of the system, and most threads have no storage at all */
	if (bpf_core_field_exists(task->bpf_storage) && !task->bpf_storage)
		return NULL;
	return bpf_task_storage_get(&threads, task, 0, 0);
}

/* NULL when the task belongs to no target, or there is no memory. */
static __noinline struct thread *thread_make(struct task_struct *task)
{
	__u32 tgid = task->tgid;
	__u32 *slot = bpf_map_lookup_elem(&targets, &tgid);
	struct thread *t;

	if (!slot || *slot >= WIRE_TARGETS_MAX)
		return NULL;
	t = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return NULL;
	t->tid = task->pid;
	t->slot = *slot;
	return t;
}

static __always_inline const struct wire_target_state *thread_state(const struct thread *t)
{
	return &target_states[t->slot & (WIRE_TARGETS_MAX - 1)];
}

/* A session begins for a thread that has known another one, or none. */
static __noinline void thread_begin(struct thread *t, struct task_struct *task, __u32 session)
{
	__u32 slot = t->slot;

	__builtin_memset(t, 0, sizeof(*t));
	t->slot = slot;
	t->tid = task->pid; /* exec gives the thread that calls it another one */
	t->session = session;
}

/* Is the target recorded at the moment? What `t` holds is of this session then. */
static __always_inline bool thread_is_on(struct thread *t, struct task_struct *task,
					 const struct wire_target_state *state)
{
	__u32 session = state->ready;

	if (session && t->session != session)
		thread_begin(t, task, session);
	return session;
}

/* Takes over what the agent has learnt about this thread since it was last asked. */
static __always_inline void thread_refresh(struct thread *t)
{
	struct wire_thread *seat;
	__u32 gen = threads_gen;

	if (t->has_seat || t->gen == gen)
		return;
	t->gen = gen;
	seat = bpf_map_lookup_elem(&worker_threads, &t->tid);
	if (seat)
		t->seat = *seat;
	else
		t->seat = (struct wire_thread){};
}

/* The thread polls for another task list: it may sit elsewhere now. */
static __always_inline void thread_doubt_seat(struct thread *t)
{
	t->has_seat = 0;
	t->layout_gen = 0;
}

/* A blocking task begins or ends on the thread: it may be another worker, or none, from now on. What
 * the agent found out about it is over too. */
static __always_inline void thread_leave_seat(struct thread *t)
{
	if (t->seat.is_worker && !t->has_seat)
		bpf_map_delete_elem(&worker_threads, &t->tid);
	t->seat = (struct wire_thread){};
	t->rest_gen = 0; /* another launch has another id */
	thread_doubt_seat(t);
}

/* Sites come and go while the target runs: what is held open may have ended unseen since. */
static __always_inline void thread_follow(struct thread *t, const struct wire_target_state *state)
{
	if (t->polls_gen != state->polls_gen) {
		t->polls_gen = state->polls_gen;
		t->depth = 0;
		t->last_owner = 0;
		t->has_polls = 0;
	}
	if (!t->has_polls && (state->want & WIRE_WANT_POLLS)) {
		t->has_polls = 1;
		t->rest_gen = 0; /* it may have become another worker since polls were last seen */
	}
	if (t->ends_gen == state->ends_gen)
		return;
	t->ends_gen = state->ends_gen;
	for (int i = 0; i < WIRE_POLL_DEPTH; i++)
		t->polls[i].is_exact = 0;
}

/* The innermost poll, or NULL. The index is masked for the verifier; depth is always in range. */
static __always_inline struct open_poll *thread_top(struct thread *t)
{
	if (!t->depth)
		return NULL;
	return &t->polls[(t->depth - 1) & (WIRE_POLL_DEPTH - 1)];
}

static __always_inline __u64 thread_task_id(struct thread *t)
{
	struct open_poll *top = thread_top(t);

	return top ? top->task_id : 0;
}

/*
 * Is the thread inside a poll, as a user means it? A multi_thread worker is itself a blocking
 * task: with only that one open it is between polls, and its sleeps are parks. That it is one
 * shows by the async tasks polled since it began; the seat may be that of an earlier task, on a
 * thread that went back to the pool. (A worker that has polled nothing yet is told by the reader.)
 */
static __always_inline bool thread_in_poll(struct thread *t)
{
	struct open_poll *top = thread_top(t);

	return top && !(top->is_blocking && t->polls_async);
}

/* Is an async task being polled, at any depth? */
static __always_inline bool thread_in_async_poll(struct thread *t)
{
	struct open_poll *top = thread_top(t);

	return top && !(top->is_blocking && t->depth == 1);
}

#endif /* DIAL9_THREAD_BPF_H */
