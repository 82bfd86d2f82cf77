// SPDX-License-Identifier: Apache-2.0
/* worker.c - see worker.h. */
#include "agent/worker.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/emit.h"
#include "agent/runtime.h"
#include "agent/seat.h"
#include "agent/thread.h"
#include "agent/track.h"

/* An unread seat is asked for again after this time: the answer is read from live memory, some
 * ms after the poll, when a block_in_place may have moved things. Ten reads every 100 ms and
 * thread are nothing. */
#define RETRY_NS 100000000ull

struct workers {
	const struct track_options *o;
	struct runtimes *rs;
	struct emit *e;
	struct track_stats *stats;
	uint64_t lost_ns; /* records were lost up to here, 0 = none */
};

int workers_new(const struct track_options *o, struct runtimes *rs, struct emit *e,
		struct track_stats *stats, struct workers **ret)
{
	struct workers *ws = calloc(1, sizeof(*ws));

	if (!ws)
		return -ENOMEM;
	*ws = (struct workers){ .o = o, .rs = rs, .e = e, .stats = stats };
	*ret = ws;
	return 0;
}

void workers_free(struct workers *ws)
{
	free(ws);
}

/* ---- polls ---- */

static void put_poll_end(struct workers *ws, struct worker *w, const struct poll *p, uint64_t ts_ns,
			 enum worker_rule rule)
{
	/* Another worker had the task by then: it was given back before this call returned, from which
	 * the thread was kept, or before it was seen that another thread had taken this worker over. */
	if (p->overtaken_ns &&
	    ts_ns > p->overtaken_ns + (rule == RULE_EXACT ? WORKER_TAIL_NS : 0)) {
		ts_ns = p->overtaken_ns;
		rule = RULE_ELSEWHERE;
	}
	if (rule == RULE_NEXT_START && p->start_ns <= ws->lost_ns)
		rule = RULE_LOST;
	emit_put_poll_end(ws->e, ts_ns, &(struct d9_poll_end){ .worker_id = w->id });
	w->open = NULL;
	if (rule == RULE_EXACT)
		return;
	ws->stats->inferred_ends += rule != RULE_HANDOFF; /* that one is no doubt */
	/* Where the level says "inferred", rules 1-4 are no news. */
	if (ws->o->has_exact_ends || rule >= RULE_HANDOFF)
		emit_put_agent_inferred_end(
			ws->e, ts_ns,
			&(struct d9_agent_inferred_end){
				.worker_id = w->id, .task_id = p->task_id, .rule = (uint8_t)rule });
}

void workers_lost(struct workers *ws, uint64_t to_ns)
{
	if (to_ns > ws->lost_ns)
		ws->lost_ns = to_ns;
}

void workers_poll_start(struct workers *ws, struct poll *p, uint64_t local_queue)
{
	struct worker *w = p->worker;

	if (w->parked)
		workers_unpark(ws, w->parked, p->start_ns, UINT64_MAX);
	if (w->open)
		put_poll_end(ws, w, w->open, p->start_ns, RULE_NEXT_START);
	w->open = p;
	ws->stats->polls++;
	emit_put_poll_start(ws->e, p->start_ns,
			    &(struct d9_poll_start){ .worker_id = w->id,
						     .local_queue = local_queue,
						     .task_id = p->task_id,
						     .spawn_loc = p->name });
}

void workers_poll_end(struct workers *ws, struct thread *th, struct poll *p, uint64_t ts_ns,
		      enum worker_rule rule)
{
	struct worker *w = p->worker;

	if (w->open == p) {
		put_poll_end(ws, w, p, ts_ns, rule);
	} else if (p->handoff_ns && rule == RULE_EXACT) {
		emit_put_agent_block_in_place(
			ws->e, ts_ns,
			&(struct d9_agent_block_in_place){ .worker_id = w->id,
							   .task_id = p->task_id,
							   .tid = (uint32_t)th->tid,
							   .handoff_ns = p->handoff_ns,
							   .start_ns = p->start_ns });
	}
}

/* ---- parks ---- */

void workers_park(struct workers *ws, struct thread *th, uint64_t ts_ns)
{
	struct worker *w = th->worker;

	if (w->parked)
		workers_unpark(ws, w->parked, ts_ns, UINT64_MAX);
	w->parked = th;
	ws->stats->parks++;
	/* A worker parks when its queue is empty: 0 is the truth, not a default. */
	emit_put_worker_park(ws->e, ts_ns,
			     &(struct d9_worker_park){ .worker_id = w->id,
						       .cpu_time_ns = th->cpu_time_ns,
						       .tid = (uint32_t)th->tid });
}

void workers_unpark(struct workers *ws, struct thread *th, uint64_t ts_ns, uint64_t sched_wait_ns)
{
	struct worker *w = th->worker;

	if (!w || w->parked != th)
		return;
	w->parked = NULL;
	ws->stats->unparks++;
	emit_put_worker_unpark(
		ws->e, ts_ns,
		&(struct d9_worker_unpark){ .worker_id = w->id,
					    .cpu_time_ns = th->cpu_time_ns,
					    .has_sched_wait_ns = sched_wait_ns != UINT64_MAX,
					    .sched_wait_ns = sched_wait_ns,
					    .tid = (uint32_t)th->tid });
}

/* ---- who is who ---- */

