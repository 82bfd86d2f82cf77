// SPDX-License-Identifier: Apache-2.0
/* test_probehits.c - the runs of several targets in the one table of hits never overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/probehits.h"

static void runs_stand_side_by_side(void **state)
{
	struct probehits h = { .cpus_cnt = 1 };

	(void)state;
	assert_int_equal(probehits_take(&h, 3, 100), 0);
	assert_int_equal(probehits_take(&h, 1, 50), 100);
	assert_int_equal(probehits_take(&h, 2, 10), 150);
	probehits_leave(&h, 1);
	assert_int_equal(probehits_take(&h, 7, 51), 160); /* the hole is one too small */
	assert_int_equal(probehits_take(&h, 1, 50), 100);
	probehits_leave(&h, 3);
	assert_int_equal(probehits_take(&h, 0, 100), 0);
}

static void a_full_table_counts_no_more(void **state)
{
	struct probehits h = { .cpus_cnt = 1 };
	uint64_t hits[4];

	(void)state;
	assert_int_equal(probehits_take(&h, 0, WIRE_SITE_HITS_MAX - 3), 0);
	assert_int_equal(probehits_take(&h, 1, 4), WIRE_SITE_HITS_MAX);
	assert_int_equal(probehits_read(&h, 1, hits, 4), -ENOENT);
	assert_int_equal(probehits_take(&h, 1, 3), WIRE_SITE_HITS_MAX - 3);
	assert_int_equal(probehits_take(&h, 2, 0), WIRE_SITE_HITS_MAX);
	assert_int_equal(probehits_take(&h, 2, WIRE_SITE_HITS_MAX + 1ull), WIRE_SITE_HITS_MAX);
}

static void another_count_is_refused(void **state)
{
	struct probehits h = { .cpus_cnt = 1 };
	uint64_t hits[8];

	(void)state;
	probehits_take(&h, 0, 4);
	assert_int_equal(probehits_read(&h, 0, hits, 8), -ENOENT);
	assert_true(probehits_read(&h, 0, hits, 4) < 0); /* there is no table */
	assert_int_equal(probehits_map(&h, -1, 2), -EBADF);
}

static void hits_of_all_cpus_add_up(void **state)
{
	__u64 *counts = calloc(3 * WIRE_SITE_HITS_MAX, sizeof(*counts));
	struct probehits h = { .counts = counts, .cpus_cnt = 3 };
	uint64_t hits[4];

	(void)state;
	probehits_take(&h, 0, 7);
	assert_int_equal(probehits_take(&h, 1, 4), 7);
	for (unsigned cpu = 0; cpu < 3; cpu++)
		for (unsigned i = 0; i < 12; i++)
			counts[cpu * WIRE_SITE_HITS_MAX + i] = 100 * cpu + i;
	assert_int_equal(probehits_read(&h, 1, hits, 4), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(hits[i], 300 + 3 * (7 + i));
	free(counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_stand_side_by_side),
		cmocka_unit_test(a_full_table_counts_no_more),
		cmocka_unit_test(another_count_is_refused),
		cmocka_unit_test(hits_of_all_cpus_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
