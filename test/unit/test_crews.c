// SPDX-License-Identifier: Apache-2.0
/* test_crews.c - the workers of each runtime, and who slept when. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "columnscript.h"
#include "viewer/command.h"
#include "viewer/crews.h"
#include "viewer/scope.h"

/* Worker 0 polls; 1 sleeps from 100 to 180 (it wants a CPU to 200) and from 300 to 400; 2 is of
 * another runtime; a blocking thread is no worker. */
static struct columns *recording(void)
{
	struct eventscript *s = eventscript_begin();
	const struct d9_pair names[] = { { { "runtime.main", 12 }, { "0,1", 3 } },
					 { { "runtime.side", 12 }, { "2", 1 } } };

	SCRIPT_PUT(s, segment_metadata, 1, .entries = names, .entries_cnt = 2);
	SCRIPT_PUT(s, poll_start, 50, .worker_id = 0, .task_id = 1);
	SCRIPT_PUT(s, worker_park, 60, .worker_id = 2, .tid = 12);
	SCRIPT_PUT(s, worker_park, 100, .worker_id = 1, .tid = 11);
	SCRIPT_PUT(s, worker_unpark, 200, .worker_id = 1, .tid = 11, .sched_wait_ns = 20,
		   .has_sched_wait_ns = true);
	SCRIPT_PUT(s, worker_park, 300, .worker_id = 1, .tid = 11);
	SCRIPT_PUT(s, worker_unpark, 400, .worker_id = 1, .tid = 11); /* delay unknown */
	SCRIPT_PUT(s, worker_unpark, 500, .worker_id = 2, .tid = 12);
	SCRIPT_PUT(s, poll_end, 600, .worker_id = 0);
	SCRIPT_PUT(s, agent_blocking, 700, .task_id = 9, .tid = 77, .start_ns = 650);
	return columnscript_end(s);
}

static void test_crews(void **state)
{
	struct columns *c = recording();
	const struct request side = { .runtime = "side" };
	struct crews x;
	struct scope scope;
	uint32_t one = columns_worker(c, 1), main_crew;

	(void)state;
	assert_int_equal(crews_init(&x, c), 0);
	assert_int_equal(x.cnt, 2);
	main_crew = x.of_lane[one];
	assert_int_equal(x.at[main_crew].cnt, 2);
	assert_int_equal(x.of_lane[columns_worker(c, 0)], main_crew);
	assert_int_not_equal(x.of_lane[columns_worker(c, 2)], main_crew);
	assert_int_equal(scope_init(&scope, c, &side), 0);
	assert_false(crews_pass(&x, main_crew, &scope));
	assert_true(crews_pass(&x, x.of_lane[columns_worker(c, 2)], &scope));
	scope_done(&scope);
	crews_done(&x);
	index_close(c);
}

static void test_sleep(void **state)
{
	struct columns *c = recording();
	uint32_t zero = columns_worker(c, 0), one = columns_worker(c, 1);
	struct crews x;

	(void)state;
	assert_int_equal(crews_init(&x, c), 0);
	assert_int_equal(crews_parked(&x, one, 0, 1000), 80 + 100);
	assert_int_equal(crews_parked(&x, one, 150, 190), 30); /* to 180: then it wants a CPU */
	assert_int_equal(crews_parked(&x, one, 180, 300), 0);
	assert_int_equal(crews_parked(&x, one, 350, 360), 10);
	assert_int_equal(crews_parked(&x, one, 360, 350), 0);
	assert_int_equal(crews_parked(&x, zero, 0, 1000), 0);
	/* more than half, and only of its own runtime, though worker 2 sleeps too */
	assert_int_equal(crews_idle_peers(&x, zero, 100, 200), 1);
	assert_int_equal(crews_idle_peers(&x, zero, 140, 220), 0); /* 40 of 80 */
	assert_int_equal(crews_idle_peers(&x, zero, 141, 220), 0);
	assert_int_equal(crews_idle_peers(&x, zero, 140, 219), 1);
	assert_int_equal(crews_idle_peers(&x, one, 100, 200), 0);
	assert_int_equal(crews_idle_peers(&x, zero, 200, 200), 0);
	crews_done(&x);
	index_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crews),
		cmocka_unit_test(test_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
