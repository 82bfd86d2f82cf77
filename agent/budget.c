// SPDX-License-Identifier: Apache-2.0
#include "budget.h"

#define BUDGET_SMOOTH_NS 300000000.0 /* time constant of the rates */
#define BUDGET_OWN_MIN 0.05 /* of its CPU time is the target's own, whatever the rest is taken for */
#define BUDGET_RATIO_MIN 1e-5 /* of a core: ratios to less than this say nothing */

void budget_init(struct budget *b, double share, enum budget_rung first, enum budget_rung top,
		 bool can_drop)
{
	*b = (struct budget){
		.share = share,
		.rung = first < top ? first : top,
		.top = top,
		.can_drop = can_drop,
		.polls_by_cpu = -1,
		.wakes_by_polls = -1,
		.rest_by_polls = -1,
		.wait_ns = BUDGET_WAIT_MIN_NS,
		.try_ns = BUDGET_TRY_MIN_NS,
	};
}

static double budget_cost(const struct budget *b)
{
	return b->base + b->polls + b->wakes + b->rest;
}

/* CPU time of the target's own work, as a rate. Where probes make up nearly all of its CPU time, and are
 * thought to cost a little more than they do, it would seem to do nothing at all. */
static double budget_own(const struct budget *b)
{
	double own = b->cpu - budget_cost(b), least = BUDGET_OWN_MIN * b->cpu;

	return own > least ? own : least;
}

static double budget_allowed(const struct budget *b, double own)
{
	return b->share * (own > BUDGET_IDLE_SHARE ? own : BUDGET_IDLE_SHARE);
}

double budget_allowance(const struct budget *b)
{
	return budget_allowed(b, budget_own(b));
}

/* What the interval cost over what it was allowed to. */
static void budget_owe(struct budget *b, const struct budget_interval *in)
{
	double cost = (double)(in->base_ns + in->polls_ns + in->wakes_ns + in->rest_ns),
	       took = (double)in->took_ns,
	       allowed = budget_allowed(b, ((double)in->cpu_ns - cost) / took);

	b->debt_ns += cost - allowed * took;
	if (b->debt_ns < -allowed * (double)BUDGET_CREDIT_NS)
		b->debt_ns = -allowed * (double)BUDGET_CREDIT_NS;
}

static void budget_smooth(double *rate, uint64_t ns, const struct budget_interval *in)
{
	double weight = (double)in->took_ns / BUDGET_SMOOTH_NS;

	if (weight > 1)
		weight = 1;
	*rate += weight * ((double)ns / (double)in->took_ns - *rate);
}

/* What the type's hits would have cost, were it kept. */
static uint64_t budget_if_kept(const struct budget *b, const struct budget_type *t)
{
	return b->rung == BUDGET_KEPT ? t->cost_ns : (uint64_t)((double)t->cost_ns * t->kept_factor);
}

/* Of a type that is not probed the rate stays as it was. */
static bool budget_is_seen(const struct budget *b, const struct budget_type *t)
{
	return b->rung > BUDGET_KEPT || (b->rung == BUDGET_KEPT && !t->is_dropped);
}

static void budget_measure(struct budget *b, const struct budget_interval *in)
{
	budget_smooth(&b->cpu, in->cpu_ns, in);
	budget_smooth(&b->base, in->base_ns, in);
	budget_smooth(&b->polls, in->polls_ns, in);
	budget_smooth(&b->wakes, in->wakes_ns, in);
	budget_smooth(&b->rest, in->rest_ns, in);
	for (size_t i = 0; i < in->types_cnt; i++)
		if (budget_is_seen(b, &in->types[i]))
			budget_smooth(&in->types[i].rate, budget_if_kept(b, &in->types[i]), in);
}

/* The ratios that can be seen at this rung. */
static void budget_learn(struct budget *b)
{
	if (b->rung <= BUDGET_KEPT)
		return;
	b->learnt_own = budget_own(b);
	if (budget_own(b) > BUDGET_RATIO_MIN)
		b->polls_by_cpu = b->polls / budget_own(b);
	if (b->polls <= BUDGET_RATIO_MIN)
		return;
	if (b->rung >= BUDGET_WAKES)
		b->wakes_by_polls = b->wakes / b->polls;
	if (b->rung == BUDGET_FULL)
		b->rest_by_polls = b->rest / b->polls;
}

