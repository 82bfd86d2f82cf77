// SPDX-License-Identifier: Apache-2.0
#include "overhead.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <linux/types.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"
#include "budget.h"
#include "busy.h"
#include "clock.h"
#include "feature.h"
#include "ladder.h"
#include "log.h"
#include "plan.h"
#include "polltypes.h"
#include "probe.h"

struct overhead {
	struct overhead_options o;
	struct budget budget;
	struct trigger trigger;
	struct busy busy;
	struct budget_type *types; /* as in o.types */
	bool *is_dropped; /* of types, for ladder_keep */
	uint64_t *hits; /* of each site, as last read */
	uint64_t *fresh; /* room to read them into */
	struct wire_counts counts; /* as last seen */
	struct probe_costs costs;
	clockid_t cpu_clock;
	bool has_clock, has_hits, is_told;
	bool is_looking; /* closer, at a level that the budget has not chosen */
	uint64_t last_ns, cpu_ns;
	struct overhead_sums sums;
};

static enum plan_level overhead_level(enum budget_rung rung)
{
	static const enum plan_level levels[] = {
		[BUDGET_STAT] = PLAN_STAT,   [BUDGET_POLLS] = PLAN_POLLS,
		[BUDGET_WAKES] = PLAN_WAKES, [BUDGET_FULL] = PLAN_FULL,
	};

	return levels[rung];
}

static enum budget_rung overhead_rung(int level)
{
	static const enum budget_rung rungs[] = {
		[PLAN_STAT] = BUDGET_STAT,
		[PLAN_POLLS] = BUDGET_POLLS,
		[PLAN_WAKES] = BUDGET_WAKES,
		[PLAN_FULL] = BUDGET_FULL,
	};

	return rungs[level];
}

/* A probe that makes a record costs more than the empty one that was measured at start-up. */
static uint32_t overhead_hit_ns(const struct overhead *ov, bool is_emulated)
{
	const struct features *f = ov->o.features;

	uint32_t trap_ns = is_emulated || !f->step_cost_ns ? f->hit_cost_ns : f->step_cost_ns;

	return (uint32_t)(OVERHEAD_WORK_FACTOR * (trap_ns + ov->costs.site_ns));
}

/* Every poll of a kept type hits one of its exits: where some are single-stepped, say all are. */
static void overhead_types(struct overhead *ov)
{
	const struct polltypes *types = ov->o.types;

	for (size_t i = 0; i < types->cnt; i++) {
		const struct polltypes_type *t = &types->types[i];
		double start_ns = overhead_hit_ns(ov, ov->o.plan->sites[t->site].is_emulated);

		if (t->has_own_ends && start_ns > 0)
			ov->types[i].kept_factor =
				1 + overhead_hit_ns(ov, !t->has_stepped_ends) / start_ns;
	}
}

int overhead_open(const struct overhead_options *o, uint64_t now_ns, struct overhead **ret)
{
	struct overhead *ov = calloc(1, sizeof(*ov));

	if (!ov)
		return -ENOMEM;
	ov->o = *o;
	probe_costs(o->probe, &ov->costs);
	ov->last_ns = now_ns;
	ov->hits = calloc(o->plan->sites_cnt + 1, sizeof(*ov->hits));
	ov->fresh = calloc(o->plan->sites_cnt + 1, sizeof(*ov->fresh));
	ov->types = calloc(o->types->cnt + 1, sizeof(*ov->types));
	ov->is_dropped = calloc(o->types->cnt + 1, sizeof(*ov->is_dropped));
	if (!ov->hits || !ov->fresh || !ov->types || !ov->is_dropped) {
		overhead_close(ov);
		return -ENOMEM;
	}
	ov->has_clock = clock_getcpuclockid(o->pid, &ov->cpu_clock) == 0;
	if (ov->has_clock)
		ov->cpu_ns = clock_read_ns(ov->cpu_clock);
	ov->has_hits = !probe_hits(o->probe, o->slot, ov->hits, o->plan->sites_cnt);
	ov->sums.is_known = ov->has_hits && o->features->hit_cost_ns;
	overhead_types(ov);
	if (o->share > 0)
		budget_init(&ov->budget, o->share, overhead_rung(o->level), overhead_rung(o->level),
			    o->types->cnt > 0);
	trigger_init(&ov->trigger, &o->on_demand);
	ov->busy.period_ns = o->cpu_hz ? 1000000000ull / o->cpu_hz : 0;
	*ret = ov;
	return 0;
}