/* `w` loses its thread. An open poll goes on there without it. */
static void lose_holder(struct workers *ws, struct worker *w, uint64_t ts_ns)
{
	struct thread *th = w->holder;

	if (!th)
		return;
	if (w->parked)
		workers_unpark(ws, w->parked, ts_ns, UINT64_MAX);
	w->parked = NULL;
	if (w->open) {
		w->open->handoff_ns = ts_ns;
		ws->stats->handoffs++;
		put_poll_end(ws, w, w->open, ts_ns, RULE_HANDOFF);
	}
	w->holder = NULL;
	if (th->worker == w)
		th->worker = NULL;
	for (size_t i = 0; i < THREAD_SEATS; i++)
		if (th->seats[i].worker == w)
			th->seats[i] = (struct thread_seat){ 0 };
}

static void remember(struct workers *ws, struct thread *th, struct worker *w, uint32_t owner_id,
		     uint64_t ts_ns)
{
	struct thread_seat *seat = NULL;

	for (size_t i = 0; i < THREAD_SEATS; i++)
		if (th->seats[i].owner_id == owner_id)
			seat = &th->seats[i];
	if (!seat)
		seat = &th->seats[th->seat_next++ % THREAD_SEATS];
	if (seat->worker && seat->worker != w)
		lose_holder(ws, seat->worker, ts_ns);
	*seat = (struct thread_seat){ owner_id, w };
}

/* owner_id 0: for which list is not known yet. */
static struct worker *take(struct workers *ws, struct thread *th, struct worker *w,
			   uint32_t owner_id, uint64_t ts_ns)
{
	if (w->holder != th)
		lose_holder(ws, w, ts_ns);
	w->holder = th;
	w->was_held = true;
	if (owner_id)
		remember(ws, th, w, owner_id, ts_ns);
	/* A thread sleeps as the worker that it last was; another one of its own wakes first. */
	if (th->worker != w) {
		workers_unpark(ws, th, ts_ns, UINT64_MAX);
		th->worker = w;
	}
	return w;
}

/* The worker that the thread's memory says it is, NULL = unknown. */
static struct worker *ask_seat(struct workers *ws, struct thread *th)
{
	struct seat seat = { 0 };
	struct runtime *rt;

	if (ws->o->ops->seat(ws->o->ctx, th->tid, &seat))
		return NULL;
	rt = runtimes_by_seat(ws->rs, th->tid, &seat);
	if (!rt)
		return NULL;
	/* In the hand-off of a block_in_place two threads show one worker: the one with the Core
	 * is it. */
	if (!seat.has_core && rt->workers[seat.index].holder &&
	    rt->workers[seat.index].holder != th)
		return NULL;
	return &rt->workers[seat.index];
}

static struct worker *find(struct workers *ws, struct thread *th, uint32_t owner_id, uint64_t ts_ns)
{
	bool is_known;
	struct runtime *rt = runtimes_by_owner(ws->rs, owner_id, &is_known);
	struct worker *w = th->worker;

	if (th->told && (th->told->runtime == rt || !is_known))
		return th->told;
	w = ask_seat(ws, th); /* for all: it also marks the thread for BPF */
	if ((is_known && !rt) || (rt && rt->kind == RUNTIME_CURRENT))
		return runtimes_single(ws->rs, th->tid, rt);
	if (w && (!rt || w->runtime == rt))
		return w;
	th->retry_ns = ts_ns + RETRY_NS;
	for (size_t i = 0; i < THREAD_SEATS; i++)
		if (th->seats[i].owner_id == owner_id && th->seats[i].worker)
			return th->seats[i].worker;
	return runtimes_unseated(ws->rs, owner_id);
}

struct worker *workers_place(struct workers *ws, struct thread *th, uint32_t owner_id,
			     uint64_t ts_ns)
{
	struct worker *w = NULL;

	for (size_t i = 0; i < THREAD_SEATS; i++)
		if (th->seats[i].owner_id == owner_id)
			w = th->seats[i].worker;
	if (w && (w->runtime->kind != RUNTIME_UNSEATED || (!th->told && ts_ns < th->retry_ns))) {
		if (w == th->worker)
			return w;
		return take(ws, th, w, owner_id, ts_ns);
	}
	/* greeted before its first poll: the seat is known, only not yet for this list */
	w = find(ws, th, owner_id, ts_ns);
	return w ? take(ws, th, w, owner_id, ts_ns) : NULL;
}

bool workers_seated(struct workers *ws, struct thread *th, const struct seat *seat, uint64_t ts_ns)
{
	struct runtime *rt = runtimes_by_seat(ws->rs, th->tid, seat);

	if (!rt)
		return false;
	take(ws, th, &rt->workers[seat->index], rt->owner_id, ts_ns);
	th->told = &rt->workers[seat->index];
	return true;
}

void workers_greet(struct workers *ws, struct thread *th)
{
	struct worker *w = ask_seat(ws, th);

	if (w && !w->holder) {
		w->holder = th;
		w->was_held = true;
		th->worker = w;
	}
}

void workers_release(struct workers *ws, struct thread *th, uint64_t ts_ns)
{
	struct worker *w = th->worker;

	for (size_t i = 0; i < THREAD_SEATS; i++)
		if (th->seats[i].worker)
			lose_holder(ws, th->seats[i].worker, ts_ns);
	if (w && w->holder == th) /* greeted or seated, never polled */
		lose_holder(ws, w, ts_ns);
	th->worker = NULL;
	th->told = NULL;
}
