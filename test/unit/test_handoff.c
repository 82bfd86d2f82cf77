// SPDX-License-Identifier: Apache-2.0
/* test_handoff.c - polls whose worker or task has passed to another thread before their end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test/unit/track_fixture.h"

/* One worker at a time polls a task: where ends are inferred, the second start ends the first. */
static void test_polled_elsewhere(void **state)
{
	const struct track_options polls = {0};

	(void)state;
	fx_close(&fx);
	fx_open(&fx, &polls);
	fx_seat(&fx, 101, FX_RT, 0, 2, true);
	fx_seat(&fx, 102, FX_RT, 1, 2, true);
	fx_owner(&fx, 1000, 101, FX_OWNER, FX_RT);
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_start(&fx, 2500, 102, 9, FX_OWNER, 0);
	fx_end(&fx, 2600, 102, 9, 0, WIRE_END_INFERRED);
	fx_end(&fx, 2700, 101, 9, 0, WIRE_END_INFERRED); /* too late to tell */
	fx_decode(&fx);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 0)->ts_ns, 2500);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 0)->u[D9F_poll_end_worker_id], 0);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 0)->u[D9F_agent_inferred_end_rule],
			 9);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_END), 2);
	assert_int_equal(fx_check_alternation(&fx), 0);
}

static void test_block_in_place(void **state)
{
	const struct fx_event *e;
	struct track_stats st;

	(void)state;
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	/* thread 500 takes worker 0 over while 9 blocks on 101 */
	fx_seat(&fx, 500, FX_RT, 0, 4, true);
	fx_seat(&fx, 101, FX_RT, 0, 4, false);
	fx_start(&fx, 3000, 500, 10, FX_OWNER, 0);
	fx_wake(&fx, 3050, 101, 12, 9);
	fx_end(&fx, 3100, 500, 10, 0, 0);
	fx_end(&fx, 8000, 101, 9, 0, 0);
	/* 101 becomes worker 3 later on */
	fx_seat(&fx, 101, FX_RT, 3, 4, true);
	fx_start(&fx, 9000, 101, 13, FX_OWNER, 0);
	fx_end(&fx, 9100, 101, 13, 0, 0);
	fx_decode(&fx);
	e = fx_nth(&fx, D9_EV_POLL_END, 0);
	assert_int_equal(e->ts_ns, 3000);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 0)->u[D9F_agent_inferred_end_rule],
			 5);
	e = fx_nth(&fx, D9_EV_AGENT_BLOCK_IN_PLACE, 0);
	assert_int_equal(e->ts_ns, 8000);
	assert_int_equal(e->u[D9F_agent_block_in_place_worker_id], 0);
	assert_int_equal(e->u[D9F_agent_block_in_place_task_id], 9);
	assert_int_equal(e->u[D9F_agent_block_in_place_tid], 101);
	assert_int_equal(e->u[D9F_agent_block_in_place_handoff_ns], 3000);
	assert_int_equal(e->u[D9F_agent_block_in_place_start_ns], 2000);
	assert_int_equal(fx_nth(&fx, D9_EV_WAKE, 0)->u[D9F_wake_target_worker], 255);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_START, 2)->u[0], 3);
	track_stats(fx.track, &st);
	assert_int_equal(st.handoffs, 1);
	assert_int_equal(fx_check_alternation(&fx), 0);
	fx_check_counts(&fx);
}

/* Who looks at a task after another worker has ended it did not end it. */
static void test_overtaken_end(void **state)
{
	(void)state;
	fx_bind(&fx, 1900, 101, 9, 0);
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_start(&fx, 3000, 102, 9, FX_OWNER, 0);
	fx_end(&fx, 3500, 101, 9, 0, WIRE_END_TASK_ENDED);
	fx_end(&fx, 4000, 102, 9, 0, WIRE_END_TASK_ENDED);
	fx_decode(&fx);
	assert_int_equal(fx_nth(&fx, D9_EV_TASK_TERMINATE, 0)->ts_ns, 4000);
	assert_null(fx_nth(&fx, D9_EV_TASK_TERMINATE, 1));
}

/* An end long after another worker has begun to poll the task is not the poll's. */
static void test_overtaken(void **state)
{
	const struct fx_event *end;

	(void)state;
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_start(&fx, 3000, 102, 9, FX_OWNER, 0);
	fx_end(&fx, 200000, 101, 9, 0, 0); /* preempted on its way out */
	fx_end(&fx, 210000, 102, 9, 0, 0);
	fx_start(&fx, 300000, 101, 9, FX_OWNER, 0);
	fx_start(&fx, 301000, 102, 9, FX_OWNER, 0);
	fx_end(&fx, 302000, 101, 9, 0, 0); /* the usual tail */
	fx_end(&fx, 303000, 102, 9, 0, 0);
	fx_decode(&fx);
	end = fx_nth(&fx, D9_EV_POLL_END, 0);
	assert_int_equal(end->ts_ns, 3000);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 0)->u[D9F_agent_inferred_end_rule], 9);
	assert_null(fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 1));
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 2)->ts_ns, 302000);
}

/* The worker is found to have passed to another thread only after yet another has the task. */
static void test_overtaken_handoff(void **state)
{
	(void)state;
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_start(&fx, 3000, 102, 9, FX_OWNER, 0);
	fx_end(&fx, 3100, 102, 9, 0, 0);
	fx_seat(&fx, 500, FX_RT, 0, 4, true);
	fx_seat(&fx, 101, FX_RT, 0, 4, false);
	fx_start(&fx, 120000, 500, 10, FX_OWNER, 0);
	fx_end(&fx, 120100, 500, 10, 0, 0);
	fx_end(&fx, 130000, 101, 9, 0, 0);
	fx_decode(&fx);
	/* written when it is known */
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 1)->u[0], 0);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 1)->ts_ns, 3000);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 0)->u[D9F_agent_inferred_end_rule], 9);
	assert_null(fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 1));
	assert_int_equal(fx_check_alternation(&fx), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_WORKERS_TEST(test_polled_elsewhere),
		FX_WORKERS_TEST(test_block_in_place),
		FX_WORKERS_TEST(test_overtaken_end),
		FX_WORKERS_TEST(test_overtaken),
		FX_WORKERS_TEST(test_overtaken_handoff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