void overhead_close(struct overhead *ov)
{
	if (!ov)
		return;
	free(ov->is_dropped);
	free(ov->types);
	free(ov->fresh);
	free(ov->hits);
	free(ov);
}

void overhead_switch_in(struct overhead *ov, const struct wire_switch_in *in)
{
	if (in->out_ns && in->task_id)
		trigger_poll(&ov->trigger, in->head.ts_ns - in->out_ns);
	if (in->runnable_ns)
		trigger_delay(&ov->trigger, in->head.ts_ns - in->runnable_ns);
}

void overhead_sample(struct overhead *ov, const struct wire_cpu_sample *sample)
{
	trigger_poll(&ov->trigger, busy_sample(&ov->busy, sample->head.tid, sample->task_id,
					       sample->head.ts_ns));
}

void overhead_parks(struct overhead *ov, const struct wire_parks *rec)
{
	if (rec->delay_max_ns)
		trigger_delay(&ov->trigger, rec->delay_max_ns);
}

void overhead_pull(struct overhead *ov, const char *reason)
{
	trigger_pull(&ov->trigger, reason);
}

const char *overhead_ask(struct overhead *ov, const struct trigger_options *look, const char *reason)
{
	if (look->level > (int)ov->o.plan->level)
		return "this recording was started without the probes of that level: start it with "
		       "--on-demand too";
	trigger_ask(&ov->trigger, look->level, look->time_ns, reason);
	return NULL;
}

void overhead_sums(const struct overhead *ov, struct overhead_sums *ret)
{
	*ret = ov->sums;
}

static uint64_t overhead_cost(const struct overhead *ov, const struct plan_site *s, uint64_t hits)
{
	return hits * overhead_hit_ns(ov, s->is_emulated);
}

/* What is paid on every rung; and hits of probes that were just being put in or taken out. */
static void overhead_count(struct overhead *ov, const struct wire_counts *now,
			   struct budget_interval *ret)
{
	uint64_t switches = now->v[WIRE_SWITCHES] - ov->counts.v[WIRE_SWITCHES],
		 samples = now->v[WIRE_SAMPLES] - ov->counts.v[WIRE_SAMPLES],
		 unwanted = now->v[WIRE_UNWANTED] - ov->counts.v[WIRE_UNWANTED];

	ret->base_ns = switches * ov->costs.switch_ns + samples * ov->costs.sample_ns;
	ov->sums.base_ns += ret->base_ns;
	ov->sums.hits += unwanted;
	ov->sums.cost_ns += ret->base_ns + unwanted * ov->o.features->hit_cost_ns;
	ov->counts = *now;
}

/* What happened since the last call. */
static bool overhead_measure(struct overhead *ov, const struct wire_counts *counts, uint64_t now_ns,
			     struct budget_interval *ret)
{
	const struct plan *p = ov->o.plan;
	uint64_t cpu_ns = ov->has_clock ? clock_read_ns(ov->cpu_clock) : 0;

	*ret = (struct budget_interval){
		.took_ns = now_ns - ov->last_ns,
		.types = ov->types,
		.types_cnt = ov->o.types->cnt,
	};
	for (size_t i = 0; i < ret->types_cnt; i++)
		ov->types[i].cost_ns = 0;
	probe_costs(ov->o.probe, &ov->costs);
	overhead_count(ov, counts, ret);
	if (cpu_ns > ov->cpu_ns) /* 0: the process has ended */
		ret->cpu_ns = cpu_ns - ov->cpu_ns;
	ov->last_ns = now_ns;
	ov->cpu_ns = cpu_ns ? cpu_ns : ov->cpu_ns;
	ov->sums.cpu_ns += ret->cpu_ns;
	if (!ov->has_hits || probe_hits(ov->o.probe, ov->o.slot, ov->fresh, p->sites_cnt))
		return false;
	for (size_t i = 0; i < p->sites_cnt; i++) {
		uint64_t hits = ov->fresh[i] - ov->hits[i], cost_ns;
		uint32_t type = ov->o.types->of_site[i];

		if (!hits)
			continue;
		ov->hits[i] = ov->fresh[i];
		cost_ns = overhead_cost(ov, &p->sites[i], hits);
		ov->sums.hits += hits;
		ov->sums.cost_ns += cost_ns;
		if (type != POLLTYPES_NONE)
			ov->types[type].cost_ns += cost_ns;
		*(type != POLLTYPES_NONE		   ? &ret->polls_ns
		  : p->sites[i].kind == WIRE_SITE_SCHEDULE ? &ret->wakes_ns
							   : &ret->rest_ns) += cost_ns;
	}
	return true;
}

