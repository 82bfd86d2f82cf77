// SPDX-License-Identifier: Apache-2.0
#include "ladder.h"

#include <errno.h>
#include <stdlib.h>

#include <linux/types.h>

#include "bpf/wire.h"
#include "clock.h"
#include "emit.h"
#include "probe.h"
#include "target.h"
#include "track.h"

struct ladder_change {
	uint64_t ts_ns;
	enum plan_level level;
	const char *reason;
};

struct ladder {
	struct ladder_options o;
	enum plan_level level;
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

static unsigned ladder_want(const struct ladder *l, enum plan_level level)
{
	unsigned want = WIRE_WANT_SCHED;

	if (l->o.has_cpu)
		want |= WIRE_WANT_CPU;
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
	return probe_add(l->o.probe, l->o.slot, rung, l->o.target, l->o.plan, ladder_is_rung,
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
	l->level = level;
	err = probe_begin(o->probe, o->slot, o->target, o->plan);
	if (err)
		goto out;
	err = ladder_climb(l, PLAN_STAT, level);
	if (err)
		probe_detach(o->probe, o->slot);
	else
		probe_set_want(o->probe, o->slot, ladder_want(l, level));
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
	return l->level;
}

int ladder_go(struct ladder *l, enum plan_level level, const char *reason)
{
	enum plan_level from = l->level;
	uint64_t ts_ns;

	if (level == from)
		return 0;
	if (l->changes_cnt == LADDER_CHANGES_MAX)
		return -EAGAIN;
	if (level > from) {
		int err = ladder_climb(l, from, level);

		if (err)
			return err;
		ts_ns = clock_now_ns(); /* nothing of the new level is older */
		probe_set_want(l->o.probe, l->o.slot, ladder_want(l, level));
	} else {
		probe_set_want(l->o.probe, l->o.slot, ladder_want(l, level));
		ts_ns = clock_now_ns(); /* nothing of the old level is younger, but for a hit or two */
		for (unsigned rung = from; rung > level; rung--)
			probe_remove(l->o.probe, l->o.slot, rung);
	}
	l->level = level;
	l->changes[l->changes_cnt++] = (struct ladder_change){ ts_ns, level, reason };
	return 0;
}

uint64_t ladder_due_ns(const struct ladder *l)
{
	return l->changes_cnt ? l->changes[0].ts_ns : UINT64_MAX;
}

void ladder_pass(struct ladder *l, uint64_t ts_ns, struct emit *e, struct track *t)
{
	size_t done = 0;

	for (; done < l->changes_cnt && l->changes[done].ts_ns <= ts_ns; done++) {
		const struct ladder_change *c = &l->changes[done];
		struct emit_level to_emit;
		struct track_level to_track;

		ladder_track_level(l, c->level, &to_track);
		ladder_describe(l, c->level, c->reason, &to_emit);
		track_level(t, &to_track, c->ts_ns); /* ends what was open, at the old level */
		emit_level(e, c->ts_ns, &to_emit);
	}
	l->changes_cnt -= done;
	for (size_t i = 0; i < l->changes_cnt; i++)
		l->changes[i] = l->changes[i + done];
}

void ladder_describe(const struct ladder *l, enum plan_level level, const char *reason,
		     struct emit_level *ret)
{
	bool has_polls = level >= PLAN_POLLS && plan_has_site(l->o.plan, WIRE_SITE_POLL),
	     is_exact = level >= PLAN_FULL && plan_has_site(l->o.plan, WIRE_SITE_RETURN);

	*ret = (struct emit_level){
		.pid = (uint32_t)l->o.target->pid,
		.level = ladder_names[level],
		.types = "",
		.ends = !has_polls ? "none" : is_exact ? "exact" : "inferred",
		.reason = reason,
	};
}

void ladder_track_level(const struct ladder *l, enum plan_level level, struct track_level *ret)
{
	const struct plan *p = l->o.plan;
	bool is_full = level >= PLAN_FULL;

	*ret = (struct track_level){
		.has_polls = level >= PLAN_POLLS && plan_has_site(p, WIRE_SITE_POLL),
		.has_exact_ends = is_full && plan_has_site(p, WIRE_SITE_RETURN),
		.has_task_events = is_full && l->o.has_task_events,
		.has_wakes = level >= PLAN_WAKES && plan_has_site(p, WIRE_SITE_SCHEDULE),
		.has_bind = is_full && plan_has_site(p, WIRE_SITE_BIND),
		.has_raise = is_full && plan_has_site(p, WIRE_SITE_RAISE),
	};
}
