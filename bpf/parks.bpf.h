/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * parks.bpf.h - the switches of a busy thread, added up instead of recorded one by one.
 *
 * Only where no polls are recorded (level stat). A thread that parks now and then has a record of
 * each; one that parks or is preempted more often than PARKS_EACH_MAX times in PARKS_WINDOW_NS has
 * them added up from then on (enum wire_sum), and one WIRE_PARKS a window, until it is quiet again. What
 * is asked for one by one stays so: each block inside a poll, and with a record of its own each park or
 * preemption of PARKS_LONG_NS and more.
 *
 * The sums only grow, and the reader takes differences: a WIRE_PARKS that found no room costs
 * precision in time, no switch. The thread alone writes them; the iterator reads them from
 * another CPU, and parks_seq tells it when not to.
 */
#ifndef DIAL9_PARKS_BPF_H
#define DIAL9_PARKS_BPF_H

#define PARKS_WINDOW_NS 100000000ull
#define PARKS_EACH_MAX 100
#define PARKS_LONG_NS 1000000ull

static __always_inline bool parks_are_summed(const struct wire_target_state *state)
{
	return !(state->want & (WIRE_WANT_POLLS | WIRE_WANT_ANY_KEPT));
}

static __always_inline void parks_fill(struct wire_parks *rec, struct thread *t,
				       struct task_struct *task, __u64 to_ns)
{
	rec->begin_ns = t->parks_begin_ns;
	rec->to_ns = to_ns;
	rec->cpu_time_ns = task->se.sum_exec_runtime;
	rec->delay_max_ns = t->parks_delay_ns;
	for (int i = 0; i < WIRE_SUM_CNT; i++)
		rec->sums[i] = t->sums[i];
}

/* Tells the sums as of to_ns. */
static __noinline int parks_tell(struct thread *t, struct task_struct *task, __u64 to_ns, __u64 now)
{
	struct wire_parks *rec;

	if (!submit_reserve(rec, t, WIRE_PARKS, t->parks_on ? 0 : WIRE_PARKS_OVER, now))
		return 0;
	parks_fill(rec, t, task, to_ns);
	submit_commit(rec);
	t->parks_delay_ns = 0;
	return 0;
}

/* Single records from now on. Nothing was added since the last switch-in that was. */
static __always_inline void parks_end(struct thread *t, struct task_struct *task, __u64 now)
{
	t->parks_on = 0;
	t->parks_cnt = 0;
	t->parks_window_ns = now;
	parks_tell(t, task, t->parks_in_ns, now);
}

/* One more: is the thread so busy that it is added up? */
static __always_inline bool parks_crowd(struct thread *t, struct task_struct *task, __u64 now)
{
	if (!t->parks_on && now - t->parks_window_ns >= PARKS_WINDOW_NS) {
		t->parks_window_ns = now;
		t->parks_cnt = 0;
	}
	t->parks_cnt++;
	if (t->parks_on || t->parks_cnt <= PARKS_EACH_MAX)
		return t->parks_on;
	t->parks_on = 1;
	t->parks_cnt = 0;
	t->parks_window_ns = t->parks_begin_ns = t->parks_in_ns = now;
	parks_tell(t, task, now, now); /* the agent knows now whom to ask if it sleeps long */
	return true;
}

static __always_inline bool parks_is_one(__s32 syscall)
{
	return syscall == SYS_NR_FUTEX || syscall == SYS_NR_EPOLL_WAIT ||
	       syscall == SYS_NR_EPOLL_PWAIT || syscall == SYS_NR_EPOLL_PWAIT2;
}

/*
 * The thread leaves its CPU: by which sum will that be counted (enum wire_sum), -1 = it gets a
 * record. `state_bits`: of the kernel's, 0 where it was preempted.
 */
