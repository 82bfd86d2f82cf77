// SPDX-License-Identifier: Apache-2.0
/* test_busy.c - rows of CPU samples that show one task. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/busy.h"

#define P 10000000ull

static void a_row_is_as_long_as_it_was_seen(void **state)
{
	struct busy b = { .period_ns = P };

	(void)state;
	assert_int_equal(busy_sample(&b, 7, 9, 5 * P), 0);
	assert_int_equal(busy_sample(&b, 7, 9, 6 * P), P);
	assert_int_equal(busy_sample(&b, 8, 9, 6 * P), 0); /* of another thread */
	assert_int_equal(busy_sample(&b, 7, 9, 7 * P), 2 * P);
}

static void what_ends_a_row(void **state)
{
	struct busy b = { .period_ns = P };

	(void)state;
	busy_sample(&b, 7, 9, 5 * P);
	assert_int_equal(busy_sample(&b, 7, 10, 6 * P), 0); /* another task */
	assert_int_equal(busy_sample(&b, 7, 0, 7 * P), 0); /* none */
	assert_int_equal(busy_sample(&b, 7, 0, 8 * P), 0);
	busy_sample(&b, 7, 9, 9 * P);
	assert_int_equal(busy_sample(&b, 7, 9, 12 * P), 3 * P);
	assert_int_equal(busy_sample(&b, 7, 9, 15 * P + 1), 0); /* it was off its CPU */
	busy_sample(&b, 7 + BUSY_THREADS_MAX, 9, 16 * P);
	assert_int_equal(busy_sample(&b, 7, 9, 16 * P), 0); /* its place was taken */
	assert_int_equal(busy_sample(&b, 7, 9, 15 * P), 0); /* no time runs backwards */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_is_as_long_as_it_was_seen),
		cmocka_unit_test(what_ends_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
