/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ends.bpf.h - the end of a poll whose return nobody sees (levels polls and wakes).
 *
 * Asked wherever the thread is looked at anyhow: when it leaves its CPU, and when it wakes a task.
 * The next poll start on the thread ends what is left; the reader does that.
 */
#ifndef DIAL9_ENDS_BPF_H
#define DIAL9_ENDS_BPF_H

enum ends_where { ENDS_SLEEPS, ENDS_PREEMPTED, ENDS_WAKES }; /* the thread does at the moment */

/*
 * A thread likes to lose its CPU right behind a trap, which here is before the task is marked as
 * running: it is still as it was when it was scheduled, and the stack is at most by the poll function's
 * frame deeper. (A task that was scheduled again behind its poll looks the same; then the next start, or
 * the next sleep, ends the poll.)
 */
#define ENDS_FRAME_SZ 4096

static __always_inline bool ends_is_beginning(const struct open_poll *p, struct task_struct *task)
{
	__u64 state = 0;

	if (p->sp - thread_regs(task)->rsp > ENDS_FRAME_SZ || user_word(p->header, &state))
		return false;
	return (state & (TASK_RUNNING | TASK_NOTIFIED)) == TASK_NOTIFIED;
}

/*
 * A task that is over wakes its joiner before the call that polled it returns, and takes the mark off
 * then (since Tokio 1.44; before, its joiner does). Not asked of a thread that goes to sleep.
 */
static __always_inline bool ends_tells_joiner(const struct open_poll *p, struct task_words *w)
{
	return task_fate(p, w) == TASK_GONE &&
	       (w->state & (TASK_COMPLETE | TASK_JOIN_WAKER)) == (TASK_COMPLETE | TASK_JOIN_WAKER);
}

/* By which rule (wire_poll_end.rule) the innermost poll is over, 0 = it goes on. */
static __always_inline __u8 ends_rule(struct thread *t, struct task_struct *task,
				      const struct open_poll *top, enum ends_where where)
{
	__u64 word;
	enum taskword_says says = taskword_now(t, task, &word);

	if (says == TASKWORD_INSIDE)
		return 0;
	/* the task is marked as running some instructions before the word is set */
	if (says == TASKWORD_RESTS && where != ENDS_PREEMPTED)
		return 2;
	return task_is_running(top, &t->task) ? 0 : 3;
}

/* The innermost poll, if it is over; 0 or 1 of them. */
static __noinline int ends_infer_one(struct thread *t, struct task_struct *task,
				     enum ends_where where, __u64 now)
{
	struct open_poll *top = thread_top(t);
	struct wire_poll_end *rec;
	__u8 rule;

	if (!top || top->is_exact || (where == ENDS_PREEMPTED && ends_is_beginning(top, task)))
		return 0;
	rule = ends_rule(t, task, top, where);
	if (!rule || (where != ENDS_SLEEPS && ends_tells_joiner(top, &t->task)))
		return 0;
	t->depth--;
	if (submit_reserve(rec, t, WIRE_POLL_END, WIRE_END_INFERRED, now)) {
		rec->task_id = top->task_id;
		rec->depth = t->depth;
		rec->rule = rule;
		__builtin_memset(rec->pad, 0, sizeof(rec->pad));
		submit_commit(rec);
	}
	if (!t->depth && top->is_blocking) {
		t->polls_async = 0; /* as where the return is seen: no worker once its launch is over */
		thread_leave_seat(t);
	}
	return 1;
}

static __always_inline void ends_infer(struct thread *t, struct task_struct *task,
				       enum ends_where where, __u64 now)
{
	struct open_poll *top = thread_top(t);

	if (!top || top->is_exact)
		return; /* the usual case where returns are probed: not worth the call */
	for (int i = 0; i < WIRE_POLL_DEPTH; i++)
		if (!ends_infer_one(t, task, where, now))
			return;
}

#endif /* DIAL9_ENDS_BPF_H */
