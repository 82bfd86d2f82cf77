// SPDX-License-Identifier: Apache-2.0
/* test_verdict.c - why a poll was long. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/verdict.h"
#include "viewer/workertable.h"

static uint64_t sum(const uint64_t parts[VERDICT_CNT])
{
	uint64_t ret = 0;

	for (int i = 0; i < VERDICT_CNT; i++)
		ret += parts[i];
	return ret;
}

static void test_parts_sum(void **state)
{
	struct worker_poll p = { .off_ns = 60, .off_preempted_ns = 10, .off_lock_ns = 20 };
	uint64_t parts[VERDICT_CNT];

	(void)state;
	verdict_parts(&p, 100, parts);
	assert_int_equal(parts[VERDICT_COMPUTE], 40);
	assert_int_equal(parts[VERDICT_PREEMPTED], 10);
	assert_int_equal(parts[VERDICT_LOCK], 20);
	assert_int_equal(parts[VERDICT_BLOCKING], 30);
	assert_int_equal(sum(parts), 100);
	/* what was noted exceeds the poll: it still sums to it */
	p = (struct worker_poll){ .off_ns = 500, .off_preempted_ns = 90, .off_lock_ns = 90 };
	verdict_parts(&p, 100, parts);
	assert_int_equal(parts[VERDICT_PREEMPTED], 90);
	assert_int_equal(parts[VERDICT_LOCK], 10);
	assert_int_equal(sum(parts), 100);
}

static void test_largest_part(void **state)
{
	struct worker_poll p = { .off_ns = 60, .off_lock_ns = 50 };

	(void)state;
	assert_int_equal(verdict_of(&p, 100, true), VERDICT_LOCK);
	p.off_lock_ns = 5;
	assert_int_equal(verdict_of(&p, 100, true), VERDICT_BLOCKING);
	p.off_preempted_ns = 55;
	p.off_lock_ns = 0;
	assert_int_equal(verdict_of(&p, 100, true), VERDICT_PREEMPTED);
	p.off_ns = 40;
	p.off_preempted_ns = 0;
	assert_int_equal(verdict_of(&p, 100, true), VERDICT_COMPUTE);
}

/* Without times off CPU nothing is known of blocking; two samples are more than chance. */
static void test_unknown(void **state)
{
	struct worker_poll p = { .samples = 1 };

	(void)state;
	assert_int_equal(verdict_of(&p, 100, false), VERDICT_UNKNOWN);
	p.samples = 2;
	assert_int_equal(verdict_of(&p, 100, false), VERDICT_COMPUTE);
	p.samples = 0;
	assert_int_equal(verdict_of(&p, 100, true), VERDICT_COMPUTE);
	assert_string_equal(verdict_name(VERDICT_UNKNOWN), "unknown");
	assert_string_equal(verdict_name(VERDICT_PREEMPTED), "preempted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_sum),
		cmocka_unit_test(test_largest_part),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
