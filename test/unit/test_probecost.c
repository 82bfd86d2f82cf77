// SPDX-License-Identifier: Apache-2.0
/* test_probecost.c - what run times of programs say of the cost of a hit, a switch, a sample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/probecost.h"

static void runs_become_costs(void **state)
{
	struct probecost c = PROBECOST_INIT;
	struct probecost_runs from = { .switches = 5, .samples = 7 }, to = from;

	(void)state;
	from.progs[PROBECOST_SITE].cnt = 1000;
	from.progs[PROBECOST_SITE].ns = 1000000;
	to.progs[PROBECOST_SITE].cnt = 3000;
	to.progs[PROBECOST_SITE].ns = 1000000 + 2000 * (350 + PROBECOST_STATS_NS);
	/* 1000 switches of ours; 9000 looks at threads of others; 500 wakeups */
	to.switches += 1000;
	to.progs[PROBECOST_SWITCH].cnt = 5000;
	to.progs[PROBECOST_SWITCH].ns = 1000 * 800 + 9000 * PROBECOST_MISS_NS + 5000 * PROBECOST_STATS_NS;
	to.progs[PROBECOST_WAKEUP].cnt = 500;
	to.progs[PROBECOST_WAKEUP].ns = 500 * (PROBECOST_MISS_NS + 100 + PROBECOST_STATS_NS);
	to.samples += 100;
	to.progs[PROBECOST_SAMPLE].cnt = 400;
	to.progs[PROBECOST_SAMPLE].ns = 100 * 6500 + 400 * PROBECOST_STATS_NS;
	for (int i = 0; i < 100; i++)
		probecost_learn(&c, &from, &to);
	assert_in_range(c.site_ns, 345, 350);
	assert_in_range(c.switch_ns, 800 + 50 + PROBECOST_DISPATCH_NS - 5,
			800 + 50 + PROBECOST_DISPATCH_NS);
	assert_in_range(c.sample_ns, 6500 + PROBECOST_TICK_NS - 5, 6500 + PROBECOST_TICK_NS);
}

/* Once is not always, and more than before is believed less than less. */
static void a_window_is_averaged(void **state)
{
	struct probecost c = PROBECOST_INIT;
	struct probecost_runs from = { .switches = 0 }, to = from;

	(void)state;
	to.progs[PROBECOST_SITE].cnt = 100;
	to.progs[PROBECOST_SITE].ns = 100 * (PROBECOST_SITE_NS + 800 + PROBECOST_STATS_NS);
	probecost_learn(&c, &from, &to);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS + 100);
	to.progs[PROBECOST_SITE].ns = 100 * (PROBECOST_SITE_NS + PROBECOST_STATS_NS);
	probecost_learn(&c, &from, &to);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS + 50);
}

static void little_says_nothing(void **state)
{
	struct probecost c = PROBECOST_INIT;
	struct probecost_runs from = { .switches = 100, .samples = 100 }, to = from;

	(void)state;
	probecost_learn(&c, &from, &to);
	to.switches += PROBECOST_RUNS_MIN - 1;
	to.samples += PROBECOST_RUNS_MIN - 1;
	for (int i = 0; i < PROBECOST_PROG_CNT; i++) {
		to.progs[i].cnt = PROBECOST_RUNS_MIN - 1;
		to.progs[i].ns = 1000000000;
	}
	probecost_learn(&c, &from, &to);
	/* counts that went back: another target has the slot */
	to.progs[PROBECOST_SITE].cnt = 1000;
	to.switches = 50;
	probecost_learn(&c, &from, &to);
	to.switches = 1000;
	to.samples = 50;
	probecost_learn(&c, &from, &to);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS);
	assert_int_equal(c.switch_ns, PROBECOST_SWITCH_NS);
	assert_int_equal(c.sample_ns, PROBECOST_SAMPLE_NS);
}

/* The run time of a program that was stopped in its middle is no cost. */
static void what_cannot_be_is_ignored(void **state)
{
	struct probecost c = PROBECOST_INIT;
	struct probecost_runs from = { .switches = 0 }, to = from;

	(void)state;
	to.progs[PROBECOST_SITE].cnt = 20;
	to.progs[PROBECOST_SITE].ns = 20ull * 5000000;
	probecost_learn(&c, &from, &to);
	assert_int_equal(c.site_ns, PROBECOST_SITE_NS);
	/* fewer ns than the misses alone would take */
	to.switches = 100;
	to.progs[PROBECOST_SWITCH].cnt = 100000;
	to.progs[PROBECOST_SWITCH].ns = 1000;
	probecost_learn(&c, &from, &to);
	assert_int_equal(c.switch_ns, (PROBECOST_SWITCH_NS + PROBECOST_DISPATCH_NS) / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_become_costs),
		cmocka_unit_test(a_window_is_averaged),
		cmocka_unit_test(little_says_nothing),
		cmocka_unit_test(what_cannot_be_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
