// SPDX-License-Identifier: Apache-2.0
/* test_histogram.c - buckets, quantiles, their error. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/histogram.h"

#include <stdlib.h>

static void test_empty(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	assert_int_equal(histogram_quantile(&h, 500), 0);
	histogram_done(&h);
}

static void test_small_values_are_exact(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	for (uint64_t v = 0; v < 128; v++)
		assert_int_equal(histogram_add(&h, v), 0);
	assert_int_equal(h.cnt, 128);
	assert_int_equal(h.sum, 127 * 128 / 2);
	/* nearest rank: half of 128 is 64 values, the 64th is 63 */
	assert_int_equal(histogram_quantile(&h, 500), 63);
	assert_int_equal(histogram_quantile(&h, 990), 126); /* ceil(126.72) = 127th value */
	assert_int_equal(histogram_quantile(&h, 0), 0);
	assert_int_equal(histogram_quantile(&h, 1000), 127);
	histogram_done(&h);
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Against the sorted values themselves: never off by more than 1/128. */
static void test_error_is_bounded(void **state)
{
	static uint64_t values[10000];
	static const unsigned int permilles[] = { 1, 10, 250, 500, 900, 990, 999, 1000 };
	struct histogram h = { 0 };
	uint64_t seed = 42, want, got;

	(void)state;
	for (size_t i = 0; i < 10000; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		values[i] = seed >> (seed >> 58); /* all magnitudes */
		assert_int_equal(histogram_add(&h, values[i]), 0);
	}
	qsort(values, 10000, sizeof(values[0]), compare);
	assert_int_equal(h.min, values[0]);
	assert_int_equal(h.max, values[9999]);
	for (size_t i = 0; i < sizeof(permilles) / sizeof(permilles[0]); i++) {
		want = values[(10000 * permilles[i] + 999) / 1000 - 1];
		got = histogram_quantile(&h, permilles[i]);
		assert_true((got > want ? got - want : want - got) <= want / 128);
	}
	histogram_done(&h);
}

static void test_extremes(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	assert_int_equal(histogram_add(&h, UINT64_MAX), 0);
	assert_true(histogram_quantile(&h, 500) == UINT64_MAX); /* clamped to min and max */
	assert_int_equal(histogram_add(&h, 0), 0);
	assert_int_equal(histogram_quantile(&h, 500), 0);
	histogram_done(&h);
	assert_int_equal(h.cnt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_small_values_are_exact),
		cmocka_unit_test(test_error_is_bounded),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
