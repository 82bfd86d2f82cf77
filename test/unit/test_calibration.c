// SPDX-License-Identifier: Apache-2.0
/* calibration: how long level stat keeps its probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/calibration.h"
#include "agent/taskword.h"

#define START 1000000000000ull
#define SEC 1000000000ull

static const struct calibration learning = { .start_ns = START };

static bool is_over(uint64_t hits, uint64_t after_ns)
{
	return calibration_is_over(&learning, true, hits, START + after_ns);
}

static void what_is_learnt_ends_it_a_little_later(void **state)
{
	const struct calibration c = { .start_ns = START, .known_ns = START + SEC };

	(void)state;
	assert_false(calibration_is_over(&c, false, 1, START + SEC));
	assert_false(
		calibration_is_over(&c, false, 1000000, START + SEC + CALIBRATION_RESTS_NS - 1));
	assert_true(calibration_is_over(&c, false, 1, START + SEC + CALIBRATION_RESTS_NS));
}

static void a_busy_target_is_given_up_at_once(void **state)
{
	(void)state;
	assert_false(is_over(1000000, TASKWORD_EAGER_NS - 1));
	assert_true(is_over(1000000, TASKWORD_EAGER_NS));
	assert_true(is_over(20 * CALIBRATION_BUSY_HITS, 20 * SEC));
}

static void one_with_little_to_do_has_its_time(void **state)
{
	(void)state;
	assert_false(is_over(CALIBRATION_BUSY_HITS, 4 * SEC));
	assert_false(is_over(10 * CALIBRATION_BUSY_HITS, 30 * SEC));
	assert_false(is_over(10 * CALIBRATION_BUSY_HITS, CALIBRATION_PATIENT_NS - 1));
	assert_true(is_over(10 * CALIBRATION_BUSY_HITS, CALIBRATION_PATIENT_NS));
}

static void an_idle_one_is_waited_for(void **state)
{
	(void)state;
	assert_false(is_over(CALIBRATION_BUSY_HITS - 1, 3600 * SEC));
	assert_true(is_over(CALIBRATION_BUSY_HITS, 3600 * SEC));
}

static void what_cannot_be_learnt_is_not_waited_for(void **state)
{
	(void)state;
	assert_true(calibration_is_over(&learning, false, 0, START));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_learnt_ends_it_a_little_later),
		cmocka_unit_test(a_busy_target_is_given_up_at_once),
		cmocka_unit_test(one_with_little_to_do_has_its_time),
		cmocka_unit_test(an_idle_one_is_waited_for),
		cmocka_unit_test(what_cannot_be_learnt_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
