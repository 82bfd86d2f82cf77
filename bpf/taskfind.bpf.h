/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * taskfind.bpf.h - which type of task a thread polls, without any probe: its header, on the stack.
 *
 * Tokio's poll keeps the header's address in its frame. Of the words from the stack pointer on, the
 * one is it that points to a task of a known type (task_types) whose id is the one the thread notes
 * (taskword.bpf.h). Bounded: TASKFIND_SZ bytes of stack, TASKFIND_TRIES addresses looked at. What was
 * found is kept for the next look at the same task.
 */
#ifndef DIAL9_TASKFIND_BPF_H
#define DIAL9_TASKFIND_BPF_H

#define TASKFIND_SZ 8192
#define TASKFIND_TURN 4 /* words */
#define TASKFIND_READ_SZ (8 * SCRATCH_FRAMES) /* a step */
#define TASKFIND_READS 12 /* steps end at pages, behind which there may be nothing */
#define TASKFIND_TRIES 256
#define TASKFIND_AGAIN_NS 10000000ull /* until a task that was not found is looked for again */
#define TASKFIND_USER_BITS 47

struct taskfind {
	__u64 id, sp, at, mask; /* at: how far it has got; mask: bits not to be set in a header's address */
	__u64 sz; /* how far it goes, up to TASKFIND_SZ */
	__u64 vtable; /* found: its type ... */
	__u64 header;
	struct wire_task_type type;
	__u32 slot, scratch, tries;
	bool is_over;
};

static __noinline bool taskfind_is_it(struct taskfind *f, __u64 header)
{
	struct return_key key = { .slot = f->slot };
	const struct wire_task_type *type;
	__u64 id;

	if (user_word(header + 16, &key.addr) || (key.addr & 7))
		return false;
	type = bpf_map_lookup_elem(&task_types, &key);
	if (!type || user_word(header + type->id_off, &id) || id != f->id)
		return false;
	f->header = header;
	f->vtable = key.addr;
	f->type = *type;
	return true;
}

/* Some words of those read. 1 ends the search. Called through bpf_loop, as what is in such a loop is
 * verified once and not for each turn. */
static long taskfind_words(__u32 turn, struct taskfind *f)
{
	__u32 which = f->scratch, first = turn * TASKFIND_TURN;
	struct scratch *s = bpf_map_lookup_elem(&scratches, &which);

	if (!s || first > SCRATCH_FRAMES - TASKFIND_TURN)
		return 1;
	for (__u32 i = 0; i < TASKFIND_TURN; i++) {
		__u64 addr = s->frames[first + i];

		if ((addr & f->mask) || addr < 65536 || addr >> TASKFIND_USER_BITS ||
		    addr - f->sp < TASKFIND_SZ)
			continue;
		if (f->tries++ >= TASKFIND_TRIES || taskfind_is_it(f, addr))
			f->is_over = true;
		if (f->is_over)
			return 1;
	}
	return 0;
}

static long taskfind_step(__u32 step, struct taskfind *f)
{
	__u32 sz = 4096 - (f->at & 4095), which = f->scratch;
	struct scratch *s = bpf_map_lookup_elem(&scratches, &which);

	if (!s || f->is_over || f->at - f->sp >= f->sz)
		return 1;
	if (sz > f->sp + f->sz - f->at)
		sz = f->sp + f->sz - f->at;
	if (sz > TASKFIND_READ_SZ)
		sz = TASKFIND_READ_SZ;
	if (bpf_probe_read_user(s->frames, sz, (void *)f->at))
		return 1;
	bpf_loop(sz / 8 / TASKFIND_TURN, taskfind_words, f, 0); /* a few words before a page end: fewer */
	f->at += sz;
	return 0;
}

static __always_inline __u64 taskfind_sp(struct task_struct *task)
{
	return thread_regs(task)->rsp & ~7ull;
}

static __always_inline __u64 taskfind_mask(const struct thread *t)
{
	return task_words[t->slot & (WIRE_TARGETS_MAX - 1)].header_bits & 127 ? 15 : 127;
}

