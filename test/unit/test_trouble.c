// SPDX-License-Identifier: Apache-2.0
/* test_trouble.c - how often a trouble is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/trouble.h"

#define SEC 1000000000ull

/* Met each second from `from` on: how often is it told? */
static unsigned told(struct trouble *t, uint64_t from_s, uint64_t secs)
{
	unsigned cnt = 0;

	for (uint64_t i = 0; i < secs; i++)
		cnt += trouble_is_due(t, (from_s + i) * SEC);
	return cnt;
}

static void test_one_that_stays(void **state)
{
	struct trouble t = {0};
	uint64_t lasted_ns = 0;

	(void)state;
	assert_int_equal(told(&t, 100, 1), 1);
	assert_int_equal(told(&t, 101, 9), 0);
	assert_int_equal(told(&t, 110, 1), 1); /* after 10 s */
	assert_int_equal(told(&t, 111, 29), 0);
	assert_int_equal(told(&t, 140, 1), 1); /* and 30 s more */
	assert_int_equal(told(&t, 141, 89), 0);
	assert_int_equal(told(&t, 230, 1), 1);
	/* in a whole day: at most each hour from then on */
	assert_in_range(told(&t, 231, 86400), 24, 28);
	assert_true(trouble_is_over(&t, 90000 * SEC, &lasted_ns));
	assert_int_equal(lasted_ns, 89900 * SEC);
	assert_false(trouble_is_over(&t, 90001 * SEC, &lasted_ns)); /* once */
}

static void test_one_that_comes_and_goes(void **state)
{
	struct trouble t = {0};
	uint64_t lasted_ns;
	unsigned bad = 0, good = 0;

	(void)state;
	for (uint64_t s = 1; s < 600; s += 2) { /* every second second */
		bad += trouble_is_due(&t, s * SEC);
		good += trouble_is_over(&t, (s + 1) * SEC, &lasted_ns);
	}
	assert_in_range(bad, 4, 6);
	assert_int_equal(good, bad); /* what was not told need not be called over */
	/* long after: told at once */
	assert_true(trouble_is_due(&t, 700 * SEC));
	assert_int_equal(told(&t, 701, 9), 0);
	assert_int_equal(told(&t, 710, 1), 1);
}

static void test_nothing_to_tell(void **state)
{
	struct trouble t = {0};
	uint64_t lasted_ns = 7;

	(void)state;
	assert_false(trouble_is_over(&t, 5 * SEC, &lasted_ns));
	assert_int_equal(lasted_ns, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_that_stays),
		cmocka_unit_test(test_one_that_comes_and_goes),
		cmocka_unit_test(test_nothing_to_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
