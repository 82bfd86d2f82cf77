/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * taskword.bpf.h - Tokio's own note of the task that a thread polls, in thread-local storage.
 *
 * First it is shown to the agent, a few blocks at a time, which finds out the offset. From then on
 * the word is compared with what the probes know wherever a look at it costs nothing beside the
 * rest: at switches and CPU samples inside polls.
 */
#ifndef DIAL9_TASKWORD_BPF_H
#define DIAL9_TASKWORD_BPF_H

static __always_inline struct wire_task_word *taskword_of(const struct thread *t)
{
	return &task_words[t->slot & (WIRE_TARGETS_MAX - 1)];
}

static __noinline int taskword_read(__u64 addr, __u32 has_tag, __u64 *ret)
{
	__u64 words[2];
	int err;

	if (!has_tag)
		return user_word(addr, ret);
	err = bpf_probe_read_user(words, sizeof(words), (void *)(addr - 8));
	if (!err)
		*ret = words[0] ? words[1] : 0;
	return err;
}

static __always_inline bool taskword_rest_is_due(const struct thread *t)
{
	return t->rest_gen != taskword_of(t)->gen;
}

/* Called at the start of a poll outside any other async task's: the word is still at rest. */
static __always_inline void taskword_rest(struct thread *t, struct task_struct *task)
{
	const struct wire_task_word *w = taskword_of(t);
	__u32 gen = w->gen;

	if (!taskword_rest_is_due(t))
		return;
	t->rest_gen = gen;
	t->rest_id = 0;
	if (w->off)
		taskword_read(task->thread.fsbase - w->off, w->has_tag, &t->rest_id);
}

enum taskword_where { TASKWORD_AT_WAKE, TASKWORD_AT_SPAWN, TASKWORD_AT_LOOK };

#define TASKWORD_AGAIN_NS 8000000ull

/*
 * Inside a poll: may the agent see the block? Once for each task in a row, within its budget; at a look
 * from outside (a CPU sample, a switch) again after a while, for those that poll one task mostly.
 */
static __always_inline void taskword_show(struct thread *t, struct task_struct *task, void *ring,
					  enum taskword_where where, __u64 now)
{
	struct open_poll *top;
	struct wire_task_word *w = taskword_of(t);
	struct wire_tls *rec;
	__u64 id;
	__u32 sz;

	if (w->learn_left <= 0)
		return;
	top = thread_in_poll(t) ? thread_top(t) : NULL;
	/* blocking tasks mostly wake who waits for their end, and that is at the edge of the poll */
	if (!top || (where == TASKWORD_AT_WAKE &&
		     (top->is_blocking || w->learn_left <= WIRE_LEARN_NO_WAKES)))
		return;
	id = top->task_id;
	if (!id || !ring ||
	    (id == t->shown_id &&
	     (where != TASKWORD_AT_LOOK || now - t->shown_ns < TASKWORD_AGAIN_NS)))
		return;
	sz = w->block_sz;
	if (sz > sizeof(rec->words))
		return;
	rec = bpf_ringbuf_reserve(ring, sizeof(*rec), 0);
	if (!rec)
		return; /* the next one will do */
	t->shown_id = id;
	t->shown_ns = now;
	w->header_bits |= top->header;
	w->learn_left--; /* two CPUs may count as one: it is only a brake */
	submit_head(&rec->head, t, WIRE_TLS, 0, now);
	rec->task_id = id;
	rec->pad = 0;
	/* a page that nobody has touched cannot be read: then less will do, or nothing */
	for (int i = 0; i < 4; i++) {
		barrier_var(sz); /* Linux 6.1 forgets the bounds of what was spilled: checked beside the call */
		if (sz <= sizeof(rec->words) &&
		    !bpf_probe_read_user(rec->words, sz, (void *)(task->thread.fsbase - sz))) {
			rec->words_cnt = sz / 8;
			submit_commit(rec);
			return;
		}
		sz = sz / 16 * 8;
	}
	bpf_ringbuf_discard(rec, BPF_RB_NO_WAKEUP);
}

/* A CPU sample in what should be a poll: without return sites it may be over. */
static __always_inline void taskword_show_sample(struct thread *t, struct task_struct *task,
						 const struct open_poll *top, void *ring, __u64 now)
{
	__u64 state;

	if (taskword_of(t)->learn_left > 0 &&
	    (top->is_exact || (!user_word(top->header, &state) && (state & TASK_RUNNING))))
		taskword_show(t, task, ring, TASKWORD_AT_LOOK, now);
}

/* One of the polls around the innermost: the word goes back to it at the edges of that. */
static __always_inline bool taskword_is_outer(const struct thread *t, __u64 word)
{
	for (__u32 i = 0; i < WIRE_POLL_DEPTH - 1; i++) {
		if (i + 1 >= t->depth)
			return false;
		if (t->polls[i].task_id == word)
			return true;
	}
	return false;
}

