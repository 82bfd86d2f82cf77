// SPDX-License-Identifier: Apache-2.0
/* test_longpolls.c - the ten longest. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/longpolls.h"

static void test_order(void **state)
{
	struct longpolls l = { 0 };
	struct worker_poll poll = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		poll.task = i;
		longpolls_add(&l, i * 7919 % 1000, 1, &poll); /* each of 0..999 once */
	}
	assert_int_equal(l.cnt, LONGPOLLS_MAX);
	for (uint32_t i = 0; i < LONGPOLLS_MAX; i++)
		assert_int_equal(l.polls[i].ns, 999 - i);
	poll.task = 5000;
	longpolls_add(&l, 999, 2, &poll); /* equal ones: the earlier stays in front */
	assert_int_equal(l.polls[1].worker, 2);
	assert_int_equal(l.polls[1].poll.task, 5000);
	assert_int_equal(l.polls[0].worker, 1);
	assert_int_equal(l.polls[9].ns, 991);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_order) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