static __always_inline void taskfind_report(struct thread *t, const struct taskfind *f, void *ring,
					    __u64 now)
{
	struct wire_task_seen *rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;
	__u64 owner_id = 0;

	if (!rec) {
		count(t->slot, WIRE_LOST_FIRST + WIRE_TASK_SEEN);
		return;
	}
	user_word(f->header + 24, &owner_id);
	submit_head(&rec->head, t, WIRE_TASK_SEEN, 0, now);
	rec->task_id = f->id;
	rec->vtable = f->vtable;
	rec->owner_id = owner_id;
	rec->is_blocking = f->type.flags & WIRE_TYPE_BLOCKING;
	submit_commit(rec);
}

/* Does the task last found still stand where it stood? */
static __always_inline bool taskfind_is_there(const struct thread *t)
{
	__u64 vtable;

	return !user_word(t->found_header + 16, &vtable) && vtable == t->found_vtable;
}

/*
 * Is the task last found being polled, as its own state says? The note of it can outlive its poll:
 * on threads of the blocking pool that were workers (seen after block_in_place), and the stack may
 * still show it too.
 */
static __always_inline bool taskfind_is_running(const struct thread *t)
{
	__u64 state;

	return !user_word(t->found_header, &state) && (state & TASK_RUNNING);
}

/* Looks for task `id`, unless it was the last one looked for; t->found says what it is. The frames in
 * `scratch` are overwritten. A new one is reported. */
static __noinline void taskfind_look(struct thread *t, struct task_struct *task, __u64 id,
				     __u32 scratch, __u64 now)
{
	struct taskfind f = { .id = id, .slot = t->slot, .scratch = scratch };

	if (t->found_id == id &&
	    (t->found.flags ? taskfind_is_there(t) : now - t->found_ns < TASKFIND_AGAIN_NS))
		return;
	f.sp = f.at = taskfind_sp(task);
	f.sz = TASKFIND_SZ;
	f.mask = taskfind_mask(t);
	bpf_loop(TASKFIND_READS, taskfind_step, &f, 0);
	t->found_id = id;
	t->found_ns = now;
	t->found_vtable = f.vtable;
	t->found_header = f.header;
	t->found = f.type;
	if (f.vtable)
		taskfind_report(t, &f, submit_ring_of(scratch), now);
}

/* The registers that outlive a call; what was in them may not be on the stack yet. */
static __always_inline void taskfind_regs(struct taskfind *f, const struct pt_regs *regs)
{
	const __u64 words[] = { regs->rbx, regs->rbp, regs->r12, regs->r13, regs->r14, regs->r15 };

	for (__u32 i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!f->vtable && !(words[i] & f->mask))
			taskfind_is_it(f, words[i]);
}

/*
 * Does the innermost poll hold task `id`, which is over or being shut down? Its code does so while it
 * drops the output of a task that it has joined, or the future of one of its own. Looks at registers and
 * at the frames of that poll, up to TASKFIND_SZ; those in `scratch` are overwritten. t->found stays.
 */
static __noinline bool taskfind_holds_ended(struct thread *t, struct task_struct *task, __u64 id,
					    __u32 scratch)
{
	struct taskfind f = { .id = id, .slot = t->slot, .scratch = scratch };
	struct open_poll *top = thread_top(t);
	__u64 state;

	f.sp = f.at = taskfind_sp(task);
	if (!top || top->sp < f.sp)
		return false;
	f.sz = top->sp - f.sp < TASKFIND_SZ ? top->sp - f.sp : TASKFIND_SZ;
	f.mask = taskfind_mask(t);
	taskfind_regs(&f, thread_regs(task));
	if (!f.vtable)
		bpf_loop(TASKFIND_READS, taskfind_step, &f, 0);
	return f.vtable && !user_word(f.header, &state) &&
	       (state & (TASK_COMPLETE | TASK_CANCELLED));
}

/* The task last found drives a runtime: a thread that is inside it alone is between polls. */
static __noinline void taskfind_drives(struct thread *t)
{
	struct return_key key = { .addr = t->found_vtable, .slot = t->slot };
	struct wire_task_type *type = bpf_map_lookup_elem(&task_types, &key);

	t->found.flags |= WIRE_TYPE_DRIVES;
	if (type)
		type->flags |= WIRE_TYPE_DRIVES;
}

#endif /* DIAL9_TASKFIND_BPF_H */
