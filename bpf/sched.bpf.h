/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sched.bpf.h - threads leaving and entering CPUs, and CPU samples, for threads of targets only.
 *
 * A switch becomes a record when the thread is inside a poll (blocking or preempted there) or is a
 * worker (parks). All other threads of the system cost one look-up that finds nothing.
 */
#ifndef DIAL9_SCHED_BPF_H
#define DIAL9_SCHED_BPF_H

static __always_inline __u32 sched_task_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return 0;
}

/* Whole frames in a stack of `sz` bytes; what cannot be walked is counted. */
static __always_inline __u16 sched_frames(long sz, __u32 slot)
{
	if (sz < 2 * (long)sizeof(__u64)) /* the leaf alone: no frame pointer led anywhere */
		count(slot, WIRE_STACK_CUT);
	return sz > 0 ? sz / sizeof(__u64) : 0;
}

/* The task that the thread polls, by the probes, or where they do not see all by the word; 0 = none. */
static __always_inline __u64 sched_task(struct thread *t, struct task_struct *task,
					const struct wire_target_state *state, __s32 syscall,
					__u32 scratch, __u64 now)
{
	if (thread_in_poll(t))
		return thread_task_id(t);
	return state->want & WIRE_WANT_POLLS ? 0 : taskword_task(t, task, syscall, scratch, now);
}

static __always_inline void sched_out(void *ctx, struct thread *t, struct task_struct *task,
				      const struct wire_target_state *state, bool is_preempted,
				      __u64 now)
{
	bool has_polls = state->want & WIRE_WANT_POLLS;
	__u64 task_id;
	__u32 key = SCRATCH_SWITCH;
	struct wire_switch_out *rec;
	struct scratch *s;
	__s32 syscall;
	bool in_poll;
	long sz = 0;

	thread_refresh(t);
	ends_infer(t, task, is_preempted || !sched_task_state(task) ? ENDS_PREEMPTED : ENDS_SLEEPS, now);
	t->parks_sum = -1;
	t->out_cpu_ns = task->se.sum_exec_runtime;
	if (parks_are_summed(state)) {
		t->parks_sum = parks_out(t, task, is_preempted ? 0 : sched_task_state(task), now);
		if (t->parks_sum >= 0)
			return;
	} else if (t->parks_on) {
		parks_end(t, task, now);
	}
	syscall = thread_syscall(task);
	task_id = sched_task(t, task, state, is_preempted ? -1 : syscall, key, now);
	in_poll = task_id || thread_in_poll(t);
	t->out_ns = 0;
	if (has_polls && !t->depth && taskword_has_left(t, task)) {
		t->polls_async = 0;
		thread_leave_seat(t);
	}
	if (!in_poll && !t->polls_async && !t->seat.is_worker)
		return;
	if (!has_polls && !taskword_of(t)->off && !is_preempted && parks_is_one(syscall))
		count(t->slot, WIRE_PARK_UNSURE);
	s = bpf_map_lookup_elem(&scratches, &key);
	if (!s)
		return;
	t->out_ns = now;
	t->runnable_ns = is_preempted ? now : 0;
	t->out_task_id = task_id;
	rec = (struct wire_switch_out *)s;
	submit_head(&rec->head, t, WIRE_SWITCH_OUT,
		    (is_preempted ? WIRE_OUT_PREEMPTED : 0) | (in_poll ? WIRE_OUT_IN_POLL : 0), now);
	rec->task_id = t->out_task_id;
	rec->cpu_time_ns = task->se.sum_exec_runtime;
	rec->syscall = syscall;
	rec->prev_state = sched_task_state(task);
	rec->cpu = bpf_get_smp_processor_id();
	rec->frames_cnt = 0;
	rec->pad = 0;
	if (in_poll) {
		if (thread_in_poll(t)) {
			taskword_check(t, task, key);
			taskword_show(t, task, submit_ring(), TASKWORD_AT_LOOK, now);
		}
		sz = bpf_get_stack(ctx, s->frames, 8 * WIRE_FRAMES_MAX, BPF_F_USER_STACK);
		rec->frames_cnt = sched_frames(sz, t->slot);
		if (rec->frames_cnt < 2)
			rec->head.flags |= WIRE_OUT_STACK_CUT;
	}
	if (sz < 0 || sz > (long)sizeof(s->frames))
		sz = 0;
	submit_copy(submit_ring(), rec, sizeof(*rec) + sz, t->slot, WIRE_SWITCH_OUT);
}

