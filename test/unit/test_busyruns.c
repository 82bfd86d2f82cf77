// SPDX-License-Identifier: Apache-2.0
/* test_busyruns.c - what counts as one run, and which are kept. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/busyruns.h"

#define MS 1000000ull

static void test_one_task_in_a_row(void **state)
{
	struct busyruns b = { 0 };
	struct busyrun run = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		busyruns_sample(&b, &run, 100 * MS + i * 10 * MS, 7);
	busyruns_sample(&b, &run, 140 * MS, 8); /* another task */
	busyruns_sample(&b, &run, 150 * MS, 0); /* none */
	assert_int_equal(b.cnt, 1);
	assert_int_equal(b.runs[0].task, 7);
	assert_int_equal(b.runs[0].first_ns, 100 * MS);
	assert_int_equal(b.runs[0].last_ns, 130 * MS);
	assert_int_equal(b.runs[0].samples, 4);
	assert_int_equal(run.task, 0);
}

static void test_a_park_ends_it(void **state)
{
	struct busyruns b = { 0 };
	struct busyrun run = { 0 };

	(void)state;
	busyruns_sample(&b, &run, 100 * MS, 7);
	busyruns_sample(&b, &run, 106 * MS, 7);
	busyruns_end(&b, &run);
	busyruns_sample(&b, &run, 112 * MS, 7);
	busyruns_end(&b, &run);
	busyruns_end(&b, &run);
	assert_int_equal(b.cnt, 0);
	assert_int_equal(b.long_cnt, 0);
}

static void test_longest_first_and_no_more_than_fit(void **state)
{
	struct busyruns b = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 2 * BUSYRUNS_MAX; i++) {
		struct busyrun run = { 0 };

		busyruns_sample(&b, &run, 1000 * MS, i);
		busyruns_sample(&b, &run, 1000 * MS + (10 + i * 7 % 20) * MS, i);
		busyruns_end(&b, &run);
	}
	assert_int_equal(b.cnt, BUSYRUNS_MAX);
	assert_int_equal(b.long_cnt, 2 * BUSYRUNS_MAX);
	for (uint32_t i = 1; i < b.cnt; i++)
		assert_true(b.runs[i - 1].last_ns >= b.runs[i].last_ns);
	assert_int_equal(b.runs[0].last_ns, 1029 * MS);
	assert_int_equal(b.runs[b.cnt - 1].last_ns, 1020 * MS);
}

static void test_a_task_is_there_once(void **state)
{
	static const uint64_t task_ms[][2] = { { 1, 20 }, { 2, 30 }, { 1, 40 }, { 1, 15 }, { 3, 35 } };
	static const uint64_t want[] = { 1, 3, 2 };
	struct busyruns b = { 0 };

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct busyrun run = { 0 };

		busyruns_sample(&b, &run, 1000 * MS, task_ms[i][0]);
		busyruns_sample(&b, &run, (1000 + task_ms[i][1]) * MS, task_ms[i][0]);
		busyruns_end(&b, &run);
	}
	assert_int_equal(b.long_cnt, 5);
	assert_int_equal(b.cnt, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(b.runs[i].task, want[i]);
	assert_int_equal(b.runs[0].last_ns, 1040 * MS);
}

static void test_what_recorded_polls_say(void **state)
{
	(void)state;
	const struct busyrun run = { .task = 1, .first_ns = 100 * MS, .last_ns = 150 * MS },
			     brief = { .task = 1, .first_ns = 100 * MS, .last_ns = 103 * MS };

	assert_string_equal(busyruns_verdict(&run, 0, 0), "unknown");
	assert_string_equal(busyruns_verdict(&run, 5, BUSYRUNS_LONG_NS - 1), "not seen");
	assert_string_equal(busyruns_verdict(&run, 5, BUSYRUNS_LONG_NS), "confirmed");
	assert_string_equal(busyruns_verdict(&brief, 5, 3 * MS - 1), "not seen");
	assert_string_equal(busyruns_verdict(&brief, 5, 3 * MS), "confirmed");
}

/* A poll of 4 ms holds three samples of 997 Hz at least, one of 31 ms three of 99 Hz. */
static void test_quick_samples_show_shorter_ones(void **state)
{
	const uint64_t tick_ns = 1000000000 / 997;
	struct busyruns b = { .from_ns = busyruns_from_ns(tick_ns) };
	struct busyrun run = { 0 };

	(void)state;
	assert_int_equal(busyruns_from_ns(0), BUSYRUNS_LONG_NS);
	assert_int_equal(busyruns_from_ns(1000000000 / 99), BUSYRUNS_LONG_NS);
	assert_in_range(busyruns_from_ns(tick_ns), tick_ns + 1, 2 * tick_ns - 1);
	for (uint64_t i = 0; i < 2; i++) /* two are no row */
		busyruns_sample(&b, &run, 100 * MS + i * tick_ns, 7);
	busyruns_end(&b, &run);
	assert_int_equal(b.cnt, 0);
	for (uint64_t i = 0; i < 3; i++)
		busyruns_sample(&b, &run, 200 * MS + i * tick_ns - (i == 2 ? 50000 : 0), 7);
	busyruns_end(&b, &run);
	assert_int_equal(b.cnt, 1);
	assert_int_equal(b.long_cnt, 1);
	assert_int_equal(b.runs[0].samples, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_task_in_a_row),
		cmocka_unit_test(test_a_park_ends_it),
		cmocka_unit_test(test_longest_first_and_no_more_than_fit),
		cmocka_unit_test(test_a_task_is_there_once),
		cmocka_unit_test(test_what_recorded_polls_say),
		cmocka_unit_test(test_quick_samples_show_shorter_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
