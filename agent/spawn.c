// SPDX-License-Identifier: Apache-2.0
/* spawn.c - see spawn.h. */
#include "agent/spawn.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>

#include "agent/emit.h"
#include "agent/keymap.h"
#include "bpf/wire.h"

#define BIND_NS 1000000ull /* a bind follows its draw within this time (measured: some us) */
#define CONFIRM_CNT 8 /* of this many new tasks, 7/8 must have been drawn */
#define CONFIRM_FEW 3 /* or this many without a miss */
#define REFUSE_CNT 16 /* of this many, half must have been drawn */
#define ID_BITS 58 /* of a task id; larger ones are none */
#define PENDING_NEAR_BITS 4 /* ids that are drawn one after the other are bound and polled so */

enum counter_state { COUNTER_OPEN, COUNTER_CONFIRMED, COUNTER_REFUSED };

struct counter {
	uint8_t state;
	uint64_t first_id;
	uint32_t tried, hit; /* new tasks it may have given out, and those that it did */
};

struct pending { /* a drawn id; key: id and counter */
	uint64_t id; /* 0 = taken */
	uint64_t ts_ns;
	uint32_t tid, worker_id;
	uint8_t counter;
};

struct undecided {
	struct spawn_task task;
	struct spawn_birth birth;
};

struct spawns {
	struct emit *e;
	bool has_events, has_wakes;
	struct counter counters[SPAWN_COUNTERS_MAX];
	uint32_t counters_cnt; /* of them seen so far, by their highest number */
	struct keymap by_key;
	uint64_t head, tail; /* ring of pending[]: tail is the oldest */
	uint32_t undecided_cnt;
	struct spawn_stats stats;
	struct undecided undecided[SPAWN_UNDECIDED_MAX];
	struct pending pending[SPAWN_PENDING_MAX];
};

void spawns_level(struct spawns *sp, bool has_events, bool has_wakes)
{
	sp->has_events = has_events;
	sp->has_wakes = has_wakes;
}

int spawns_new(struct emit *e, bool has_events, bool has_wakes, struct spawns **ret)
{
	struct spawns *sp = calloc(1, sizeof(*sp));

	if (!sp)
		return -ENOMEM;
	sp->e = e;
	sp->has_events = has_events;
	sp->has_wakes = has_wakes;
	if (keymap_init_near(&sp->by_key, SPAWN_PENDING_MAX, PENDING_NEAR_BITS)) {
		free(sp);
		return -ENOMEM;
	}
	*ret = sp;
	return 0;
}

void spawns_free(struct spawns *sp)
{
	if (!sp)
		return;
	keymap_done(&sp->by_key);
	free(sp);
}

static uint64_t key_of(uint64_t id, uint32_t counter)
{
	_Static_assert(SPAWN_COUNTERS_MAX <= 1 << (64 - ID_BITS), "number of a counter");
	return (uint64_t)counter << ID_BITS | id; /* copy and id take 52 bits */
}

static struct pending *at(struct spawns *sp, uint64_t i)
{
	return &sp->pending[i % SPAWN_PENDING_MAX];
}

static void drop_oldest(struct spawns *sp, uint64_t *cnt)
{
	struct pending *p = at(sp, sp->tail++);

	if (p->id) {
		keymap_del(&sp->by_key, key_of(p->id, p->counter));
		p->id = 0;
		(*cnt)++;
	}
}

/* Nearly all are taken within microseconds: then the same few places are used again and again. */
static void skip_taken(struct spawns *sp)
{
	while (sp->tail != sp->head && !at(sp, sp->tail)->id)
		sp->tail++;
	if (sp->tail == sp->head)
		sp->tail = sp->head = 0;
}

bool spawns_drawn(struct spawns *sp, const struct wire_spawn_id *rec, uint32_t worker_id)
{
	struct counter *c;
	uint32_t old;

	if (rec->counter >= SPAWN_COUNTERS_MAX || !rec->task_id || rec->task_id >> ID_BITS)
		return false;
	c = &sp->counters[rec->counter];
	if (rec->counter >= sp->counters_cnt)
		sp->counters_cnt = rec->counter + 1;
	sp->stats.drawn++;
	if (c->state == COUNTER_REFUSED) {
		sp->stats.foreign++;
		return false;
	}
	if (!c->first_id || rec->task_id < c->first_id)
		c->first_id = rec->task_id;
	skip_taken(sp);
	if (sp->head - sp->tail == SPAWN_PENDING_MAX)
		drop_oldest(sp, &sp->stats.over_cap);
	old = keymap_get(&sp->by_key, key_of(rec->task_id, rec->counter));
	if (old != KEYMAP_NONE) /* a number drawn twice: the counter wraps or is no counter */
		sp->pending[old].id = 0;
	*at(sp, sp->head) = (struct pending){.id = rec->task_id,
					     .ts_ns = rec->head.ts_ns,
					     .tid = rec->head.tid,
					     .worker_id = worker_id,
					     .counter = (uint8_t)rec->counter};
	keymap_put(&sp->by_key, key_of(rec->task_id, rec->counter),
		  (uint32_t)(sp->head++ % SPAWN_PENDING_MAX));
	return true;
}

/* ---- which counter is Tokio's ---- */

bool spawns_is_pending(const struct spawns *sp, uint64_t id)
{
	if (id >> ID_BITS)
		return false;
	for (uint32_t c = 0; c < sp->counters_cnt; c++)
		if (sp->counters[c].first_id && sp->counters[c].state == COUNTER_CONFIRMED &&
		    keymap_get(&sp->by_key, key_of(id, c)) != KEYMAP_NONE)
			return true;
	return false;
}

