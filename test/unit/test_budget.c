// SPDX-License-Identifier: Apache-2.0
/* test_budget.c - the governor against simulated targets: steps, types, what is paid anyway. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "budgetworld.h"

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
		cmocka_unit_test(top_is_never_passed),
		cmocka_unit_test(refused_change_is_not_repeated_at_once),
		cmocka_unit_test(empty_interval_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
