// SPDX-License-Identifier: Apache-2.0
/* test_twin.c - both halves are done, by one thread or two. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/core/twin.h"

#include <pthread.h>

struct half {
	uint64_t from, to, sum;
	pthread_t by;
};

static void add(void *ctx)
{
	struct half *h = ctx;

	for (uint64_t i = h->from; i < h->to; i++)
		h->sum += i;
	h->by = pthread_self();
}

static void test_both(void **state)
{
	(void)state;
	for (int worth = 0; worth < 2; worth++) {
		struct half a = { .from = 0, .to = 1000 }, b = { .from = 1000, .to = 2000 };

		twin_run(add, &a, &b, worth);
		assert_int_equal(a.sum + b.sum, 1999 * 1000);
		assert_int_equal(pthread_equal(a.by, b.by) == 0, worth);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_both) };

	return cmocka_run_group_tests_name("twin", tests, NULL, NULL);
}
