// SPDX-License-Identifier: Apache-2.0
/*
 * test_budget.c - the governor against simulated targets: steps, ramps, square waves, noise.
 *
 * The model: so many polls a second, each with one wake and one end, of types in given parts, and
 * so much of the target's own CPU time a poll. A hit costs HIT_NS, whatever its site; a type that is
 * kept has ends of its own, which cost KEPT_FACTOR - 1 times that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

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

static void world_init(struct world *w, enum budget_rung first, bool can_drop)
{
	*w = (struct world){ .part = { 0.97, 0.01, 0.01, 0.01 }, .own_ns = 5000, .seed = 1 };
	for (size_t i = 0; i < TYPES; i++)
		w->types[i].kept_factor = KEPT_FACTOR;
	budget_init(&w->b, 0.03, first, BUDGET_FULL, can_drop);
}

static void world_clear(struct world *w)
{
	w->spent_ns = w->own_sum_ns = 0;
}

/* One interval at `rate` polls a second. Returns true on a change. */
static bool world_step(struct world *w, double rate)
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
static int world_run(struct world *w, double rate, double secs)
{
	int changes = 0;

	for (int i = 0; i < secs * SEC_STEPS; i++)
		changes += world_step(w, rate);
	return changes;
}

static double world_overhead(const struct world *w)
{
	return w->own_sum_ns ? w->spent_ns / w->own_sum_ns : 0;
}

static uint32_t world_random(struct world *w)
{
	w->seed = w->seed * 1664525u + 1013904223u;
	return w->seed >> 8;
}

static void quiet_target_stays_at_full(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, true);
	assert_int_equal(world_run(&w, 500, 60), 0);
	assert_int_equal(w.b.rung, BUDGET_FULL);
	/* heavy polls: 10,000 a second of 90 us each cost 2.7 % in full */
	w.own_ns = 90000;
	assert_int_equal(world_run(&w, 10000, 120), 0);
	assert_int_equal(w.b.rung, BUDGET_FULL);
}

static void step_up_falls_within_a_second(void **state)
{
	static const double rates[] = { 410000, 200000, 80000, 40000, 20000 };

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct world w;

		world_init(&w, BUDGET_FULL, true);
		world_run(&w, 100, 10);
		assert_int_equal(w.b.rung, BUDGET_FULL);
		world_run(&w, rates[i], 1);
		assert_true(w.b.rung <= BUDGET_KEPT);
		assert_string_equal(w.reason, "over the budget");
		/* 16 to 48 % of the target's CPU time a poll: it stays but for rare tries */
		world_clear(&w);
		world_run(&w, rates[i], 120);
		assert_true(world_overhead(&w) < 0.03);
	}
}

/* Attached under load: the first fall teaches what polls cost, and no rise is tried for nothing. */
static void load_from_the_start_is_not_forgotten(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, true);
	world_run(&w, 30000, 0.5);
	assert_true(w.b.rung <= BUDGET_KEPT);
	assert_int_equal(world_run(&w, 30000, 15), 0);
}

static void small_excess_is_answered(void **state)
{
	struct world w;
	int steps = 0;

	(void)state;
	world_init(&w, BUDGET_FULL, false);
	w.own_ns = 80000; /* full costs 3 %: 1.4 times that */
	world_run(&w, 10000, 10);
	assert_int_equal(w.b.rung, BUDGET_FULL);
	w.own_ns = 80000 / 1.45;
	while (w.b.rung == BUDGET_FULL && steps < 100) {
		world_step(&w, 10000);
		steps++;
	}
	assert_true(steps <= 12); /* smoothing and the credit come before the debt */
	assert_int_equal(w.b.rung, BUDGET_POLLS);
}

static void rung_taken_is_the_highest_that_fits(void **state)
{
	/* own CPU time a poll, so that full costs 3 hits, wakes 2, polls 1 */
	static const struct {
		double own_ns;
		enum budget_rung rung;
	} cases[] = {
		{ 100000, BUDGET_FULL },
		{ 70000, BUDGET_WAKES },
		{ 50000, BUDGET_POLLS },
		{ 20000, BUDGET_STAT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;

		world_init(&w, BUDGET_FULL, false);
		w.own_ns = cases[i].own_ns;
		world_run(&w, 20000, 3);
		assert_int_equal(w.b.rung, cases[i].rung);
		world_clear(&w);
		world_run(&w, 20000, 60);
		assert_true(world_overhead(&w) <= 0.031);
	}
}

static void hot_types_are_dropped_and_the_others_kept(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, true); /* polls alone cost 16 % */
	world_run(&w, 20000, 3);
	assert_int_equal(w.b.rung, BUDGET_KEPT);
	assert_true(w.types[0].is_dropped);
	/* the others are 1 % of the polls each: 1.76 % of the CPU time with their ends, limit 2.4 % */
	assert_int_equal(w.types[1].is_dropped + w.types[2].is_dropped + w.types[3].is_dropped, 2);
	world_clear(&w);
	assert_int_equal(world_run(&w, 20000, 12), 0);
	assert_true(world_overhead(&w) < 0.02);
	/* the load ends: all comes back */
	world_run(&w, 100, 4);
	assert_int_equal(w.b.rung, BUDGET_FULL);
	for (int i = 0; i < TYPES; i++)
		assert_false(w.types[i].is_dropped);
}

