// SPDX-License-Identifier: Apache-2.0
/* test_spans.c - spans that follow each other, nest, or do neither. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/spans.h"

static void test_following(void **state)
{
	struct spans s = { .cnt = 0 };

	(void)state;
	assert_true(spans_add(&s, 10, 20));
	assert_true(spans_add(&s, 20, 30)); /* back to back */
	assert_true(spans_add(&s, 40, 40)); /* shorter than the clock's step */
	assert_false(spans_add(&s, 39, 38)); /* over before it began */
	for (uint64_t i = 5; i < 5 + 3 * SPANS_DEPTH; i++)
		assert_true(spans_add(&s, 10 * i, 10 * i + 9));
	assert_int_equal(s.cnt, SPANS_DEPTH);
}

static void test_nesting(void **state)
{
	struct spans s = { .cnt = 0 };

	(void)state;
	assert_true(spans_add(&s, 10, 20));
	assert_true(spans_add(&s, 30, 40));
	assert_true(spans_add(&s, 25, 50)); /* holds the second */
	assert_int_equal(s.cnt, 2);
	assert_true(spans_add(&s, 5, 60)); /* holds both */
	assert_int_equal(s.cnt, 1);
	assert_false(spans_add(&s, 59, 70)); /* began within the last one, ended behind it */
	assert_false(spans_add(&s, 90, 65)); /* and ends do not run back */
}

static void test_part(void **state)
{
	struct spans s = { .cnt = 0 };

	(void)state;
	assert_true(spans_add(&s, 10, 20));
	assert_true(spans_add(&s, 30, 40));
	assert_false(spans_add(&s, 15, 50)); /* holds the second, but of the first only a part */
}

static void test_threads(void **state)
{
	struct spans_threads *t = spans_threads_new();

	(void)state;
	assert_non_null(t);
	assert_null(spans_of_thread(t, 0));
	assert_true(spans_add(spans_of_thread(t, 7), 10, 20));
	assert_int_equal(spans_of_thread(t, 8)->cnt, 0); /* another thread, another state */
	assert_int_equal(spans_of_thread(t, 7)->cnt, 1);
	for (uint32_t tid = 100; tid < 100 + SPANS_THREADS_MAX - 2; tid++)
		assert_true(spans_add(spans_of_thread(t, tid), 10, 20));
	assert_int_equal(spans_of_thread(t, 7)->cnt, 1);
	assert_non_null(spans_of_thread(t, UINT32_MAX)); /* one more than there is room for */
	assert_int_equal(spans_of_thread(t, 7)->cnt, 0);
	spans_threads_free(t);
	spans_threads_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_following),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
