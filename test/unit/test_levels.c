// SPDX-License-Identifier: Apache-2.0
/* test_levels.c - accounts of times in which not all was recorded. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "accountscript.h"

static void level(uint64_t ts_ns, uint32_t has, uint64_t type)
{
	const struct moment m = { .ts_ns = ts_ns,
				  .kind = MOMENT_LEVEL,
				  .worker = MOMENT_NO_WORKER,
				  .label = has,
				  .has_a = type != 0,
				  .a = type };

	assert_int_equal(account_moment(&a, &m), 0);
}

/* Where polls are not recorded a worker awake may poll all the time: that time is not "between". */
static void test_polls_not_recorded_are_not_none(void **state)
{
	const struct worker *w;

	(void)state;
	level(0, MOMENT_HAS_ALL, 0);
	at(0, MOMENT_UNPARK, 0, 0);
	start(100, 0, 1);
	stop(200, 0);
	wake(250, 1);
	level(300, 0, 0); /* 100 between so far */
	at(500, MOMENT_PARK, 0, 0);
	at(600, MOMENT_UNPARK, 0, 0);
	level(700, MOMENT_HAS_ALL, 0);
	start(800, 0, 1); /* the wake was answered long ago, unseen */
	stop(900, 0);
	at(1000, MOMENT_PARK, 0, 0);
	w = workertable_get(a.workers, 0);
	assert_int_equal(w->between_ns, 100 + 100 + 100);
	assert_int_equal(w->unknown_ns, 200 + 200);
	assert_int_equal(w->parked_ns, 100);
	assert_int_equal(w->busy_ns, 200);
	assert_int_equal(row()->wait.cnt, 0);
}

static void test_types_not_recorded_are_not_none(void **state)
{
	const struct worker *w;

	(void)state;
	at(0, MOMENT_UNPARK, 0, 0);
	level(100, MOMENT_HAS_ALL, 0);
	level(100, 0, 7);
	start(200, 0, 1);
	stop(300, 0);
	level(400, MOMENT_HAS_ALL, 0);
	start(500, 0, 1);
	stop(600, 0);
	w = workertable_get(a.workers, 0);
	assert_int_equal(w->between_ns, 100);
	assert_int_equal(w->unknown_ns, 100 + 100 + 100);
}

/* Each segment says its level again: nothing is forgotten over that. */
static void test_the_same_level_again(void **state)
{
	(void)state;
	level(0, MOMENT_HAS_ALL, 0);
	wake(100, 1);
	level(150, MOMENT_HAS_ALL, 0);
	start(200, 0, 1);
	assert_int_equal(row()->wait.cnt, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCOUNT_TEST(test_polls_not_recorded_are_not_none),
		ACCOUNT_TEST(test_types_not_recorded_are_not_none),
		ACCOUNT_TEST(test_the_same_level_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