static void a_kept_type_that_becomes_hot_is_dropped_too(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, true);
	w.part[0] = 0.997;
	w.part[1] = w.part[2] = w.part[3] = 0.001;
	world_run(&w, 20000, 3);
	assert_int_equal(w.b.rung, BUDGET_KEPT);
	assert_false(w.types[1].is_dropped || w.types[2].is_dropped || w.types[3].is_dropped);
	w.part[0] = 0.498;
	w.part[2] = 0.5;
	assert_int_equal(world_run(&w, 20000, 1), 1);
	assert_int_equal(w.b.rung, BUDGET_KEPT);
	assert_true(w.types[0].is_dropped && w.types[2].is_dropped);
	assert_false(w.types[1].is_dropped || w.types[3].is_dropped);
	world_clear(&w);
	assert_int_equal(world_run(&w, 20000, 13), 0);
	assert_true(world_overhead(&w) < 0.02);
}

static void what_cannot_be_kept_is_dropped(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, true);
	w.part[0] = 0.999;
	w.part[1] = w.part[2] = w.part[3] = 0.001 / 3;
	w.types[2].kept_factor = 0;
	world_run(&w, 20000, 3);
	assert_int_equal(w.b.rung, BUDGET_KEPT);
	assert_true(w.types[0].is_dropped && w.types[2].is_dropped);
	assert_false(w.types[1].is_dropped || w.types[3].is_dropped);
	/* nothing can be: then there is nothing to keep */
	world_init(&w, BUDGET_FULL, true);
	for (int i = 0; i < TYPES; i++)
		w.types[i].kept_factor = 0;
	world_run(&w, 20000, 3);
	assert_int_equal(w.b.rung, BUDGET_STAT);
}

/* Probes that seem to cost more than all of the CPU time: that is no reason to want more of them. */
static void overrated_probes_are_too_many_all_the_same(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, true);
	w.own_ns = 350;
	w.overrated = 0.5;
	world_run(&w, 300000, 1);
	assert_true(w.b.rung <= BUDGET_KEPT);
	assert_int_equal(world_run(&w, 300000, 14), 0);
	/* nor when it is starved of CPU time by others */
	assert_int_equal(world_run(&w, 30000, 1), 0);
}

/* Switches and samples are paid first: the probes have what they leave. */
static void what_is_always_paid_is_taken_off(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, false);
	w.own_ns = 110000; /* full 2.2 % */
	world_run(&w, 10000, 20);
	assert_int_equal(w.b.rung, BUDGET_FULL);
	w.base = 0.012;
	world_run(&w, 10000, 5);
	assert_int_equal(w.b.rung, BUDGET_POLLS);
	world_clear(&w);
	world_run(&w, 10000, 60);
	assert_true(world_overhead(&w) < 0.031);
	/* more than the whole budget: no probe, and no try that would find nothing out */
	w.base = 0.04;
	world_run(&w, 10000, 5);
	assert_int_equal(w.b.rung, BUDGET_STAT);
	assert_int_equal(world_run(&w, 10000, 600), 0);
}

static void load_ends_and_detail_returns(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, true);
	world_run(&w, 300000, 5);
	assert_true(w.b.rung <= BUDGET_KEPT);
	assert_true(world_run(&w, 0, 10) <= 2);
	assert_int_equal(w.b.rung, BUDGET_FULL);
	assert_string_equal(w.reason, "the load allows it");
}

/* Polls are a greater part of what it does under load than of what it does when idle. */
static void ratio_of_the_load_does_not_hold_the_idle_down(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, false);
	world_run(&w, 100000, 5);
	assert_int_equal(w.b.rung, BUDGET_STAT);
	w.own_ns = 210000; /* 2 % of a core */
	assert_true(world_run(&w, 100, 6) > 0);
	assert_int_equal(w.b.rung, BUDGET_FULL);
	/* where that comes and goes, the tries become rare */
	for (int i = 0; i < 20; i++) {
		w.own_ns = 5000;
		world_run(&w, 100000, 3);
		w.own_ns = 210000;
		world_run(&w, 100, 3);
	}
	assert_true(w.b.changes_cnt < 24);
}

static void ramp_goes_down_step_by_step(void **state)
{
	struct world w;
	double own;

	(void)state;
	world_init(&w, BUDGET_FULL, false);
	/* lighter and lighter polls, the same CPU */
	for (own = 200000; own > 8000; own *= 0.995) {
		w.own_ns = own;
		if (world_step(&w, 1e9 / own))
			assert_string_not_equal(w.reason, "the load allows it");
	}
	assert_int_equal(w.b.rung, BUDGET_STAT);
	assert_true(w.b.changes_cnt <= 6);
	assert_true(world_overhead(&w) < 0.031);
}

