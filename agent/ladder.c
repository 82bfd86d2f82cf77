// SPDX-License-Identifier: Apache-2.0
#include "ladder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/types.h>

#include "answer.h"
#include "bpf/cookie.h"
#include "bpf/wire.h"
#include "clock.h"
#include "emit.h"
#include "polltypes.h"
#include "probe.h"
#include "target.h"
#include "track.h"

#define LADDER_TYPE_SZ 1024 /* of a name; longer ones are cut */
#define LADDER_KEPT_GROUP 4 /* behind those of the levels; two of them */

struct ladder_state {
	enum plan_level level; /* polls, if types are kept */
	unsigned kept_set; /* 1 or 2: only kept types are probed; 0 = all are */
	uint32_t dropped[LADDER_DROPS_MAX]; /* types, in the order of their sites */
	size_t dropped_cnt, more_cnt; /* named, and not named */
};

struct ladder_change {
	uint64_t ts_ns;
	const char *reason;
	struct ladder_state state;
};

struct ladder {
	struct ladder_options o;
	struct ladder_state now;
	bool were_kept; /* when the last change was handed on */
	struct ladder_change changes[LADDER_CHANGES_MAX]; /* oldest first */
	size_t changes_cnt;
};

static const char *const ladder_names[] = { "stat", "polls", "wakes", "full" };

const char *ladder_level_name(enum plan_level level)
{
	return ladder_names[level];
}

static enum plan_level ladder_rung(uint8_t kind)
{
	switch (kind) {
	case WIRE_SITE_POLL:
		return PLAN_POLLS;
	case WIRE_SITE_OWN_END:
		return PLAN_STAT; /* of no level: see ladder_keep */
	case WIRE_SITE_SCHEDULE:
		return PLAN_WAKES;
	default:
		return PLAN_FULL;
	}
}

static bool ladder_is_rung(void *ctx, const struct plan_site *s)
{
	return ladder_rung(s->kind) == *(const enum plan_level *)ctx;
}

static unsigned ladder_want(const struct ladder *l, const struct ladder_state *s)
{
	enum plan_level level = s->level;
	unsigned want = WIRE_WANT_SCHED;

	if (l->o.has_cpu)
		want |= WIRE_WANT_CPU;
	if (s->kept_set)
		return want | WIRE_WANT_KEPT(s->kept_set - 1) | WIRE_WANT_OWN_ENDS |
		       WIRE_WANT_QUEUE;
	if (level >= PLAN_POLLS)
		want |= WIRE_WANT_POLLS;
	if (level >= PLAN_WAKES)
		want |= WIRE_WANT_WAKES;
	if (level < PLAN_FULL)
		return want;
	want |= WIRE_WANT_TASKS | WIRE_WANT_QUEUE;
	if (plan_has_site(l->o.plan, WIRE_SITE_RETURN))
		want |= WIRE_WANT_EXACT_ENDS;
	return want;
}

static int ladder_attach(struct ladder *l, enum plan_level rung)
{
	return probe_add(l->o.probe, l->o.slot, rung, 0, l->o.target, l->o.plan, ladder_is_rung,
			 &rung);
}

/* From the top down: no poll starts whose end could be missed. */
static int ladder_climb(struct ladder *l, enum plan_level from, enum plan_level to)
{
	int err = 0;

	for (unsigned rung = to; !err && rung > from; rung--)
		err = ladder_attach(l, rung);
	for (unsigned rung = to; err && rung > from; rung--)
		probe_remove(l->o.probe, l->o.slot, rung);
	return err;
}

int ladder_open(const struct ladder_options *o, enum plan_level level, struct ladder **ret)
{
	struct ladder *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->o = *o;
	l->now.level = level;
	err = probe_begin(o->probe, o->slot, o->target, o->plan);
	if (err)
		goto out;
	err = ladder_climb(l, PLAN_STAT, level);
	if (err)
		probe_detach(o->probe, o->slot);
	else
		probe_set_want(o->probe, o->slot, ladder_want(l, &l->now));
out:
	if (err)
		free(l);
	else
		*ret = l;
	return err;
}

void ladder_close(struct ladder *l)
{
	free(l);
}

enum plan_level ladder_now(const struct ladder *l)
{
	return l->now.kept_set ? PLAN_STAT : l->now.level;
}

bool ladder_is_at(const struct ladder *l, enum plan_level level)
{
	return l->now.level == level && !l->now.kept_set;
}

/* Which of two states knows more. */
static unsigned ladder_rank(const struct ladder_state *s)
{
	return s->kept_set ? 1 : 2 * s->level;
}

/* What is wanted changes, and with it what is recorded: the probes of both levels are in. */
static void ladder_turn(struct ladder *l, const struct ladder_state *to, const char *reason)
{
	/* going up, nothing of the new level is older than that; going down, nothing of the old one is
	 * younger, but for a hit or two */
	bool is_up = ladder_rank(&l->now) < ladder_rank(to);
	uint64_t ts_ns = clock_now_ns();

	probe_set_want(l->o.probe, l->o.slot, ladder_want(l, to));
	l->now = *to;
	l->changes[l->changes_cnt++] = (struct ladder_change){
		.ts_ns = is_up ? ts_ns : clock_now_ns(),
		.reason = reason,
		.state = *to,
	};
}

static void ladder_remove(struct ladder *l, const struct ladder_state *s, enum plan_level above)
{
	for (unsigned rung = s->level; !s->kept_set && rung > above; rung--)
		probe_remove(l->o.probe, l->o.slot, rung);
	if (s->kept_set)
		probe_remove(l->o.probe, l->o.slot, LADDER_KEPT_GROUP + s->kept_set - 1);
}

