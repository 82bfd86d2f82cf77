// SPDX-License-Identifier: Apache-2.0
/* test_explain.c - which findings remain critical beside others. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/explain.h"
#include "viewer/judge.h"

static struct finding at[4];
static struct findings all = { .at = at };

static void add(const char *kind, enum severity severity, uint32_t type, const char *explained)
{
	at[all.cnt++] = (struct finding){
		.kind = kind, .severity = severity, .type = type, .explained = explained
	};
}

static int setup(void **state)
{
	(void)state;
	all.cnt = 0;
	return 0;
}

static void test_late_behind_long(void **state)
{
	(void)state;
	add("late-poll", SEVERITY_CRITICAL, 1, "");
	add("long-poll", SEVERITY_CRITICAL, 2, NULL);
	explain(&all);
	assert_int_equal(at[0].severity, SEVERITY_WARNING);
	assert_string_equal(at[0].explained, "long-poll");
	assert_int_equal(at[1].severity, SEVERITY_CRITICAL);
}

static void test_no_cause(void **state)
{
	(void)state;
	add("late-poll", SEVERITY_CRITICAL, 1, "");
	add("long-poll", SEVERITY_WARNING, 2, NULL); /* a warning explains nothing critical */
	explain(&all);
	assert_int_equal(at[0].severity, SEVERITY_CRITICAL);
	assert_null(at[0].explained);
}

/* The blocking call is why the poll is long: one of them is enough, if it is of the same type. */
static void test_call_of_long_poll(void **state)
{
	(void)state;
	add("blocking-in-poll", SEVERITY_CRITICAL, 1, NULL);
	add("blocking-in-poll", SEVERITY_CRITICAL, 3, NULL);
	add("long-poll", SEVERITY_CRITICAL, 1, NULL);
	explain(&all);
	assert_int_equal(at[0].severity, SEVERITY_WARNING);
	assert_int_equal(at[1].severity, SEVERITY_CRITICAL);
	assert_int_equal(at[2].severity, SEVERITY_CRITICAL);
}

/* A poll that was long for want of a CPU is not the program's fault while that is critical. */
static void test_preempted(void **state)
{
	(void)state;
	add("long-poll", SEVERITY_CRITICAL, 1, "cpu-starved");
	explain(&all);
	assert_int_equal(at[0].severity, SEVERITY_CRITICAL);
	assert_null(at[0].explained);
	setup(NULL);
	add("long-poll", SEVERITY_CRITICAL, 1, "cpu-starved");
	add("cpu-starved", SEVERITY_CRITICAL, 0, NULL);
	explain(&all);
	assert_int_equal(at[0].severity, SEVERITY_WARNING);
	assert_string_equal(at[0].explained, "cpu-starved");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_late_behind_long, setup),
		cmocka_unit_test_setup(test_no_cause, setup),
		cmocka_unit_test_setup(test_call_of_long_poll, setup),
		cmocka_unit_test_setup(test_preempted, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
