// SPDX-License-Identifier: Apache-2.0
// test_keep.c - the first N of many rows. links: viewer
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/keep.h"

struct row {
	uint64_t ns, start;
};

static int compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = (a->ns < b->ns) - (a->ns > b->ns);

	return order ? order : (a->start > b->start) - (a->start < b->start);
}

static void fill(struct keep *k, uint64_t limit, uint64_t rows)
{
	keep_init(k, sizeof(struct row), limit, compare);
	for (uint64_t i = 0; i < rows; i++) /* 7919 is prime: each remainder comes in a mixed order */
		assert_int_equal(keep_add(k, &(struct row){ i * 7919 % rows / 2, i }), 0);
	keep_sort(k);
}

static void test_first(void **state)
{
	struct keep k;

	(void)state;
	fill(&k, 10, 1000);
	assert_int_equal(k.seen, 1000);
	assert_int_equal(k.cnt, 10);
	for (uint32_t i = 0; i < 10; i++) {
		const struct row *r = keep_at(&k, i);

		assert_int_equal(r->ns, 499 - i / 2); /* each length occurs twice */
		if (i % 2)
			assert_true(r->start > ((const struct row *)keep_at(&k, i - 1))->start);
	}
	keep_done(&k);
}

static void test_fewer(void **state)
{
	struct keep k;

	(void)state;
	fill(&k, 100, 3);
	assert_int_equal(k.cnt, 3);
	assert_int_equal(((const struct row *)keep_at(&k, 0))->ns, 1);
	keep_done(&k);
	fill(&k, 5, 0);
	assert_int_equal(k.cnt, 0);
	keep_done(&k);
}

static void test_all(void **state)
{
	struct keep k;

	(void)state;
	fill(&k, 0, KEEP_MAX + 50);
	assert_int_equal(k.cnt, KEEP_MAX);
	assert_int_equal(k.seen, KEEP_MAX + 50);
	assert_int_equal(((const struct row *)keep_at(&k, KEEP_MAX - 1))->ns, 25);
	keep_done(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_fewer),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
