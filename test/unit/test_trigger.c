// SPDX-License-Identifier: Apache-2.0
/* test_trigger.c - closer looks: how they are asked for, when they begin and end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "agent/plan.h"
#include "agent/trigger.h"

#define MS 1000000ull
#define SEC 1000000000ull

static struct trigger made(const char *text)
{
	struct trigger_options o;
	struct trigger t;

	assert_int_equal(trigger_parse(text, &o), 0);
	trigger_init(&t, &o);
	return t;
}

static void parses_what_it_says(void **state)
{
	struct trigger_options o;

	(void)state;
	assert_int_equal(trigger_parse("full:10s", &o), 0);
	assert_true(o.is_set);
	assert_int_equal(o.level, PLAN_FULL);
	assert_int_equal(o.time_ns, 10 * SEC);
	assert_false(o.poll_ns || o.delay_ns || o.cpu_percent);
	assert_int_equal(trigger_parse("polls:500ms,poll>5ms,delay>20us,cpu>150%", &o), 0);
	assert_int_equal(o.level, PLAN_POLLS);
	assert_int_equal(o.time_ns, 500 * MS);
	assert_int_equal(o.poll_ns, 5 * MS);
	assert_int_equal(o.delay_ns, 20000);
	assert_int_equal(o.cpu_percent, 150);
	assert_int_equal(trigger_parse("wakes:2m", &o), 0);
	assert_int_equal(o.time_ns, 120 * SEC);
}

static void refuses_what_it_does_not_understand(void **state)
{
	static const char *const bad[] = {
		"",
		"full",
		"full:",
		"full:10",
		"full:0s",
		"full:-1s",
		"stat:10s",
		"half:10s",
		"full:25h",
		"full:10s,",
		"full:10s poll>5ms",
		"full:10s,poll>",
		"full:10s,poll>5",
		"full:10s,poll>0ms",
		"full:10s,cpu>5",
		"full:10s,cpu>5%%",
		"full:10s,delay<5ms",
		"full:99999999999999999999s",
		"full:10sx",
		"full:10s,poll>5ms,,cpu>5%",
	};
	struct trigger_options o = { .level = -7 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (trigger_parse(bad[i], &o) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(o.level, -7);
	}
}

static void a_pull_holds_for_its_time(void **state)
{
	struct trigger t = made("full:10s");

	(void)state;
	assert_int_equal(trigger_turn(&t, 1 * SEC), TRIGGER_NONE);
	trigger_pull(&t, "asked for");
	assert_int_equal(trigger_turn(&t, 2 * SEC), TRIGGER_BEGIN);
	assert_string_equal(t.reason, "asked for");
	assert_true(trigger_holds(&t));
	assert_int_equal(trigger_turn(&t, 3 * SEC), TRIGGER_NONE);
	assert_int_equal(trigger_turn(&t, 12 * SEC - 1), TRIGGER_NONE);
	assert_int_equal(trigger_turn(&t, 12 * SEC), TRIGGER_END);
	assert_false(trigger_holds(&t));
	assert_int_equal(trigger_turn(&t, 13 * SEC), TRIGGER_NONE);
	assert_int_equal(t.pulls_cnt, 1);
}

static void a_second_pull_makes_it_longer(void **state)
{
	struct trigger t = made("full:10s");

	(void)state;
	trigger_pull(&t, "asked for");
	assert_int_equal(trigger_turn(&t, 1 * SEC), TRIGGER_BEGIN);
	trigger_pull(&t, "asked for");
	assert_int_equal(trigger_turn(&t, 9 * SEC), TRIGGER_BEGIN);
	assert_int_equal(trigger_turn(&t, 18 * SEC), TRIGGER_NONE);
	assert_int_equal(trigger_turn(&t, 19 * SEC), TRIGGER_END);
}

static void conditions_pull_above_their_limit(void **state)
{
	struct trigger t = made("full:1s,poll>5ms,delay>2ms,cpu>150%");

	(void)state;
	trigger_poll(&t, 5 * MS);
	trigger_delay(&t, 2 * MS);
	trigger_cpu(&t, 150 * MS, 100 * MS);
	assert_int_equal(trigger_turn(&t, 1 * SEC), TRIGGER_NONE);
	trigger_poll(&t, 5 * MS + 1);
	assert_int_equal(trigger_turn(&t, 1 * SEC), TRIGGER_BEGIN);
	assert_string_equal(t.reason, "on demand: a long poll");
	assert_int_equal(trigger_turn(&t, 2 * SEC), TRIGGER_END);
	/* it rests: four times its length */
	trigger_delay(&t, 3 * MS);
	assert_int_equal(trigger_turn(&t, 5 * SEC), TRIGGER_NONE);
	assert_int_equal(trigger_turn(&t, 6 * SEC), TRIGGER_NONE); /* that one was forgotten */
	trigger_delay(&t, 3 * MS);
	assert_int_equal(trigger_turn(&t, 6 * SEC), TRIGGER_BEGIN);
	assert_string_equal(t.reason, "on demand: a long wait for a CPU");
	assert_int_equal(trigger_turn(&t, 7 * SEC), TRIGGER_END);
	trigger_cpu(&t, 151 * MS, 100 * MS);
	trigger_pull(&t, "asked for"); /* a person need not wait */
	assert_int_equal(trigger_turn(&t, 7 * SEC), TRIGGER_BEGIN);
	assert_string_equal(t.reason, "asked for");
}

