// SPDX-License-Identifier: Apache-2.0
/* test_cut.c - rows that filters leave out, and references that stay right. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "columnscript.h"
#include "viewer/command.h"
#include "viewer/core/columns.h"
#include "viewer/core/index.h"
#include "viewer/core/tables.h"
#include "viewer/cut.h"
#include "viewer/scope.h"

static struct columns *c;

/* Worker 0 polls task 1 (a.rs) from 100 to 150 and wakes task 2 (b.rs) at 120; worker 1, of another
 * runtime, polls that from 200 to 260. Worker 0 is parked from 300 to 400. */
static int setup(void **state)
{
	struct eventscript *s = eventscript_begin();
	uint32_t a = eventscript_str(s, "a.rs:1:1"), b = eventscript_str(s, "b.rs:2:2");
	const struct d9_pair runtimes[] = { { { "runtime.main", 12 }, { "0", 1 } },
					    { { "runtime.side", 12 }, { "1", 1 } } };

	(void)state;
	SCRIPT_PUT(s, clock_sync, 90, .realtime_ns = 1);
	SCRIPT_PUT(s, segment_metadata, 90, .entries = runtimes, .entries_cnt = 2);
	SCRIPT_PUT(s, poll_start, 100, .worker_id = 0, .task_id = 1, .spawn_loc = a);
	SCRIPT_PUT(s, cpu_sample, 110, .worker_id = 0, .tid = 5);
	SCRIPT_PUT(s, wake, 120, .waker_task_id = 1, .woken_task_id = 2, .target_worker = 0);
	SCRIPT_PUT(s, agent_off_cpu, 140, .tid = 5, .worker_id = 0, .has_worker_id = true,
		   .task_id = 1, .has_task_id = true, .out_ns = 130);
	SCRIPT_PUT(s, poll_end, 150, .worker_id = 0);
	SCRIPT_PUT(s, poll_start, 200, .worker_id = 1, .task_id = 2, .spawn_loc = b);
	SCRIPT_PUT(s, poll_end, 260, .worker_id = 1);
	SCRIPT_PUT(s, worker_park, 300, .worker_id = 0, .tid = 5);
	SCRIPT_PUT(s, runtime_metrics, 350, .runtime_name = eventscript_str(s, "side"),
		   .global_queue_depth = 3);
	SCRIPT_PUT(s, worker_unpark, 400, .worker_id = 0, .tid = 5);
	c = columnscript_end(s);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	index_close(c);
	return 0;
}

static struct columns *cut(const struct request *req)
{
	struct columns *ret = NULL;

	assert_int_equal(cut_asked(c, req, &ret), 0);
	return ret;
}

static void test_nothing_asked(void **state)
{
	(void)state;
	assert_null(cut(&(struct request){ .limit = 5 }));
}

static void test_task(void **state)
{
	struct columns *x = cut(&(struct request){ .has_task = true, .task = 2 });

	(void)state;
	assert_int_equal(x->polls.cnt, 1);
	assert_int_equal(x->polls.start_ns[0], 200);
	assert_int_equal(x->polls.ready_ns[0], 120);
	assert_int_equal(x->wakes.cnt, 1); /* of it */
	assert_int_equal(x->polls.wake[0], 0);
	assert_int_equal(x->wakes.poll[0], COLUMNS_NONE); /* the poll that woke it is left out */
	assert_int_equal(x->tasks.cnt, 2); /* its waker is named */
	assert_int_equal(x->tasks.id[x->wakes.waker[0]], 1);
	assert_int_equal(x->tasks.id[x->polls.task[0]], 2);
	assert_int_equal(x->tasks.busy_ns[columns_task(x, 1)], 0);
	assert_int_equal(x->tasks.busy_ns[columns_task(x, 2)], 60);
	assert_int_equal(columns_task(x, 99), COLUMNS_NONE);
	assert_int_equal(x->samples.cnt, 0);
	assert_int_equal(x->offs.cnt, 0);
	assert_int_equal(x->parks.cnt, 1); /* of no task */
	cut_free(x);
}

static void test_worker_and_runtime(void **state)
{
	struct columns *x = cut(&(struct request){ .has_worker = true, .worker = 0 });
	uint32_t lane = columns_worker(x, 0);

	(void)state;
	assert_int_equal(x->polls.cnt, 1);
	assert_int_equal(x->lanes.polls_to[lane] - x->lanes.polls_from[lane], 1);
	assert_int_equal(x->lanes.polls_to[columns_worker(x, 1)],
			 x->lanes.polls_from[columns_worker(x, 1)]);
	assert_int_equal(x->samples.cnt, 1);
	assert_int_equal(x->samples.poll[0], 0);
	assert_int_equal(x->offs.cnt, 1);
	assert_int_equal(x->parks.cnt, 1);
	cut_free(x);
	x = cut(&(struct request){ .runtime = "side" });
	assert_int_equal(x->polls.cnt, 1);
	assert_int_equal(x->polls.wake[0], COLUMNS_NONE); /* issued on a worker of main */
	assert_int_equal(x->parks.cnt, 0);
	assert_int_equal(x->queues.cnt, 1);
	cut_free(x);
	x = cut(&(struct request){ .runtime = "main" });
	assert_int_equal(x->queues.cnt, 0);
	cut_free(x);
}

static void test_type_and_time(void **state)
{
	struct columns *x = cut(&(struct request){ .type = "b.rs" });

	(void)state;
	assert_int_equal(x->polls.cnt, 1);
	assert_int_equal(x->wakes.cnt, 1);
	assert_int_equal(x->samples.cnt, 0);
	cut_free(x);
	/* the first event is at 90: +10 ns is the first poll's start */
	x = cut(&(struct request){ .has_from = true,
				   .from_ns = 10,
				   .from_relative = true,
				   .has_to = true,
				   .to_ns = 135 });
	assert_int_equal(x->polls.cnt, 1);
	assert_int_equal(x->wakes.cnt, 1);
	assert_int_equal(x->offs.cnt, 0); /* it ends at 140 */
	assert_int_equal(x->parks.cnt, 0);
	cut_free(x);
	x = cut(&(struct request){ .has_from = true, .from_ns = 310 });
	assert_int_equal(x->polls.cnt, 0);
	assert_int_equal(x->parks.cnt, 1); /* part of it lies within */
	cut_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_task, setup, teardown),
		cmocka_unit_test_setup_teardown(test_worker_and_runtime, setup, teardown),
		cmocka_unit_test_setup_teardown(test_type_and_time, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
