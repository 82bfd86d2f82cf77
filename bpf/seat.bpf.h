/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seat.bpf.h - which worker a thread is, read at its first poll as one.
 *
 * Asked later, from outside, the answer may be another: in block_in_place a worker passes from
 * thread to thread within microseconds. Here the thread itself stands still in its own poll. The
 * way is the one the agent has proven (agent/layout.h); each step is still checked.
 */
#ifndef DIAL9_SEAT_BPF_H
#define DIAL9_SEAT_BPF_H

#define SEAT_WORKERS_MAX 1024

struct seat_remotes {
	__u64 addr, cnt;
};

static __always_inline int seat_read(const struct wire_seat_layout *l, __u64 fsbase,
				     struct wire_seat *ret)
{
	struct seat_remotes remotes;
	__u64 context, worker, queue;

	if (bpf_probe_read_user(&context, 8, (void *)(fsbase - l->tls_off)) || !context ||
	    bpf_probe_read_user(&worker, 8, (void *)(context + l->worker_off)) || !worker ||
	    bpf_probe_read_user(&ret->handle, 8, (void *)(worker + l->handle_off)) ||
	    !ret->handle ||
	    bpf_probe_read_user(&remotes, sizeof(remotes), (void *)(ret->handle + l->remotes_off)))
		return -1;
	if (l->index_off == WIRE_SEAT_NO_INDEX) {
		if (remotes.cnt != 1)
			return -1;
	} else if (bpf_probe_read_user(&ret->index, 4, (void *)(worker + l->index_off))) {
		return -1;
	}
	if (remotes.cnt > SEAT_WORKERS_MAX || ret->index >= remotes.cnt)
		return -1;
	ret->workers_cnt = remotes.cnt;
	if (l->queue_off == WIRE_SEAT_NO_QUEUE)
		return 0;
	if (bpf_probe_read_user(&queue, 8, (void *)(remotes.addr + 16ull * ret->index + l->queue_off)) ||
	    !queue)
		return -1;
	ret->queue_addr = queue + l->head_off;
	return 0;
}

/* Has the way been learnt, or the thread been doubted, since it was last asked? */
static __always_inline bool seat_is_due(const struct thread *t)
{
	return t->layout_gen != seat_layouts[t->slot & (WIRE_TARGETS_MAX - 1)].gen;
}

/* Called at the start of a poll of a task of `scheduler`, outside any other task's poll. */
static __always_inline void seat_take(struct thread *t, struct task_struct *task, __u64 scheduler,
				      __u64 now)
{
	const struct wire_seat_layout *l = &seat_layouts[t->slot & (WIRE_TARGETS_MAX - 1)];
	struct wire_seat seat = {}, *rec;
	__u32 gen = l->gen;

	if (!seat_is_due(t))
		return;
	t->layout_gen = gen;
	/* the tasks of a runtime name its Handle: another one means that this is no worker of it */
	if (seat_read(l, task->thread.fsbase, &seat) || seat.handle != scheduler)
		return;
	if (!submit_reserve(rec, t, WIRE_SEAT, 0, now))
		return;
	rec->handle = seat.handle;
	rec->queue_addr = seat.queue_addr;
	rec->index = seat.index;
	rec->workers_cnt = seat.workers_cnt;
	submit_commit(rec);
	t->has_seat = 1;
	t->seat = (struct wire_thread){
		.queue_addr = seat.queue_addr,
		.tail_off = l->tail_off,
		.is_worker = 1,
	};
}

#endif /* DIAL9_SEAT_BPF_H */