/* What a rung from POLLS on would cost now; unknown ratios count as the ordinary 1. */
static double budget_predict(const struct budget *b, enum budget_rung rung)
{
	double polls = b->polls, wakes = b->wakes, rest = b->rest;

	if (b->rung <= BUDGET_KEPT)
		polls = b->polls_by_cpu < 0 ? 0 : b->polls_by_cpu * budget_own(b);
	if (b->rung < BUDGET_WAKES)
		wakes = polls * (b->wakes_by_polls < 0 ? 1 : b->wakes_by_polls);
	if (b->rung < BUDGET_FULL)
		rest = polls * (b->rest_by_polls < 0 ? 1 : b->rest_by_polls);
	return b->base + polls + (rung >= BUDGET_WAKES ? wakes : 0) +
	       (rung == BUDGET_FULL ? rest : 0);
}

/* What rung KEPT costs with the types that are not dropped. */
static double budget_kept(const struct budget *b, const struct budget_interval *in)
{
	double sum = b->base;

	for (size_t i = 0; i < in->types_cnt; i++)
		sum += in->types[i].is_dropped ? 0 : in->types[i].rate;
	return sum;
}

/* Drops those that cannot be kept, then the hottest until the rest fits, one at least. False: it never
 * fits, or no type is left. */
static bool budget_drop(const struct budget *b, const struct budget_interval *in, double limit)
{
	size_t dropped_cnt = 0;

	if (!b->can_drop)
		return false;
	for (size_t i = 0; i < in->types_cnt; i++)
		in->types[i].is_dropped |= !(in->types[i].kept_factor > 0);
	while (!dropped_cnt || budget_kept(b, in) > limit) {
		struct budget_type *hot = NULL;

		for (size_t i = 0; i < in->types_cnt; i++)
			if (!in->types[i].is_dropped && (!hot || in->types[i].rate > hot->rate))
				hot = &in->types[i];
		if (!hot || hot->rate <= 0)
			return false;
		hot->is_dropped = true;
		dropped_cnt++;
	}
	for (size_t i = 0; i < in->types_cnt; i++)
		if (!in->types[i].is_dropped)
			return true;
	return false;
}

static void budget_keep_all(const struct budget_interval *in)
{
	for (size_t i = 0; i < in->types_cnt; i++)
		in->types[i].is_dropped = false;
}

static uint64_t budget_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The last rise was a mistake. */
static void budget_regret(struct budget *b)
{
	if (b->is_try)
		b->try_ns = budget_min(b->try_ns * 2, BUDGET_TRY_MAX_NS);
	else
		b->wait_ns = budget_min(b->wait_ns * 2, BUDGET_WAIT_MAX_NS);
	b->rise_ns = 0;
}

/* Nothing had to change for a long time, or a try held: less distrust. */
static void budget_relax(struct budget *b)
{
	if (b->now_ns - b->calm_ns >= BUDGET_CALM_NS) {
		b->calm_ns = b->now_ns;
		b->wait_ns =
			b->wait_ns / 2 > BUDGET_WAIT_MIN_NS ? b->wait_ns / 2 : BUDGET_WAIT_MIN_NS;
	}
	if (b->rise_ns && b->now_ns - b->rise_ns >= BUDGET_SOON_NS) {
		b->rise_ns = 0;
		if (b->is_try)
			b->try_ns = BUDGET_TRY_MIN_NS;
	}
}

static void budget_take(struct budget *b, enum budget_rung rung)
{
	if (rung > b->rung)
		b->rise_ns = b->now_ns;
	else if (rung < b->rung && b->rise_ns)
		budget_regret(b);
	b->rung = rung;
	b->change_ns = b->calm_ns = b->now_ns;
	b->fits_ns = 0;
	b->debt_ns = 0;
	b->changes_cnt++;
	if (rung < BUDGET_FULL)
		b->rest = 0;
	if (rung < BUDGET_WAKES)
		b->wakes = 0;
	if (rung < BUDGET_POLLS)
		b->polls = 0;
}

/* In a burst the smoothed rates lag behind: what comes next is more like the last interval. */
static void budget_catch_up(double *rate, uint64_t ns, const struct budget_interval *in)
{
	double now = (double)ns / (double)in->took_ns;

	if (*rate < now)
		*rate = now;
}