int ladder_go(struct ladder *l, enum plan_level level, const char *reason)
{
	struct ladder_state from = l->now, to = { .level = level };
	enum plan_level shared = from.kept_set ? PLAN_STAT : from.level;
	int err = 0;

	if (ladder_is_at(l, level))
		return 0;
	if (l->changes_cnt == LADDER_CHANGES_MAX)
		return -EAGAIN;
	if (level > shared)
		err = ladder_climb(l, shared, level);
	if (err)
		return err;
	ladder_turn(l, &to, reason);
	ladder_remove(l, &from, level);
	return 0;
}

struct ladder_keeping {
	const struct ladder *l;
	const bool *is_dropped;
};

static bool ladder_is_kept(void *ctx, const struct plan_site *s)
{
	const struct ladder_keeping *k = ctx;
	const struct polltypes *types = k->l->o.types;
	uint32_t type = types->of_site[s - k->l->o.plan->sites];

	return type != POLLTYPES_NONE && types->types[type].has_own_ends && !k->is_dropped[type];
}

int ladder_keep(struct ladder *l, const bool *is_dropped, const char *reason)
{
	struct ladder_keeping k = { l, is_dropped };
	const struct polltypes *types = l->o.types;
	struct ladder_state from = l->now,
			    to = { PLAN_POLLS, .kept_set = from.kept_set == 1 ? 2 : 1 };
	int err;

	if (l->changes_cnt == LADDER_CHANGES_MAX)
		return -EAGAIN;
	for (size_t i = 0; i < types->cnt; i++) {
		if (types->types[i].has_own_ends && !is_dropped[i])
			continue;
		if (to.dropped_cnt < LADDER_DROPS_MAX)
			to.dropped[to.dropped_cnt++] = (uint32_t)i;
		else
			to.more_cnt++;
	}
	err = probe_add(l->o.probe, l->o.slot, LADDER_KEPT_GROUP + to.kept_set - 1, to.kept_set,
			l->o.target, l->o.plan, ladder_is_kept, &k);
	if (err)
		return err;
	ladder_turn(l, &to, reason);
	ladder_remove(l, &from, PLAN_STAT);
	return 0;
}

uint64_t ladder_due_ns(const struct ladder *l)
{
	return l->changes_cnt ? l->changes[0].ts_ns : UINT64_MAX;
}

static void ladder_describe_state(const struct ladder *l, const struct ladder_state *s,
				  const char *reason, struct emit_level *ret)
{
	bool has_polls = s->level >= PLAN_POLLS && plan_has_site(l->o.plan, WIRE_SITE_POLL),
	     is_exact = s->kept_set || (s->level >= PLAN_FULL &&
					plan_has_site(l->o.plan, WIRE_SITE_RETURN));

	*ret = (struct emit_level){
		.pid = (uint32_t)l->o.target->pid,
		.level = ladder_names[s->level],
		.types = "",
		.ends = !has_polls ? "none" : is_exact ? "exact" : "inferred",
		.reason = reason,
	};
}

static void ladder_track_state(const struct ladder *l, const struct ladder_state *s,
			       struct track_level *ret)
{
	const struct plan *p = l->o.plan;
	bool is_full = s->level >= PLAN_FULL;

	*ret = (struct track_level){
		.has_polls = s->level >= PLAN_POLLS && plan_has_site(p, WIRE_SITE_POLL),
		.has_exact_ends = s->kept_set || (is_full && plan_has_site(p, WIRE_SITE_RETURN)),
		.has_task_events = is_full && l->o.has_task_events,
		.has_wakes = s->level >= PLAN_WAKES && plan_has_site(p, WIRE_SITE_SCHEDULE),
		.has_bind = is_full && plan_has_site(p, WIRE_SITE_BIND),
		.has_raise = is_full && plan_has_site(p, WIRE_SITE_RAISE),
		.ends_polls = !s->kept_set != !l->were_kept,
	};
}

/* Each type that is dropped, by name: one function may be the poll of several. */
static void ladder_tell_dropped(const struct ladder *l, const struct ladder_change *c, struct emit *e)
{
	char name[LADDER_TYPE_SZ];
	bool is_blocking;
	uint64_t addr;

	for (size_t i = 0; i < c->state.dropped_cnt; i++)
		for (size_t at = 0;
		     polltypes_vtable(l->o.types, c->state.dropped[i], &at, &addr);) {
			if (answer_ops.type(l->o.answer, addr, name, sizeof(name), &is_blocking))
				continue;
			emit_dropped(e, c->ts_ns, name);
		}
	if (!c->state.more_cnt)
		return;
	snprintf(name, sizeof(name), "(%zu more)", c->state.more_cnt);
	emit_dropped(e, c->ts_ns, name);
}

void ladder_pass(struct ladder *l, uint64_t ts_ns, struct emit *e, struct track *t)
{
	size_t done = 0;

	for (; done < l->changes_cnt && l->changes[done].ts_ns <= ts_ns; done++) {
		const struct ladder_change *c = &l->changes[done];
		struct emit_level to_emit;
		struct track_level to_track;

		ladder_track_state(l, &c->state, &to_track);
		ladder_describe_state(l, &c->state, c->reason, &to_emit);
		track_level(t, &to_track, c->ts_ns); /* ends what was open, at the old level */
		emit_level(e, c->ts_ns, &to_emit);
		ladder_tell_dropped(l, c, e);
		l->were_kept = c->state.kept_set;
	}
	l->changes_cnt -= done;
	for (size_t i = 0; i < l->changes_cnt; i++)
		l->changes[i] = l->changes[i + done];
}

void ladder_describe(const struct ladder *l, const char *reason, struct emit_level *ret)
{
	ladder_describe_state(l, &l->now, reason, ret);
}

void ladder_track_level(const struct ladder *l, struct track_level *ret)
{
	ladder_track_state(l, &l->now, ret);
}