void spawns_put(struct spawns *sp, const struct spawn_task *task, uint64_t ts_ns,
		uint32_t worker_id)
{
	if (!sp->has_events)
		return;
	sp->stats.spawns++;
	emit_put_task_spawn(sp->e, ts_ns,
			    &(struct d9_task_spawn){.task_id = task->task_id,
						    .spawn_loc = task->name,
						    .instrumented = sp->has_wakes,
						    .has_worker_id = worker_id != UINT32_MAX,
						    .worker_id = worker_id});
}

void spawns_put_alive(struct spawns *sp, const struct spawn_task *task)
{
	sp->stats.alive++;
	emit_put_agent_alive(sp->e, task->seen_ns,
			     &(struct d9_agent_alive){.task_id = task->task_id,
						      .vtable = task->vtable,
						      .type = task->type_name});
}

static void decide(struct spawns *sp, uint32_t i, bool is_spawn)
{
	struct undecided *u = &sp->undecided[i];

	if (is_spawn)
		spawns_put(sp, &u->task, u->birth.ts_ns, u->birth.worker_id);
	else
		spawns_put_alive(sp, &u->task);
	*u = sp->undecided[--sp->undecided_cnt];
}

static void set_state(struct spawns *sp, uint32_t counter, uint8_t state)
{
	sp->counters[counter].state = state;
	if (state == COUNTER_CONFIRMED)
		sp->stats.confirmed++;
	else
		sp->stats.refused++;
	for (uint32_t i = sp->undecided_cnt; i-- > 0;)
		if (sp->undecided[i].birth.counter == counter)
			decide(sp, i, state == COUNTER_CONFIRMED);
}

static bool is_same_copy(const struct counter *c, uint64_t id)
{
	return c->first_id >> WIRE_COPY_ID_BITS == id >> WIRE_COPY_ID_BITS;
}

/* A new task's id, which counter `hit` gave out (or none): what the open counters of its copy of
 * Tokio learn. A counter whose draws began above the id may be Tokio's all the same. */
static void learn(struct spawns *sp, uint64_t id, uint32_t hit)
{
	for (uint32_t i = 0; i < sp->counters_cnt; i++) {
		struct counter *c = &sp->counters[i];

		if (c->state != COUNTER_OPEN || !c->first_id || id < c->first_id ||
		    !is_same_copy(c, id))
			continue;
		c->tried++;
		c->hit += i == hit;
		if ((c->tried >= CONFIRM_CNT && c->hit >= c->tried / 8 * 7) ||
		    (c->tried >= CONFIRM_FEW && c->hit == c->tried))
			set_state(sp, i, COUNTER_CONFIRMED);
		else if (c->tried >= REFUSE_CNT && c->hit < c->tried / 2)
			set_state(sp, i, COUNTER_REFUSED);
	}
}

bool spawns_take(struct spawns *sp, uint64_t id, uint32_t tid, uint64_t ts_ns,
		 struct spawn_birth *ret)
{
	struct pending *best = NULL;

	if (id >> ID_BITS)
		return false;
	/* The latest draw is the true one: another counter that runs ahead drew the number long
	 * before, one that lags has not drawn it yet. */
	for (uint32_t c = 0; c < sp->counters_cnt; c++) {
		uint8_t state = sp->counters[c].state;
		uint32_t i = sp->counters[c].first_id && state != COUNTER_REFUSED ?
				     keymap_get(&sp->by_key, key_of(id, c)) :
				     KEYMAP_NONE;
		struct pending *p = i == KEYMAP_NONE ? NULL : &sp->pending[i];

		if (!p || p->ts_ns > ts_ns)
			continue;
		if (tid && state == COUNTER_OPEN && (p->tid != tid || ts_ns - p->ts_ns > BIND_NS))
			continue;
		if (!best || p->ts_ns > best->ts_ns)
			best = p;
	}
	learn(sp, id, best ? best->counter : SPAWN_COUNTERS_MAX);
	if (!best)
		return false;
	*ret = (struct spawn_birth){.ts_ns = best->ts_ns,
				    .worker_id = best->worker_id,
				    .counter = best->counter,
				    .is_sure = sp->counters[best->counter].state ==
					       COUNTER_CONFIRMED};
	keymap_del(&sp->by_key, key_of(id, best->counter));
	best->id = 0;
	sp->stats.taken++;
	return true;
}

void spawns_defer(struct spawns *sp, const struct spawn_task *task, const struct spawn_birth *b)
{
	if (sp->undecided_cnt == SPAWN_UNDECIDED_MAX)
		spawns_put_alive(sp, task);
	else
		sp->undecided[sp->undecided_cnt++] = (struct undecided){*task, *b};
}

void spawns_tick(struct spawns *sp, uint64_t now_ns, bool is_last)
{
	while (sp->tail != sp->head &&
	       (!at(sp, sp->tail)->id || at(sp, sp->tail)->ts_ns + SPAWN_TTL_NS < now_ns))
		drop_oldest(sp, &sp->stats.expired);
	for (uint32_t i = sp->undecided_cnt; i-- > 0;) {
		const struct undecided *u = &sp->undecided[i];
		const struct counter *c = &sp->counters[u->birth.counter];

		if (is_last || u->task.seen_ns + SPAWN_DECIDE_NS < now_ns)
			decide(sp, i, c->hit == c->tried);
	}
}

bool spawns_since_birth(const struct spawns *sp)
{
	bool is_any = false;

	for (uint32_t i = 0; i < sp->counters_cnt; i++) {
		if (sp->counters[i].state != COUNTER_CONFIRMED)
			continue;
		if (WIRE_OWN_ID(sp->counters[i].first_id) != 1)
			return false;
		is_any = true;
	}
	return is_any;
}

void spawns_stats(const struct spawns *sp, struct spawn_stats *ret)
{
	*ret = sp->stats;
}
