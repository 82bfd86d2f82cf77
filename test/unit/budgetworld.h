/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budgetworld.h - a simulated target for the governor, and its clock.
 *
 * The model: so many polls a second, each with one wake and one end, of types in given parts, and
 * so much of the target's own CPU time a poll. A hit costs HIT_NS, whatever its site; a type that is
 * kept has ends of its own, which cost KEPT_FACTOR - 1 times that.
 */
#ifndef DIAL9_BUDGETWORLD_H
#define DIAL9_BUDGETWORLD_H

#include "agent/budget.h"

#define HIT_NS 800.0
#define STEP_NS 100000000ull
#define SEC_STEPS 10
#define TYPES 4
#define KEPT_FACTOR 11

struct world {
	struct budget b;
	struct budget_type types[TYPES];
	double part[TYPES]; /* of the polls, sum 1 */
	double own_ns; /* of CPU, a poll */
	double overrated; /* so much more than they do cost the probes are taken to cost */
	double base; /* share of the CPU time that is paid on every rung */
	double spent_ns, own_sum_ns; /* since the last world_clear */
	uint32_t seed;
	const char *reason;
};

static inline void world_init(struct world *w, enum budget_rung first, bool can_drop)
{
	*w = (struct world){ .part = { 0.97, 0.01, 0.01, 0.01 }, .own_ns = 5000, .seed = 1 };
	for (size_t i = 0; i < TYPES; i++)
		w->types[i].kept_factor = KEPT_FACTOR;
	budget_init(&w->b, 0.03, first, BUDGET_FULL, can_drop);
}

static inline void world_clear(struct world *w)
{
	w->spent_ns = w->own_sum_ns = 0;
}

/* One interval at `rate` polls a second. Returns true on a change. */
static inline bool world_step(struct world *w, double rate)
{
	struct budget_interval in = { .took_ns = STEP_NS, .types = w->types, .types_cnt = TYPES };
	double polls = rate * STEP_NS / 1e9, own_ns = polls * w->own_ns, cost;
	enum budget_rung r = w->b.rung;

	for (size_t i = 0; i < TYPES; i++) {
		bool is_kept = r == BUDGET_KEPT && !w->types[i].is_dropped;
		double hits = polls * w->part[i] * (is_kept ? KEPT_FACTOR : 1);

		w->types[i].cost_ns = r > BUDGET_KEPT || is_kept ? (uint64_t)(hits * HIT_NS) : 0;
		in.polls_ns += w->types[i].cost_ns;
	}
	in.base_ns = (uint64_t)(w->base * own_ns);
	in.wakes_ns = r >= BUDGET_WAKES ? (uint64_t)(polls * HIT_NS) : 0;
	in.rest_ns = r == BUDGET_FULL ? (uint64_t)(polls * HIT_NS) : 0;
	cost = (double)(in.base_ns + in.polls_ns + in.wakes_ns + in.rest_ns);
	in.cpu_ns = (uint64_t)(own_ns + cost / (1 + w->overrated));
	w->spent_ns += cost;
	w->own_sum_ns += own_ns;
	return budget_step(&w->b, &in, &w->reason);
}

/* `secs` at one rate; the changes in it. */
static inline int world_run(struct world *w, double rate, double secs)
{
	int changes = 0;

	for (int i = 0; i < secs * SEC_STEPS; i++)
		changes += world_step(w, rate);
	return changes;
}

static inline double world_overhead(const struct world *w)
{
	return w->own_sum_ns ? w->spent_ns / w->own_sum_ns : 0;
}

static inline uint32_t world_random(struct world *w)
{
	w->seed = w->seed * 1664525u + 1013904223u;
	return w->seed >> 8;
}

#endif /* DIAL9_BUDGETWORLD_H */