static void budget_brace(struct budget *b, const struct budget_interval *in)
{
	budget_catch_up(&b->cpu, in->cpu_ns, in);
	budget_catch_up(&b->base, in->base_ns, in);
	budget_catch_up(&b->polls, in->polls_ns, in);
	budget_catch_up(&b->wakes, in->wakes_ns, in);
	budget_catch_up(&b->rest, in->rest_ns, in);
	for (size_t i = 0; i < in->types_cnt; i++)
		if (budget_is_seen(b, &in->types[i]))
			budget_catch_up(&in->types[i].rate, budget_if_kept(b, &in->types[i]), in);
}

static bool budget_fall(struct budget *b, const struct budget_interval *in)
{
	enum budget_rung rung = b->rung;
	double limit;

	if (b->rung > BUDGET_KEPT)
		budget_keep_all(in); /* left over from a change that failed */
	budget_brace(b, in);
	budget_learn(b);
	limit = BUDGET_FIT_DOWN * budget_allowance(b);
	do
		rung--;
	while (rung > BUDGET_KEPT && budget_predict(b, rung) > limit);
	if (rung <= BUDGET_KEPT)
		rung = budget_drop(b, in, limit) ? BUDGET_KEPT : BUDGET_STAT;
	if (rung == BUDGET_STAT)
		budget_keep_all(in);
	budget_take(b, rung);
	if (rung == BUDGET_KEPT)
		b->polls = budget_kept(b, in) - b->base;
	return true;
}

/* The highest rung that would fit now with room to spare; b->rung if there is none above it. */
static enum budget_rung budget_best(const struct budget *b)
{
	double limit = BUDGET_FIT_UP * budget_allowance(b);
	enum budget_rung rung = b->top;

	/* types are only kept on the way down, where the rates of all are seen */
	while (rung > b->rung && (rung == BUDGET_KEPT || budget_predict(b, rung) > limit))
		rung--;
	return rung;
}

/* Is it time to see again what the polls of all types cost? */
static bool budget_may_try(const struct budget *b)
{
	uint64_t wait_ns = b->try_ns;

	/* each try that did not last makes this one four times rarer */
	if (budget_own(b) < BUDGET_TRY_CALM * b->learnt_own)
		wait_ns = b->try_ns / BUDGET_TRY_CALM_PART * (b->try_ns / BUDGET_TRY_MIN_NS);
	return b->rung <= BUDGET_KEPT && b->top >= BUDGET_POLLS &&
	       b->now_ns - b->change_ns >= wait_ns &&
	       b->base < BUDGET_FIT_UP * budget_allowance(b);
}

static bool budget_rise(struct budget *b, const struct budget_interval *in, const char **ret_reason)
{
	enum budget_rung best = budget_best(b);

	budget_relax(b);
	if (best == b->rung) {
		b->fits_ns = 0;
		if (!budget_may_try(b))
			return false;
		b->is_try = true;
		budget_keep_all(in);
		*ret_reason = "to measure what polls cost now";
		budget_take(b, BUDGET_POLLS);
		return true;
	}
	if (!b->fits_ns)
		b->fits_ns = b->now_ns;
	if (b->now_ns - b->fits_ns < b->wait_ns)
		return false;
	b->is_try = false;
	*ret_reason = "the load allows it";
	budget_keep_all(in);
	budget_take(b, best);
	return true;
}

bool budget_step(struct budget *b, const struct budget_interval *in, const char **ret_reason)
{
	if (!in->took_ns)
		return false;
	b->now_ns += in->took_ns;
	budget_measure(b, in);
	/* just after a change the rates are no measure yet */
	if (b->now_ns - b->change_ns >= (uint64_t)BUDGET_SMOOTH_NS)
		budget_learn(b);
	budget_owe(b, in);
	if (b->rung == BUDGET_STAT || b->debt_ns <= budget_allowance(b) * (double)BUDGET_DEBT_NS)
		return budget_rise(b, in, ret_reason);
	*ret_reason = "over the budget";
	return budget_fall(b, in);
}

void budget_stay(struct budget *b, enum budget_rung rung)
{
	b->rung = rung;
	b->change_ns = b->now_ns;
}