static void nothing_pulls_what_is_not_set(void **state)
{
	struct trigger t;

	(void)state;
	trigger_init(&t, &(struct trigger_options){ .is_set = false });
	trigger_poll(&t, UINT64_MAX);
	trigger_delay(&t, UINT64_MAX);
	trigger_cpu(&t, UINT64_MAX, 1);
	trigger_pull(&t, "asked for");
	assert_int_equal(trigger_turn(&t, 1), TRIGGER_NONE);
}

static void asked_for_it_needs_no_options(void **state)
{
	struct trigger t;

	(void)state;
	trigger_init(&t, &(struct trigger_options){ .is_set = false });
	trigger_pull(&t, "signal");
	assert_int_equal(trigger_turn(&t, SEC), TRIGGER_NONE);
	trigger_ask(&t, PLAN_WAKES, 2 * SEC, "socket");
	assert_int_equal(trigger_turn(&t, SEC), TRIGGER_BEGIN);
	assert_int_equal(t.level, PLAN_WAKES);
	assert_string_equal(t.reason, "socket");
	assert_int_equal(trigger_turn(&t, 3 * SEC - 1), TRIGGER_NONE);
	assert_int_equal(trigger_turn(&t, 3 * SEC), TRIGGER_END);
	/* its own level and time are for once: the options' are back at the next signal */
	t = made("full:1s");
	trigger_ask(&t, PLAN_POLLS, 5 * SEC, "socket");
	assert_int_equal(trigger_turn(&t, SEC), TRIGGER_BEGIN);
	assert_int_equal(t.level, PLAN_POLLS);
	assert_int_equal(trigger_turn(&t, 6 * SEC), TRIGGER_END);
	trigger_pull(&t, "signal");
	assert_int_equal(trigger_turn(&t, 7 * SEC), TRIGGER_BEGIN);
	assert_int_equal(t.level, PLAN_FULL);
	assert_int_equal(trigger_turn(&t, 8 * SEC), TRIGGER_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_what_it_says),
		cmocka_unit_test(refuses_what_it_does_not_understand),
		cmocka_unit_test(a_pull_holds_for_its_time),
		cmocka_unit_test(a_second_pull_makes_it_longer),
		cmocka_unit_test(conditions_pull_above_their_limit),
		cmocka_unit_test(nothing_pulls_what_is_not_set),
		cmocka_unit_test(asked_for_it_needs_no_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