/* A change takes its time, and until its end the old level holds: a new interval begins. */
static void overhead_skip(struct overhead *ov)
{
	struct wire_counts counts = ov->counts;
	struct budget_interval in;

	probe_counts(ov->o.probe, ov->o.slot, &counts);
	overhead_measure(ov, &counts, clock_now_ns(), &in);
}

static bool overhead_go(struct overhead *ov, enum plan_level level, const char *reason)
{
	if (ladder_is_at(ov->o.ladder, level))
		return true;
	if (ladder_go(ov->o.ladder, level, reason))
		return false;
	ov->sums.changes_cnt++;
	log_debug("pid %d: level %s: %s", ov->o.pid, ladder_level_name(level), reason);
	return true;
}

static bool overhead_drop(struct overhead *ov, const char *reason)
{
	size_t dropped_cnt = 0;

	for (size_t i = 0; i < ov->o.types->cnt; i++)
		dropped_cnt += ov->is_dropped[i] = ov->types[i].is_dropped;
	if (ladder_keep(ov->o.ladder, ov->is_dropped, reason))
		return false;
	ov->sums.changes_cnt++;
	log_debug("pid %d: level polls without %zu types: %s", ov->o.pid, dropped_cnt, reason);
	return true;
}

/* To what the budget has decided. */
static bool overhead_follow(struct overhead *ov, const char *reason)
{
	return ov->budget.rung == BUDGET_KEPT ?
		       overhead_drop(ov, reason) :
		       overhead_go(ov, overhead_level(ov->budget.rung), reason);
}

/* To the level that holds when nobody asks for more. */
static void overhead_settle(struct overhead *ov, const char *reason)
{
	if (ov->o.share <= 0)
		overhead_go(ov, (enum plan_level)ov->o.level, reason);
	else if (ov->is_looking && overhead_follow(ov, reason))
		ov->is_looking = false;
}

static void overhead_keep(struct overhead *ov, const struct budget_interval *in)
{
	enum budget_rung before = ov->budget.rung;
	const char *reason = NULL;

	if (!budget_step(&ov->budget, in, &reason))
		return;
	if (!overhead_follow(ov, reason))
		budget_stay(&ov->budget, before);
	overhead_skip(ov);
}

/* A closer look begins or ends. What could not be done at once is tried again. */
static void overhead_look(struct overhead *ov, uint64_t now_ns)
{
	enum trigger_turn turn = trigger_turn(&ov->trigger, now_ns);
	uint64_t changes_cnt = ov->sums.changes_cnt;

	if (turn == TRIGGER_BEGIN && ov->trigger.level > (int)ladder_now(ov->o.ladder))
		ov->is_looking |= overhead_go(ov, (enum plan_level)ov->trigger.level,
					      ov->trigger.reason);
	if (turn == TRIGGER_END && ov->o.share > 0)
		budget_stay(&ov->budget, ov->budget.rung);
	if (!trigger_holds(&ov->trigger))
		overhead_settle(ov, "the closer look is over");
	if (ov->sums.changes_cnt != changes_cnt)
		overhead_skip(ov);
}

void overhead_tick(struct overhead *ov, const struct wire_counts *counts, uint64_t now_ns)
{
	struct budget_interval in;
	bool is_measured;

	overhead_look(ov, now_ns);
	if (now_ns - ov->last_ns < OVERHEAD_INTERVAL_NS)
		return;
	is_measured = overhead_measure(ov, counts, now_ns, &in);
	trigger_cpu(&ov->trigger, in.cpu_ns, in.took_ns);
	if (ov->o.share <= 0 || trigger_holds(&ov->trigger))
		return;
	if (is_measured && ov->sums.is_known)
		overhead_keep(ov, &in);
	else if (!ov->is_told && (ov->is_told = true))
		log_warn(0,
			 "pid %d: what a probe costs could not be measured: --max-overhead is not "
			 "kept",
			 ov->o.pid);
}