static __always_inline void sched_in(struct thread *t, struct task_struct *task, __u8 flags, __u64 now)
{
	struct wire_switch_in *rec;

	if (!t->out_ns)
		return;
	if (t->parks_sum >= 0) {
		parks_in(t, task, now);
	} else if (submit_reserve(rec, t, WIRE_SWITCH_IN, flags, now)) {
		rec->task_id = t->out_task_id;
		rec->out_ns = t->out_ns;
		rec->runnable_ns = t->runnable_ns;
		rec->cpu_time_ns = task->se.sum_exec_runtime;
		rec->cpu = bpf_get_smp_processor_id();
		__builtin_memset(rec->pad, 0, sizeof(rec->pad));
		submit_commit(rec);
	}
	t->out_ns = 0;
	t->runnable_ns = 0;
}

/*
 * The thread leaves a CPU that it was not seen coming to: some kernels do not show the switches away
 * from threads that they hide. It came when the CPU time says, had it not been interrupted.
 */
static __noinline int sched_in_unseen(struct thread *t, struct task_struct *task, __u64 now)
{
	__u64 ran_ns = task->se.sum_exec_runtime - t->out_cpu_ns;

	count(t->slot, WIRE_IN_UNSEEN);
	sched_in(t, task, WIRE_IN_INFERRED, ran_ns < now - t->out_ns ? now - ran_ns : t->out_ns);
	return 0;
}

static __always_inline int sched_switched(void *ctx, bool is_preempted, struct task_struct *prev,
					  struct task_struct *next)
{
	const struct wire_target_state *state;
	bool is_clocked;
	struct thread *t;
	__u64 now = 0;

	t = thread_find(prev);
	if (t) {
		state = thread_state(t);
		if ((state->want & WIRE_WANT_SCHED) && thread_is_on(t, prev, state)) {
			thread_follow(t, state);
			is_clocked = clocked_is_due(count(t->slot, WIRE_SWITCHES));
			now = bpf_ktime_get_ns();
			if (t->out_ns)
				sched_in_unseen(t, prev, now);
			sched_out(ctx, t, prev, state, is_preempted, now);
			if (is_clocked)
				clocked_end(t->slot, WIRE_CLOCKED_SWITCHES, now);
		}
	}
	t = thread_find(next);
	if (t) {
		state = thread_state(t);
		if ((state->want & WIRE_WANT_SCHED) && thread_is_on(t, next, state)) {
			is_clocked = clocked_is_due(count(t->slot, WIRE_SWITCHES));
			if (!now || is_clocked)
				now = bpf_ktime_get_ns();
			sched_in(t, next, 0, now);
			if (is_clocked)
				clocked_end(t->slot, WIRE_CLOCKED_SWITCHES, now);
		}
	}
	return 0;
}

static __always_inline int sched_woken(struct task_struct *task)
{
	struct thread *t = thread_find(task);

	if (t && t->out_ns && !t->runnable_ns)
		t->runnable_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int sched_sampled(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_find(task);
	__u32 key = SCRATCH_SAMPLE, ring = rings_cnt;
	const struct wire_target_state *state;
	struct wire_cpu_sample *rec;
	struct open_poll *top;
	struct scratch *s;
	__u64 task_id, now;
	long sz;

	if (!t) {
		t = thread_make(task);
		if (!t)
			return 0;
	}
	state = thread_state(t);
	if (!(state->want & WIRE_WANT_CPU) || !thread_is_on(t, task, state))
		return 0;
	thread_follow(t, state);
	count(t->slot, WIRE_SAMPLES);
	now = bpf_ktime_get_ns();
	top = thread_top(t);
	if (top && thread_in_poll(t)) {
		taskword_check(t, task, key);
		taskword_show_sample(t, task, top, bpf_map_lookup_elem(&rings, &ring), now);
	}
	s = bpf_map_lookup_elem(&scratches, &key);
	if (!s)
		return 0;
	/* its stack is read into the same scratch */
	task_id = sched_task(t, task, state, -1, key, now);
	rec = (struct wire_cpu_sample *)s;
	submit_head(&rec->head, t, WIRE_CPU_SAMPLE, 0, now);
	rec->task_id = task_id;
	bpf_get_current_comm(rec->comm, sizeof(rec->comm));
	rec->cpu = bpf_get_smp_processor_id();
	rec->pad = 0;
	sz = bpf_get_stack(ctx, s->frames, 8 * WIRE_FRAMES_MAX, BPF_F_USER_STACK);
	rec->frames_cnt = sched_frames(sz, t->slot);
	if (rec->frames_cnt < 2)
		rec->head.flags |= WIRE_SAMPLE_STACK_CUT;
	if (sz < 0 || sz > (long)sizeof(s->frames))
		sz = 0;
	submit_copy(bpf_map_lookup_elem(&rings, &ring), rec, sizeof(*rec) + sz, t->slot,
		    WIRE_CPU_SAMPLE);
	clocked_end(t->slot, WIRE_CLOCKED_SAMPLES, now); /* rare: each of them */
	return 0;
}

#endif /* DIAL9_SCHED_BPF_H */
