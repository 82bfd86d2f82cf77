// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * recorder.bpf.c - every program of the recorder: thin entries over the bodies in the headers.
 *
 * Which of them are loaded and attached is the plan's choice (levels); no level forks the code.
 * There is no uretprobe and no write to user memory in here, and there never will be.
 */
#include "kernel.bpf.h"
#include "wire.h"
#include "cookie.h"
#include "config.bpf.h"
#include "maps.bpf.h"
#include "thread.bpf.h"
#include "submit.bpf.h"
#include "clocked.bpf.h"
#include "task.bpf.h"
#include "seat.bpf.h"
#include "taskfind.bpf.h"
#include "taskword.bpf.h"
#include "ends.bpf.h"
#include "parks.bpf.h"
#include "siteregs.bpf.h"
#include "sitepoll.bpf.h"
#include "sitetask.bpf.h"
#include "site.bpf.h"
#include "sched.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("uprobe.multi")
int on_site_multi(struct pt_regs *ctx)
{
	return site_hit(ctx);
}

SEC("uprobe")
int on_site(struct pt_regs *ctx)
{
	return site_hit(ctx);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool is_preempted, struct task_struct *prev, struct task_struct *next)
{
	return sched_switched(ctx, is_preempted, prev, next);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	return sched_woken(task);
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	return sched_sampled(ctx);
}

static __always_inline int life(struct task_struct *task, __u8 kind)
{
	struct thread *t = thread_find(task);
	struct wire_life *rec;

	if (!t || !thread_is_on(t, task, thread_state(t)))
		return 0;
	if (t->parks_on)
		parks_end(t, task, bpf_ktime_get_ns());
	if (submit_reserve(rec, t, kind, 0, bpf_ktime_get_ns()))
		submit_commit(rec);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	return life(task, WIRE_THREAD_EXIT);
}

/* The process is another program from here on: its probes mean nothing any more. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct thread *t = thread_find(task) ?: thread_make(task);

	life(task, WIRE_EXEC);
	if (t)
		target_states[t->slot & (WIRE_TARGETS_MAX - 1)].ready = 0;
	return 0;
}

/* Lists the threads of one process with their thread pointers, and gives each its storage. */
SEC("iter/task")
int list_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wire_thread_info info = {};
	struct thread *t;

	if (!task || (__u32)task->tgid != iter_tgid)
		return 0;
	t = thread_find(task);
	if (t)
		parks_look(t, task);
	else
		thread_make(task);
	info.tid = task->pid;
	info.fsbase = task->thread.fsbase;
	bpf_probe_read_kernel_str(info.comm, sizeof(info.comm), task->comm);
	bpf_seq_write(ctx->meta->seq, &info, sizeof(info));
	return 0;
}