/* System calls in which the driver of a runtime waits for events: a worker does so between polls. */
enum { SYS_NR_FUTEX = 202, SYS_NR_EPOLL_WAIT = 232, SYS_NR_EPOLL_PWAIT = 281, SYS_NR_EPOLL_PWAIT2 = 441 };

/*
 * Which task the word says is polled, 0 = none. For levels without probes. `syscall` is what a thread
 * that goes to sleep is in, else -1; scratch, now: as taskfind_look has them.
 *
 * A worker is a blocking task itself, and rests at its id: that may be another than it was, as
 * workers pass from thread to thread (block_in_place). A type of blocking task inside which threads
 * wait for events is a worker's; they do so between polls. A thread of which nothing is known, and
 * whose task is not found either, is counted.
 */
static __noinline __u64 taskword_task(struct thread *t, struct task_struct *task, __s32 syscall,
				      __u32 scratch, __u64 now)
{
	const struct wire_task_word *w = taskword_of(t);
	bool is_known = t->rest_gen == w->gen;
	__u64 word = 0;

	if (!w->off || taskword_read(task->thread.fsbase - w->off, w->has_tag, &word) || !word ||
	    (is_known && word == t->rest_id))
		return 0;
	taskfind_look(t, task, word, scratch, now);
	if ((t->found.flags & WIRE_TYPE_BLOCKING) &&
	    (syscall == SYS_NR_EPOLL_WAIT || syscall == SYS_NR_EPOLL_PWAIT ||
	     syscall == SYS_NR_EPOLL_PWAIT2))
		taskfind_drives(t);
	if (t->found.flags & WIRE_TYPE_DRIVES) {
		t->rest_id = word;
		t->rest_gen = w->gen;
		t->polls_async = 1;
		return 0;
	}
	if (t->found.flags && !taskfind_is_running(t))
		return 0;
	if (t->found.flags & WIRE_TYPE_ASYNC)
		t->polls_async = 1;
	if (t->found.flags)
		return word;
	count(t->slot, is_known ? WIRE_TYPE_UNKNOWN : WIRE_REST_UNKNOWN);
	return is_known ? word : 0;
}

enum taskword_says { TASKWORD_UNKNOWN, TASKWORD_INSIDE, TASKWORD_RESTS, TASKWORD_OTHER };

/*
 * What the word, given back in `ret`, says of the innermost poll: RESTS where it is what it was before
 * that poll. UNKNOWN also where it may be at rest, but what that is has not been seen since the word is
 * known.
 */
static __always_inline enum taskword_says taskword_now(struct thread *t, struct task_struct *task,
						       __u64 *ret)
{
	const struct wire_task_word *w = taskword_of(t);
	__u64 id = thread_task_id(t), word = 0;

	if (!w->off || !id || taskword_read(task->thread.fsbase - w->off, w->has_tag, &word))
		return TASKWORD_UNKNOWN;
	*ret = word;
	if (word == id)
		return TASKWORD_INSIDE;
	if (!word || word == t->rest_id || taskword_is_outer(t, word))
		return TASKWORD_RESTS;
	return t->rest_gen == w->gen ? TASKWORD_OTHER : TASKWORD_UNKNOWN;
}

/*
 * Outside all polls: a worker's word rests at the id of its launch, where Tokio gives that one; a
 * thread whose worker another one has taken over (block_in_place) has none left in the pool.
 */
static __always_inline bool taskword_has_left(const struct thread *t, struct task_struct *task)
{
	const struct wire_task_word *w = taskword_of(t);
	__u64 word;

	return w->off && t->rest_gen == w->gen && t->rest_id &&
	       !taskword_read(task->thread.fsbase - w->off, w->has_tag, &word) && !word;
}

/*
 * Inside a poll: does the word say so too? While a poll drops the output or the future of another task,
 * Tokio notes that one: it is right then, and counted apart. That it is so is seen by that task, which is
 * over and which the poll holds. The frames in `scratch` are overwritten.
 */
static __always_inline void taskword_check(struct thread *t, struct task_struct *task, __u32 scratch)
{
	__u64 word = 0;

	switch (taskword_now(t, task, &word)) {
	case TASKWORD_INSIDE:
		count(t->slot, WIRE_WORD_AGREES);
		break;
	case TASKWORD_RESTS:
		count(t->slot, WIRE_WORD_RESTS);
		break;
	case TASKWORD_OTHER:
		count(t->slot, taskfind_holds_ended(t, task, word, scratch) ? WIRE_WORD_DROPS :
									      WIRE_WORD_DIFFERS);
		break;
	case TASKWORD_UNKNOWN:
		break;
	}
}

#endif /* DIAL9_TASKWORD_BPF_H */
