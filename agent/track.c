// SPDX-License-Identifier: Apache-2.0
/* track.c - see track.h. Hands each record to its handler and counts what became of it. */
#include <errno.h>
#include <stdlib.h>

#include "agent/gauge.h"
#include "agent/life.h"
#include "agent/offcpu.h"
#include "agent/parks.h"
#include "agent/poll.h"
#include "agent/seat.h"
#include "agent/track_state.h"

int track_open(const struct track_options *o, struct emit *e, struct track **ret)
{
	struct track *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->o = *o;
	t->e = e;
	t->has_polls = true;
	if (threads_new(&t->threads) || tasks_new(&t->tasks) || places_new(&t->o, e, &t->places) ||
	    runtimes_new(&t->o, e, &t->runtimes) ||
	    workers_new(&t->o, t->runtimes, e, &t->stats, &t->workers) ||
	    spawns_new(e, t->o.has_task_events, t->o.has_wakes, &t->spawns) || offcpu_new(&t->offcpu)) {
		track_close(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

void track_close(struct track *t)
{
	if (!t)
		return;
	offcpu_free(t->offcpu);
	spawns_free(t->spawns);
	workers_free(t->workers);
	runtimes_free(t->runtimes);
	places_free(t->places);
	tasks_free(t->tasks);
	threads_free(t->threads);
	free(t);
}

static bool thread_over(struct track *t, struct thread *th, uint64_t ts_ns, enum worker_rule rule)
{
	if (!th)
		return false;
	poll_close(t, th, 0, ts_ns, rule);
	if (th->off_slot)
		offcpu_drop(t, th);
	if (rule != RULE_FINISH) /* else it sleeps on, and its park stays open */
		workers_release(t->workers, th, ts_ns);
	threads_end(t->threads, th);
	return true;
}

static bool seated(struct track *t, const struct wire_seat *rec)
{
	struct thread *th = threads_get(t->threads, (pid_t)rec->head.tid);
	struct seat seat = {.handle = rec->handle,
			    .index = rec->index,
			    .workers_cnt = rec->workers_cnt,
			    .queue_addr = rec->queue_addr,
			    .has_core = true};

	return th && workers_seated(t->workers, th, &seat, rec->head.ts_ns);
}

/* The program became another one: no thread of the old one runs on. */
static bool all_over(struct track *t, uint64_t ts_ns)
{
	uint32_t at = 0;
	struct thread *th;

	while ((th = threads_next(t->threads, &at)))
		thread_over(t, th, ts_ns, RULE_THREAD_EXIT);
	return true;
}

/* A stack never reaches beyond its record, whatever the count says. */
#define FRAMES_CNT(rec, sz)                                                                        \
	((rec)->frames_cnt <= ((sz) - sizeof(*(rec))) / 8 ? (rec)->frames_cnt :                   \
							     ((sz) - sizeof(*(rec))) / 8)

void track_record(struct track *t, const struct wire_head *rec, size_t sz)
{
	const void *r = rec;
	bool is_used = false;

	switch (rec->kind) {
	case WIRE_POLL_START:
		is_used = poll_start(t, r);
		break;
	case WIRE_POLL_END:
		is_used = poll_end(t, r);
		break;
	case WIRE_WAKE:
		is_used = poll_wake(t, r);
		break;
	case WIRE_SPAWN_ID:
		is_used = life_spawn_id(t, r);
		break;
	case WIRE_BIND:
		is_used = life_bind(t, r);
		break;
	case WIRE_SHUTDOWN:
		is_used = life_shutdown(t, r);
		break;
	case WIRE_OWNER: {
		const struct wire_owner *owner = r;

		runtimes_owner(t->runtimes, owner->owner_id, owner->scheduler);
		is_used = true;
		break;
	}
	case WIRE_SEAT:
		is_used = seated(t, r);
		break;
	case WIRE_SWITCH_OUT: {
		const struct wire_switch_out *out = r;

		is_used = offcpu_out(t, out, FRAMES_CNT(out, sz));
		break;
	}
	case WIRE_SWITCH_IN:
		is_used = offcpu_in(t, r);
		break;
	case WIRE_CPU_SAMPLE: {
		const struct wire_cpu_sample *sample = r;

		is_used = offcpu_sample(t, sample, FRAMES_CNT(sample, sz));
		break;
	}
	case WIRE_PARKS:
		is_used = parks_record(t, r);
		break;
	case WIRE_TASK_SEEN:
		is_used = poll_seen(t, r);
		break;
	case WIRE_THREAD_EXIT:
		is_used = thread_over(t, threads_find(t->threads, (pid_t)rec->tid), rec->ts_ns,
				      RULE_THREAD_EXIT);
		break;
	case WIRE_EXEC:
		is_used = all_over(t, rec->ts_ns);
		break;
	default: /* WIRE_RETURN_SITE is the recorder's business */
		break;
	}
	if (is_used) {
		t->stats.used_records++;
	} else {
		t->stats.ignored_records++;
		t->stats.ignored_by[rec->kind & 31]++;
	}
}

void track_thread(struct track *t, pid_t tid)
{
	struct thread *th = threads_get(t->threads, tid);

	if (th)
		workers_greet(t->workers, th);
}

bool track_has_summed(const struct track *t)
{
	return parks_are_stale(t, UINT64_MAX);
}

bool track_is_stale(const struct track *t, uint64_t now_ns)
{
	return parks_are_stale(t, now_ns);
}

void track_tick(struct track *t, uint64_t now_ns)
{
	tasks_tick(t->tasks, !t->o.has_task_events);
	spawns_tick(t->spawns, now_ns, false);
	unread_tick(&t->unread, t->e, t->runtimes, now_ns);
	gauges_sample(t->runtimes, &t->o, t->e, &t->lists, now_ns,
		      !t->has_lost && spawns_since_birth(t->spawns));
}

void track_level(struct track *t, const struct track_level *l, uint64_t ts_ns)
{
	uint32_t at = 0;
	struct thread *th;

	while ((!l->has_polls || l->ends_polls) && (th = threads_next(t->threads, &at)))
		poll_close(t, th, 0, ts_ns, RULE_LEVEL);
	t->has_polls = l->has_polls;
	t->o.has_exact_ends = l->has_exact_ends;
	t->o.has_task_events = l->has_task_events;
	t->o.has_bind = l->has_bind;
	t->o.has_raise = l->has_raise;
	t->o.has_wakes = l->has_wakes;
	spawns_level(t->spawns, l->has_task_events, l->has_wakes);
}

void track_loss(struct track *t, int kind, uint64_t cnt, uint64_t from_ns, uint64_t to_ns)
{
	(void)kind;
	(void)from_ns;
	if (!cnt)
		return;
	t->has_lost = true;
	workers_lost(t->workers, to_ns);
}

void track_finish(struct track *t, uint64_t now_ns)
{
	uint32_t at = 0;
	struct thread *th;

	while ((th = threads_next(t->threads, &at)))
		thread_over(t, th, now_ns, RULE_FINISH);
	wake_finish(t);
	spawns_tick(t->spawns, now_ns, true);
}

void track_stats(const struct track *t, struct track_stats *ret)
{
	struct spawn_stats sp;

	spawns_stats(t->spawns, &sp);
	*ret = t->stats;
	ret->spawns = sp.spawns;
	ret->alive = sp.alive;
	ret->ids_drawn = sp.drawn;
	ret->ids_foreign = sp.foreign;
	ret->counters_confirmed = sp.confirmed;
	ret->tasks_now = tasks_cnt(t->tasks);
}
