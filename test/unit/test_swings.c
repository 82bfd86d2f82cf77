// SPDX-License-Identifier: Apache-2.0
/* test_swings.c - the governor where the load changes: ramps, square waves, slow ones, noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "budgetworld.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(load_ends_and_detail_returns),
		cmocka_unit_test(ratio_of_the_load_does_not_hold_the_idle_down),
		cmocka_unit_test(ramp_goes_down_step_by_step),
		cmocka_unit_test(square_wave_does_not_oscillate),
		cmocka_unit_test(slow_wave_is_followed),
		cmocka_unit_test(noise_does_not_oscillate),
		cmocka_unit_test(changed_workload_is_found_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
