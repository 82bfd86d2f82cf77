// SPDX-License-Identifier: Apache-2.0
/* test_wakes.c - wakes by others, by the task itself, and those that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test/unit/track_fixture.h"

/* schedule() of a task just spawned, and of one that gives itself back, is no wake. */
static void test_own_schedules(void **state)
{
	(void)state;
	fx_bind(&fx, 1900, 102, 50, 0);
	fx_wake(&fx, 1910, 102, 50, 0);
	fx_start(&fx, 2000, 102, 50, FX_OWNER, 0);
	fx_wake(&fx, 2100, 102, 50, 50);
	fx_end(&fx, 2500, 102, 50, 0, WIRE_END_NOTIFIED);
	fx_start(&fx, 2600, 102, 50, FX_OWNER, 0);
	fx_end(&fx, 2700, 102, 50, 0, 0);
	fx_wake(&fx, 2800, 999, 50, 0);
	fx_decode(&fx);
	assert_int_equal(fx_nth(&fx, D9_EV_WAKE, 0)->ts_ns, 2500);
	assert_int_equal(fx_nth(&fx, D9_EV_WAKE, 1)->ts_ns, 2800);
	assert_null(fx_nth(&fx, D9_EV_WAKE, 2));
}

static void test_wakes(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_start(&fx, 2000, 102, 9, FX_OWNER, 0);
	fx_wake(&fx, 2100, 102, 10, 9);
	fx_wake(&fx, 2200, 999, 11, 0);
	fx_end(&fx, 2500, 102, 9, 0, WIRE_END_NOTIFIED);
	fx_start(&fx, 3000, 102, 9, FX_OWNER, 0);
	fx_decode(&fx);
	e = fx_nth(&fx, D9_EV_WAKE, 0);
	assert_int_equal(e->u[D9F_wake_waker_task_id], 9);
	assert_int_equal(e->u[D9F_wake_woken_task_id], 10);
	assert_int_equal(e->u[D9F_wake_target_worker], 1);
	assert_int_equal(fx_nth(&fx, D9_EV_WAKE, 1)->u[D9F_wake_target_worker], 255);
	e = fx_nth(&fx, D9_EV_WAKE, 2); /* woken during its own poll */
	assert_int_equal(e->ts_ns, 2500);
	assert_int_equal(e->u[D9F_wake_waker_task_id], 9);
	assert_int_equal(e->u[D9F_wake_woken_task_id], 9);
	fx_check_counts(&fx);
}

/* Between two effective wakes lies a poll, whoever is seen first. */
static void test_wakes_at_ends(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_seat(&fx, 101, FX_RT, 0, 4, true);
	/* idle again, woken by another thread, its schedule() comes after our look at the state */
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_end(&fx, 2500, 101, 9, 0, WIRE_END_NOTIFIED);
	fx_wake(&fx, 2600, 999, 9, 0);
	/* the same, its schedule() came before */
	fx_start(&fx, 3000, 101, 9, FX_OWNER, 0);
	fx_wake(&fx, 3400, 999, 9, 0);
	fx_end(&fx, 3500, 101, 9, 0, WIRE_END_NOTIFIED);
	/* given back, and polled elsewhere before this poll gets to its end */
	fx_start(&fx, 4000, 101, 9, FX_OWNER, 0);
	fx_start(&fx, 4400, 102, 9, FX_OWNER, 0);
	fx_end(&fx, 4500, 101, 9, 0, WIRE_END_NOTIFIED);
	fx_end(&fx, 4600, 102, 9, 0, WIRE_END_NOTIFIED);
	track_finish(fx.track, 5000);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_WAKE), 4);
	assert_int_equal(fx_nth(&fx, D9_EV_WAKE, 0)->ts_ns, 2600);
	assert_int_equal(fx_nth(&fx, D9_EV_WAKE, 1)->ts_ns, 3400);
	e = fx_nth(&fx, D9_EV_WAKE, 2);
	assert_int_equal(e->ts_ns, 4400);
	assert_int_equal(e->u[D9F_wake_waker_task_id], 9);
	assert_int_equal(e->u[D9F_wake_target_worker], 0);
	e = fx_nth(&fx, D9_EV_WAKE, 3);
	assert_int_equal(e->ts_ns, 4600);
	assert_int_equal(e->u[D9F_wake_target_worker], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_WORKERS_TEST(test_own_schedules),
		FX_WORKERS_TEST(test_wakes),
		FX_WORKERS_TEST(test_wakes_at_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
