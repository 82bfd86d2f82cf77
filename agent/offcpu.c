// SPDX-License-Identifier: Apache-2.0
/* offcpu.c - see offcpu.h. */
#include "agent/offcpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/poll.h"
#include "agent/track_state.h"

/* x86-64 system calls in which Tokio's workers sleep */
enum { SYS_NR_FUTEX = 202, SYS_NR_EPOLL_WAIT = 232, SYS_NR_EPOLL_PWAIT = 281,
       SYS_NR_EPOLL_PWAIT2 = 441 };

/* the kernel's task state bits */
#define STATE_INTERRUPTIBLE 0x1u
#define STATE_UNINTERRUPTIBLE 0x2u

struct held {
	uint64_t out_ns, task_id;
	uint32_t worker_id; /* WORKER_BLOCKING, WORKER_UNKNOWN: none */
	int32_t syscall;
	uint16_t cpu, frames_cnt;
	uint8_t reason;
	uint64_t frames[WIRE_FRAMES_MAX];
};

struct offcpu {
	uint32_t used, free_cnt;
	uint32_t free[OFFCPU_HELD_MAX];
	struct held held[OFFCPU_HELD_MAX]; /* touched only as far as used */
};

int offcpu_new(struct offcpu **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void offcpu_free(struct offcpu *o)
{
	free(o);
}

static struct held *hold(struct offcpu *o, struct thread *th)
{
	uint32_t i;

	if (o->free_cnt)
		i = o->free[--o->free_cnt];
	else if (o->used < OFFCPU_HELD_MAX)
		i = o->used++;
	else
		return NULL;
	th->off_slot = i + 1;
	return &o->held[i];
}

/* The interval is good until the next hold. */
static struct held *release(struct offcpu *o, struct thread *th)
{
	uint32_t i = th->off_slot - 1;

	th->off_slot = 0;
	o->free[o->free_cnt++] = i;
	return &o->held[i];
}

void offcpu_drop(struct track *t, struct thread *th)
{
	release(t->offcpu, th);
	t->stats.used_records--;
	t->stats.ignored_records++;
	t->stats.ignored_by[WIRE_SWITCH_OUT]++;
}

/* A worker that waits for work is inside its launch only, and that is no poll of the user's. */
static bool is_at_rest(const struct thread *th)
{
	const struct poll *top = th->depth ? &th->polls[th->depth - 1] : NULL;

	return top && top->kind == POLL_BLOCKING && top->is_launch;
}

static bool is_park(const struct thread *th, const struct wire_switch_out *rec)
{
	if (!th->worker || rec->head.flags & WIRE_OUT_PREEMPTED ||
	    !(rec->prev_state & (STATE_INTERRUPTIBLE | STATE_UNINTERRUPTIBLE)))
		return false;
	return rec->syscall == SYS_NR_FUTEX || rec->syscall == SYS_NR_EPOLL_WAIT ||
	       rec->syscall == SYS_NR_EPOLL_PWAIT || rec->syscall == SYS_NR_EPOLL_PWAIT2;
}

static uint8_t reason_of(const struct wire_switch_out *rec)
{
	if (rec->head.flags & WIRE_OUT_PREEMPTED || !rec->prev_state)
		return OFFCPU_PREEMPTED;
	if (rec->prev_state & STATE_INTERRUPTIBLE)
		return OFFCPU_SLEEPING;
	return rec->prev_state & STATE_UNINTERRUPTIBLE ? OFFCPU_UNINTERRUPTIBLE : OFFCPU_OTHER;
}

/*
 * BPF knows which poll is open now: what we still hold open above it has lost its end. "In no
 * poll" includes a blocking task that polls async ones and is between two of them: a worker's
 * launch, or a block_on.
 */
static void close_lost(struct track *t, struct thread *th, const struct wire_switch_out *rec)
{
	unsigned d;

	if (rec->head.flags & WIRE_OUT_IN_POLL) {
		for (d = th->depth; d > 0; d--)
			if (th->polls[d - 1].task_id == rec->task_id)
				break;
		if (d)
			poll_close(t, th, d, rec->head.ts_ns, RULE_SWITCH_OUT);
		return;
	}
	d = th->depth && th->polls[0].kind == POLL_BLOCKING && th->polls[0].has_async;
	poll_close(t, th, d, rec->head.ts_ns, RULE_SWITCH_OUT);
}

bool offcpu_out(struct track *t, const struct wire_switch_out *rec, size_t frames_cnt)
{
	struct thread *th = threads_get(t->threads, (pid_t)rec->head.tid);
	struct held *h;

	if (!th)
		return false;
	if (th->off_slot)
		offcpu_drop(t, th);
	th->cpu_time_ns = rec->cpu_time_ns;
	close_lost(t, th, rec);
	if (!(rec->head.flags & WIRE_OUT_IN_POLL) || is_at_rest(th)) {
		if (!is_park(th, rec))
			return false;
		workers_park(t->workers, th, rec->head.ts_ns);
		return true;
	}
	h = hold(t->offcpu, th);
	if (!h)
		return false;
	h->out_ns = rec->head.ts_ns;
	h->task_id = rec->task_id;
	h->worker_id = poll_worker_id(th);
	h->syscall = rec->syscall;
	h->cpu = rec->cpu;
	h->reason = reason_of(rec);
	h->frames_cnt = (uint16_t)(frames_cnt < WIRE_FRAMES_MAX ? frames_cnt : WIRE_FRAMES_MAX);
	memcpy(h->frames, rec->frames, h->frames_cnt * sizeof(h->frames[0]));
	return true;
}

/* Name of the thread as samples carry it; asked once, then kept up to date by its samples. */
static uint32_t name_of(struct track *t, struct thread *th)
{
	if (!th->comm_name && !t->o.ops->thread_name(t->o.ctx, th->tid, th->comm, sizeof(th->comm)))
		th->comm_name = emit_name(t->e, th->comm, strnlen(th->comm, sizeof(th->comm)));
	return th->comm_name;
}

static void put_off(struct track *t, struct thread *th, const struct held *h, uint64_t ts_ns)
{
	uint32_t name = name_of(t, th);

	t->stats.off_cpu++;
	emit_frames(t->e, h->frames, h->frames_cnt);
	emit_put_agent_off_cpu(t->e, ts_ns,
			       &(struct d9_agent_off_cpu){
				       .tid = (uint32_t)th->tid,
				       .has_worker_id = h->worker_id != WORKER_BLOCKING &&
							h->worker_id != WORKER_UNKNOWN,
				       .worker_id = h->worker_id,
				       .has_task_id = h->task_id != 0,
				       .task_id = h->task_id,
				       .out_ns = h->out_ns,
				       .reason = h->reason,
				       .has_syscall = h->syscall >= 0,
				       .syscall = (uint64_t)h->syscall,
				       .has_callchain = h->frames_cnt != 0});
	if (!h->frames_cnt)
		return;
	emit_put_cpu_sample(t->e, ts_ns,
			    &(struct d9_cpu_sample){.worker_id = h->worker_id,
						    .tid = (uint32_t)th->tid,
						    .source = 1,
						    .has_thread_name = name != 0,
						    .thread_name = name,
						    .has_cpu = true,
						    .cpu = h->cpu});
}

/* Ends the thread's park or time off the CPU. */
static bool come_back(struct track *t, const struct wire_switch_in *rec)
{
	struct thread *th = threads_find(t->threads, (pid_t)rec->head.tid);
	uint64_t ts = rec->head.ts_ns, wait = UINT64_MAX;
	const struct held *h;

	if (!th)
		return false;
	th->cpu_time_ns = rec->cpu_time_ns;
	if (rec->head.flags & WIRE_IN_ALONE) {
		put_off(t, th,
			&(struct held){ .out_ns = rec->out_ns,
					.task_id = rec->task_id,
					.worker_id = poll_worker_id(th),
					.syscall = -1,
					.cpu = rec->cpu,
					.reason = OFFCPU_PREEMPTED },
			ts);
		return true;
	}
	if (th->worker && th->worker->parked == th) {
		if (rec->runnable_ns && rec->runnable_ns <= ts)
			wait = ts - rec->runnable_ns;
		workers_unpark(t->workers, th, ts, wait);
		return true;
	}
	if (!th->off_slot)
		return false;
	if (rec->out_ns && rec->out_ns != t->offcpu->held[th->off_slot - 1].out_ns) {
		offcpu_drop(t, th); /* closes a switch-out whose record was lost */
		return false;
	}
	h = release(t->offcpu, th);
	put_off(t, th, h, ts);
	return true;
}

bool offcpu_in(struct track *t, const struct wire_switch_in *rec)
{
	if (!come_back(t, rec))
		return false;
	if (rec->head.flags & WIRE_IN_INFERRED)
		emit_put_agent_inferred_in(t->e, rec->head.ts_ns,
					   &(struct d9_agent_inferred_in){
						   .tid = rec->head.tid,
						   .has_runnable_ns = rec->runnable_ns != 0,
						   .runnable_ns = rec->runnable_ns });
	return true;
}

bool offcpu_sample(struct track *t, const struct wire_cpu_sample *rec, size_t frames_cnt)
{
	struct thread *th = threads_get(t->threads, (pid_t)rec->head.tid);
	size_t len = strnlen(rec->comm, sizeof(rec->comm));
	uint32_t name;

	if (th && th->comm_name && !memcmp(th->comm, rec->comm, sizeof(th->comm))) {
		name = th->comm_name;
	} else {
		name = emit_name(t->e, rec->comm, len);
		if (th) {
			memcpy(th->comm, rec->comm, sizeof(th->comm));
			th->comm_name = name;
		}
	}
	t->stats.cpu_samples++;
	if (rec->task_id && !t->has_polls) /* else the poll around it tells */
		emit_put_agent_sample(t->e, rec->head.ts_ns,
				      &(struct d9_agent_sample){ .tid = rec->head.tid,
								 .task_id = rec->task_id });
	emit_frames(t->e, (const uint64_t *)rec->frames, frames_cnt);
	emit_put_cpu_sample(t->e, rec->head.ts_ns,
			    &(struct d9_cpu_sample){
				    .worker_id = th ? poll_worker_id(th) : WORKER_UNKNOWN,
				    .tid = rec->head.tid,
				    .source = 0,
				    .has_thread_name = len != 0,
				    .thread_name = name,
				    .has_cpu = true,
				    .cpu = rec->cpu});
	return true;
}
