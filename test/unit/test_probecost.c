// SPDX-License-Identifier: Apache-2.0
/* test_probecost.c - what clocked runs of programs say of the cost of a hit, a switch, a sample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/probecost.h"

static void clocked(struct probecost_runs *r, enum probecost_kind kind, uint64_t cnt, uint64_t ns_each)
{
	r->of[kind].cnt += cnt;
	r->of[kind].ns += cnt * (ns_each + PROBECOST_CLOCK_NS);
}

static void runs_become_costs(void **state)
{
	struct probecost c = PROBECOST_INIT;
	struct probecost_runs now = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		clocked(&now, PROBECOST_SITE, 2000, 350);
		clocked(&now, PROBECOST_SWITCH, 1000, 850);
		clocked(&now, PROBECOST_SAMPLE, 100, 6500);
		probecost_learn(&c, &now);
	}
	assert_in_range(c.site_ns, 345, 350);
	assert_in_range(c.switch_ns, 850 + PROBECOST_DISPATCH_NS - 5, 850 + PROBECOST_DISPATCH_NS);
	assert_in_range(c.sample_ns, 6500 + PROBECOST_TICK_NS - 5, 6500 + PROBECOST_TICK_NS);
}

/* Once is not always, and more than before is believed less than less. */
static void a_look_is_averaged(void **state)
{
	struct probecost c = PROBECOST_INIT;
	struct probecost_runs now = { 0 };

	(void)state;
	clocked(&now, PROBECOST_SITE, 100, PROBECOST_SITE_NS + 800);
	probecost_learn(&c, &now);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS + 100);
	clocked(&now, PROBECOST_SITE, 100, PROBECOST_SITE_NS);
	probecost_learn(&c, &now);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS + 50);
}

/* Few runs say nothing, but they are not forgotten. */
static void little_waits_for_more(void **state)
{
	struct probecost c = PROBECOST_INIT;
	struct probecost_runs now = { 0 };

	(void)state;
	clocked(&now, PROBECOST_SITE, PROBECOST_RUNS_MIN - 1, PROBECOST_SITE_NS + 800);
	probecost_learn(&c, &now);
	probecost_learn(&c, &now);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS);
	clocked(&now, PROBECOST_SITE, 1, PROBECOST_SITE_NS + 800);
	probecost_learn(&c, &now);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS + 100);
	assert_int_equal(c.switch_ns, PROBECOST_SWITCH_NS);
	assert_int_equal(c.sample_ns, PROBECOST_SAMPLE_NS);
}

/* A target has gone, and its counts with it. */
static void counts_may_go_back(void **state)
{
	struct probecost c = PROBECOST_INIT;
	struct probecost_runs now = { 0 };

	(void)state;
	clocked(&now, PROBECOST_SITE, 1000, PROBECOST_SITE_NS);
	probecost_learn(&c, &now);
	now = (struct probecost_runs){ 0 };
	clocked(&now, PROBECOST_SITE, 500, 9000);
	probecost_learn(&c, &now);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS);
	clocked(&now, PROBECOST_SITE, 500, PROBECOST_SITE_NS + 80);
	probecost_learn(&c, &now);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS + 10);
}

/* The time of a program that was stopped in its middle is no cost; nor is there one below zero. */
static void what_cannot_be_is_ignored(void **state)
{
	struct probecost c = PROBECOST_INIT;
	struct probecost_runs now = { 0 };

	(void)state;
	clocked(&now, PROBECOST_SITE, 20, 5000000);
	now.of[PROBECOST_SWITCH].cnt = 100;
	now.of[PROBECOST_SWITCH].ns = 100;
	probecost_learn(&c, &now);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS);
	assert_int_equal(c.switch_ns, (PROBECOST_SWITCH_NS + PROBECOST_DISPATCH_NS + 1) / 2);
}

static void looks_are_apart(void **state)
{
	struct probecost c = PROBECOST_INIT;

	(void)state;
	assert_true(probecost_is_due(&c, 5));
	assert_false(probecost_is_due(&c, 4 + PROBECOST_EACH_NS));
	assert_true(probecost_is_due(&c, 5 + PROBECOST_EACH_NS));
	assert_false(probecost_is_due(&c, 6 + PROBECOST_EACH_NS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_become_costs),
		cmocka_unit_test(a_look_is_averaged),
		cmocka_unit_test(little_waits_for_more),
		cmocka_unit_test(counts_may_go_back),
		cmocka_unit_test(what_cannot_be_is_ignored),
		cmocka_unit_test(looks_are_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