static __noinline int parks_out(struct thread *t, struct task_struct *task, __u32 state_bits,
				__u64 now)
{
	const struct wire_task_word *w = taskword_of(t);
	__u64 word = 0;
	int sum;

	if (t->depth || !(t->polls_async || t->seat.is_worker))
		return -1;
	if (!w->off || t->rest_gen != w->gen ||
	    taskword_read(task->thread.fsbase - w->off, w->has_tag, &word))
		return -1; /* in a poll or not: unknown */
	if (word == t->rest_id)
		word = 0;
	if (word && state_bits)
		return -1; /* it blocks inside a poll */
	if (word)
		sum = WIRE_SUM_POLL_PREEMPTED;
	else if (!state_bits)
		sum = WIRE_SUM_PREEMPTED;
	else if ((state_bits & 3) && parks_is_one(thread_syscall(task)))
		sum = WIRE_SUM_PARKS;
	else
		sum = WIRE_SUM_OTHERS;
	if (!parks_crowd(t, task, now))
		return -1;
	t->out_ns = now;
	t->runnable_ns = state_bits ? 0 : now;
	t->out_task_id = word;
	return sum;
}

/* The part of an interval off the CPU that ended at `now` goes to its sums. */
static __always_inline void parks_add(__u64 *sums, __u32 sum, const struct thread *t, __u64 now)
{
	__u64 off_ns = now - t->out_ns, delay_ns = 0;

	if (sum == WIRE_SUM_PARKS && t->runnable_ns > t->out_ns && t->runnable_ns < now)
		delay_ns = now - t->runnable_ns;
	sums[WIRE_SUM_DELAYED_NS] += delay_ns;
	sums[(sum & 6) + 1] += off_ns - delay_ns;
}

/* The thread comes back from what parks_out has said. */
static __noinline int parks_in(struct thread *t, struct task_struct *task, __u64 now)
{
	__u32 sum = t->parks_sum & 6;
	__u64 off_ns = now - t->out_ns;
	struct wire_switch_in *rec;

	t->parks_sum = -1;
	if (sum == WIRE_SUM_POLL_PREEMPTED && off_ns >= PARKS_LONG_NS) {
		if (submit_reserve(rec, t, WIRE_SWITCH_IN, WIRE_IN_ALONE, now)) {
			rec->task_id = t->out_task_id;
			rec->out_ns = rec->runnable_ns = t->out_ns;
			rec->cpu_time_ns = task->se.sum_exec_runtime;
			rec->cpu = bpf_get_smp_processor_id();
			__builtin_memset(rec->pad, 0, sizeof(rec->pad));
			submit_commit(rec);
		}
	} else {
		if (off_ns >= PARKS_LONG_NS)
			parks_tell(t, task, t->out_ns, now);
		t->parks_seq++;
		barrier();
		parks_add(t->sums, sum, t, now);
		t->sums[sum]++;
		barrier();
		t->parks_seq++;
		if (t->runnable_ns && now - t->runnable_ns > t->parks_delay_ns)
			t->parks_delay_ns = now - t->runnable_ns;
	}
	t->parks_in_ns = now;
	if (now - t->parks_window_ns >= PARKS_WINDOW_NS) {
		if (t->parks_cnt < PARKS_EACH_MAX / 2)
			t->parks_on = 0;
		t->parks_cnt = 0;
		t->parks_window_ns = now;
		parks_tell(t, task, now, now);
	} else if (off_ns >= PARKS_LONG_NS) {
		parks_tell(t, task, now, now);
	}
	return 0;
}

/* From another CPU, so that a thread that sleeps long is told of, and none is forgotten at the end. */
static __always_inline void parks_look(struct thread *t, struct task_struct *task)
{
	__u32 seq = *(volatile __u32 *)&t->parks_seq;
	struct wire_parks *rec;
	__s32 sum = t->parks_sum;
	__u64 now, out_ns = t->out_ns;

	if (!t->parks_on || (seq & 1) || t->session != thread_state(t)->ready)
		return;
	now = bpf_ktime_get_ns();
	if (!submit_reserve(rec, t, WIRE_PARKS, 0, now))
		return;
	parks_fill(rec, t, task, t->parks_in_ns);
	if (out_ns && sum >= 0) {
		rec->to_ns = sum == WIRE_SUM_POLL_PREEMPTED ? out_ns : now;
		if (sum != WIRE_SUM_POLL_PREEMPTED)
			parks_add(rec->sums, (__u32)sum, t, now);
	}
	barrier();
	if (*(volatile __u32 *)&t->parks_seq == seq && t->out_ns == out_ns)
		submit_commit(rec);
	else
		bpf_ringbuf_discard(rec, BPF_RB_NO_WAKEUP);
}

#endif /* DIAL9_PARKS_BPF_H */
