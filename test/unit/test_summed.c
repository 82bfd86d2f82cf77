// SPDX-License-Identifier: Apache-2.0
/* test_summed.c - parks that were added up, read back from columns. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "columnscript.h"
#include "viewer/summed.h"

static struct columns *two_workers(void)
{
	struct eventscript *s = eventscript_begin();

	for (uint64_t w = 0; w < 2; w++) {
		SCRIPT_PUT(s, worker_park, 900, .worker_id = w, .tid = 10 + (uint32_t)w);
		SCRIPT_PUT(s, worker_unpark, 1000, .worker_id = w, .tid = 10 + (uint32_t)w);
	}
	SCRIPT_PUT(s, agent_parks, 2000, .tid = 10, .has_worker_id = true, .worker_id = 0,
		   .from_ns = 1000, .to_ns = 2000, .parks = 10, .parked_ns = 600, .delayed_ns = 50);
	SCRIPT_PUT(s, agent_parks, 2000, .tid = 11, .has_worker_id = true, .worker_id = 1,
		   .from_ns = 2000, .to_ns = 2000, .parks = 7); /* no window */
	SCRIPT_PUT(s, agent_parks, 2000, .tid = 99, .from_ns = 1000, .to_ns = 2000, .parks = 3);
	SCRIPT_PUT(s, agent_parks, 2000, .tid = 98, .has_worker_id = true, .worker_id = 1ull << 40,
		   .from_ns = 1000, .to_ns = 2000, .parks = 3);
	SCRIPT_PUT(s, agent_parks, 3000, .tid = 11, .has_worker_id = true, .worker_id = 1,
		   .from_ns = 2000, .to_ns = 3000, .parks = 4, .parked_ns = UINT64_MAX);
	return columnscript_end(s);
}

static void test_each_in_turn(void **state)
{
	struct columns *c = two_workers();
	struct summed_iter it = { 0 };
	char text[SUMMED_NAME_SZ];
	struct summed s;

	(void)state;
	assert_true(summed_next(c, &it, &s));
	assert_int_equal(s.lane, columns_worker(c, 0));
	assert_int_equal(s.from_ns, 1000);
	assert_int_equal(s.to_ns, 2000);
	assert_int_equal(s.parks, 10);
	assert_string_equal(summed_name(&s, text), "parks added up: 60 % of this");
	assert_true(summed_next(c, &it, &s));
	assert_int_equal(s.lane, COLUMNS_NONE);
	assert_true(summed_next(c, &it, &s));
	assert_int_equal(s.lane, COLUMNS_NONE);
	assert_true(summed_next(c, &it, &s));
	assert_int_equal(s.lane, columns_worker(c, 1));
	assert_string_equal(summed_name(&s, text), "parks added up: 100 % of this");
	assert_false(summed_next(c, &it, &s));
	assert_false(summed_next(c, &it, &s));
	index_close(c);
}

static void test_parts(void **state)
{
	struct columns *c = two_workers();
	struct summed *all = NULL;

	(void)state;
	assert_int_equal(summed_lanes(c, 0, 10000, &all), 0);
	assert_int_equal(all[columns_worker(c, 0)].parks, 10);
	assert_int_equal(all[columns_worker(c, 0)].parked_ns, 600);
	assert_int_equal(all[columns_worker(c, 0)].delayed_ns, 50);
	assert_int_equal(all[columns_worker(c, 1)].parks, 4);
	free(all);
	assert_int_equal(summed_lanes(c, 1500, 2250, &all), 0);
	assert_int_equal(all[columns_worker(c, 0)].parks, 5);
	assert_int_equal(all[columns_worker(c, 0)].parked_ns, 300);
	assert_int_equal(all[columns_worker(c, 1)].parks, 1);
	assert_int_equal(all[columns_worker(c, 1)].parked_ns, UINT64_MAX / 4);
	free(all);
	index_close(c);
}

static void test_none(void **state)
{
	struct eventscript *s = eventscript_begin();
	struct summed_iter it = { 0 };
	struct summed one;
	struct columns *c;

	(void)state;
	SCRIPT_PUT(s, worker_park, 900, .worker_id = 0, .tid = 10);
	c = columnscript_end(s);
	assert_false(summed_next(c, &it, &one));
	assert_false(summed_next(c, &it, &one));
	index_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_in_turn),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