/* Whatever the period: never more changes than the load makes, and few where it is fast. */
static void square_wave_does_not_oscillate(void **state)
{
	static const double periods[] = { 0.4, 1, 3, 5, 9 };

	(void)state;
	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		struct world w;
		int waves = (int)(600 / periods[i]), changes = 0;

		world_init(&w, BUDGET_FULL, true);
		for (int k = 0; k < waves; k++) {
			changes += world_run(&w, 400000, periods[i] / 2);
			changes += world_run(&w, 0, periods[i] / 2);
		}
		assert_true(changes <= 36);
		assert_true(world_overhead(&w) < 0.02);
	}
}

static void slow_wave_is_followed(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, true);
	for (int k = 0; k < 10; k++) {
		world_run(&w, 400000, 60);
		assert_true(w.b.rung <= BUDGET_KEPT);
		world_run(&w, 0, 60);
		assert_int_equal(w.b.rung, BUDGET_FULL);
	}
	assert_true(w.b.changes_cnt <= 60);
	assert_true(world_overhead(&w) < 0.03);
}

/* Around the threshold, with noise of every size. */
static void noise_does_not_oscillate(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct world w;

		world_init(&w, BUDGET_FULL, seed & 1);
		w.seed = seed;
		w.own_ns = 60000 + 2000 * seed;
		for (int i = 0; i < 600 * SEC_STEPS; i++)
			world_step(&w, 2000 + world_random(&w) % (seed * 1000));
		assert_true(w.b.changes_cnt <= 40);
		assert_true(world_overhead(&w) < 0.035);
	}
}

/* What was learnt of a workload no longer holds: it is found out, soon after a while. */
static void changed_workload_is_found_out(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, true);
	world_run(&w, 200000, 10);
	assert_true(w.b.rung <= BUDGET_KEPT);
	w.own_ns = 200000; /* the same CPU time, in few heavy polls */
	world_run(&w, 5000, 120);
	assert_int_equal(w.b.rung, BUDGET_FULL);
}

static void top_is_never_passed(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_FULL, true);
	budget_init(&w.b, 0.03, BUDGET_FULL, BUDGET_WAKES, true);
	assert_int_equal(w.b.rung, BUDGET_WAKES);
	world_run(&w, 10, 20);
	assert_int_equal(w.b.rung, BUDGET_WAKES);
	assert_int_equal(w.b.changes_cnt, 0);
	world_run(&w, 300000, 2);
	assert_true(w.b.rung <= BUDGET_KEPT);
	world_run(&w, 10, 20);
	assert_int_equal(w.b.rung, BUDGET_WAKES);
	budget_init(&w.b, 0.03, BUDGET_FULL, BUDGET_STAT, true);
	assert_int_equal(world_run(&w, 300000, 100), 0);
}

static void refused_change_is_not_repeated_at_once(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, BUDGET_STAT, true);
	while (!world_step(&w, 10))
		;
	assert_int_equal(w.b.rung, BUDGET_FULL);
	budget_stay(&w.b, BUDGET_STAT);
	assert_int_equal(world_run(&w, 10, 0.7), 0);
	assert_int_equal(w.b.rung, BUDGET_STAT);
}

static void empty_interval_changes_nothing(void **state)
{
	struct budget before;
	struct world w;
	struct budget_interval in = { .took_ns = 0, .cpu_ns = 5, .polls_ns = 1ull << 60 };

	(void)state;
	world_init(&w, BUDGET_FULL, true);
	before = w.b;
	assert_false(budget_step(&w.b, &in, &w.reason));
	assert_memory_equal(&before, &w.b, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_target_stays_at_full),
		cmocka_unit_test(step_up_falls_within_a_second),
		cmocka_unit_test(load_from_the_start_is_not_forgotten),
		cmocka_unit_test(small_excess_is_answered),
		cmocka_unit_test(rung_taken_is_the_highest_that_fits),
		cmocka_unit_test(hot_types_are_dropped_and_the_others_kept),
		cmocka_unit_test(a_kept_type_that_becomes_hot_is_dropped_too),
		cmocka_unit_test(what_cannot_be_kept_is_dropped),
		cmocka_unit_test(overrated_probes_are_too_many_all_the_same),
		cmocka_unit_test(what_is_always_paid_is_taken_off),
		cmocka_unit_test(load_ends_and_detail_returns),
		cmocka_unit_test(ratio_of_the_load_does_not_hold_the_idle_down),
		cmocka_unit_test(ramp_goes_down_step_by_step),
		cmocka_unit_test(square_wave_does_not_oscillate),
		cmocka_unit_test(slow_wave_is_followed),
		cmocka_unit_test(noise_does_not_oscillate),
		cmocka_unit_test(changed_workload_is_found_out),
		cmocka_unit_test(top_is_never_passed),
		cmocka_unit_test(refused_change_is_not_repeated_at_once),
		cmocka_unit_test(empty_interval_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
