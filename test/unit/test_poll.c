// SPDX-License-Identifier: Apache-2.0
/* test_poll.c - poll starts and ends of worker, nested, blocking and handed-over polls. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/track_fixture.h"

static void test_start_and_end(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_start(&fx, 2000, 103, 9, FX_OWNER, 0);
	fx_end(&fx, 2500, 103, 9, 0, 0);
	fx_decode(&fx);
	e = fx_nth(&fx, D9_EV_POLL_START, 0);
	assert_int_equal(e->ts_ns, 2000);
	assert_int_equal(e->u[D9F_poll_start_worker_id], 2);
	assert_int_equal(e->u[D9F_poll_start_task_id], 9);
	assert_int_equal(e->u[D9F_poll_start_local_queue], 3);
	assert_string_equal(e->str[D9F_poll_start_spawn_loc], "type@a002");
	e = fx_nth(&fx, D9_EV_POLL_END, 0);
	assert_int_equal(e->ts_ns, 2500);
	assert_int_equal(e->u[D9F_poll_end_worker_id], 2);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_INFERRED_END), 0);
	/* older than the recording: announced once, no spawn invented */
	e = fx_nth(&fx, D9_EV_AGENT_ALIVE, 0);
	assert_int_equal(e->u[D9F_agent_alive_task_id], 9);
	assert_int_equal(e->u[D9F_agent_alive_vtable], 0xa002);
	assert_string_equal(e->str[D9F_agent_alive_type], "type@a002");
	assert_int_equal(fx_cnt(&fx, D9_EV_TASK_SPAWN), 0);
	fx_check_counts(&fx);
}

static void test_alive_once(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		fx_start(&fx, 2000 + i * 100, 101 + i % 4, 9, FX_OWNER, 0);
		fx_end(&fx, 2050 + i * 100, 101 + i % 4, 9, 0, 0);
	}
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_ALIVE), 1);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), 10);
	assert_int_equal(fx_check_alternation(&fx), 0);
}

static void test_missing_end_is_inferred(void **state)
{
	const struct fx_event *e;
	struct track_stats st;

	(void)state;
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_start(&fx, 3000, 101, 10, FX_OWNER, 0);
	fx_end(&fx, 3100, 101, 10, 0, 0);
	fx_decode(&fx);
	e = fx_nth(&fx, D9_EV_POLL_END, 0);
	assert_int_equal(e->ts_ns, 3000);
	e = fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 0);
	assert_int_equal(e->u[D9F_agent_inferred_end_rule], 1);
	assert_int_equal(e->u[D9F_agent_inferred_end_task_id], 9);
	track_stats(fx.track, &st);
	assert_int_equal(st.inferred_ends, 1);
	assert_int_equal(fx_check_alternation(&fx), 0);
	fx_check_counts(&fx);
}

/* Level polls: all ends are inferred, so that is no news, but for what has no rule of its own. */
static void test_inferred_level(void **state)
{
	const struct track_options polls = {0};
	struct track_stats st;

	(void)state;
	fx_close(&fx);
	fx_open(&fx, &polls);
	fx_seat(&fx, 101, FX_RT, 0, 1, true);
	fx_owner(&fx, 1000, 101, FX_OWNER, FX_RT);
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_end(&fx, 2300, 101, 9, 0, WIRE_END_INFERRED | WIRE_END_TASK_ENDED);
	fx_start(&fx, 3000, 101, 10, FX_OWNER, 0);
	fx_start(&fx, 4000, 101, 11, FX_OWNER, 0);
	track_finish(fx.track, 5000);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_END), 3);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_INFERRED_END), 1);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 0)->u[D9F_agent_inferred_end_rule],
			 8);
	assert_int_equal(fx_cnt(&fx, D9_EV_TASK_TERMINATE), 0);
	track_stats(fx.track, &st);
	assert_int_equal(st.inferred_ends, 3);
	assert_int_equal(fx_check_alternation(&fx), 0);
}

static void test_nested(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_owner(&fx, 2100, 101, 77, 0x1234);
	fx_start(&fx, 2100, 101, 20, 77, 1);
	fx_end(&fx, 2200, 101, 20, 1, WIRE_END_TASK_ENDED);
	fx_end(&fx, 2500, 101, 9, 0, 0);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), 1);
	e = fx_nth(&fx, D9_EV_AGENT_NESTED_POLL, 0);
	assert_int_equal(e->ts_ns, 2200);
	assert_int_equal(e->u[D9F_agent_nested_poll_worker_id], 0);
	assert_int_equal(e->u[D9F_agent_nested_poll_task_id], 20);
	assert_int_equal(e->u[D9F_agent_nested_poll_outer_task_id], 9);
	assert_int_equal(e->u[D9F_agent_nested_poll_start_ns], 2100);
	assert_int_equal(fx_nth(&fx, D9_EV_TASK_TERMINATE, 0)->u[0], 20);
	fx_check_counts(&fx);
}

static void test_end_closes_lost_inner(void **state)
{
	(void)state;
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_start(&fx, 2100, 101, 20, FX_OWNER, 1);
	fx_end(&fx, 2500, 101, 9, 0, 0);
	fx_decode(&fx);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_NESTED_POLL, 0)->ts_ns, 2500);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_END), 1);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_INFERRED_END), 0);
}

static void test_unpaired_end(void **state)
{
	struct track_stats st;

	(void)state;
	fx_end(&fx, 2000, 101, 9, 0, WIRE_END_TASK_ENDED); /* begun before we came; unknown task */
	fx_start(&fx, 3000, 101, 10, FX_OWNER, 0);
	fx_end(&fx, 3100, 101, 11, 0, 0); /* another task: its start and 10's end were lost */
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_END), 1);
	assert_int_equal(fx_cnt(&fx, D9_EV_TASK_TERMINATE), 0);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 0)->u[D9F_agent_inferred_end_rule],
			 6);
	track_stats(fx.track, &st);
	assert_int_equal(st.unpaired_ends, 2);
	assert_int_equal(st.ignored_by[WIRE_POLL_END], 2);
	assert_int_equal(fx_check_alternation(&fx), 0);
	fx_check_counts(&fx);
}

static void test_blocking_task(void **state)
{
	const struct fx_event *e;

	(void)state;
	/* the counter proves itself: three binds whose ids it drew just before */
	for (uint64_t i = 0; i < 3; i++) {
		fx_draw(&fx, 1500 + i, 101, 50 + i, 0);
		fx_bind(&fx, 1510 + i, 101, 50 + i, 0x42);
	}
	fx_draw(&fx, 1900, 101, 53, 0);
	fx_blocking(&fx, 2000, 300, 53, 0);
	fx_sample(&fx, 2100, 300, "tokio-rt-worker", 2);
	fx_end(&fx, 2700, 300, 53, 0, WIRE_END_TASK_ENDED);
	fx_decode(&fx);
	e = fx_nth(&fx, D9_EV_AGENT_BLOCKING, 0);
	assert_int_equal(e->ts_ns, 2700);
	assert_int_equal(e->u[D9F_agent_blocking_task_id], 53);
	assert_int_equal(e->u[D9F_agent_blocking_tid], 300);
	assert_true(e->has[D9F_agent_blocking_queued_ns]);
	assert_int_equal(e->u[D9F_agent_blocking_queued_ns], 1900);
	assert_int_equal(e->u[D9F_agent_blocking_start_ns], 2000);
	assert_string_equal(e->str[D9F_agent_blocking_type], "type@b10c");
	/* no worker, no task of the trace's */
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), 0);
	assert_int_equal(fx_cnt(&fx, D9_EV_TASK_TERMINATE), 0);
	assert_int_equal(fx_nth(&fx, D9_EV_CPU_SAMPLE, 0)->u[D9F_cpu_sample_worker_id], 254);
	fx_check_counts(&fx);
}

/* A worker born while we record polls inside its launch, which is a blocking task at depth 0. */
static void test_launch_is_no_nesting(void **state)
{
	(void)state;
	fx_blocking(&fx, 2000, 102, 2, 0);
	fx_start(&fx, 2100, 102, 9, FX_OWNER, 1);
	fx_end(&fx, 2200, 102, 9, 1, 0);
	/* at rest inside the launch: a park, though BPF sees the launch being polled */
	fx_out(&fx, 2300, 102, 2, 202, WIRE_OUT_IN_POLL, 1, 3);
	fx_in(&fx, 2400, 102, 2300, 2390);
	fx_end(&fx, 9000, 102, 2, 0, WIRE_END_TASK_ENDED); /* the runtime is dropped */
	/* the next launch is known by its type, before any poll */
	fx_blocking(&fx, 9100, 103, 3, 0);
	fx_end(&fx, 9200, 103, 3, 0, WIRE_END_TASK_ENDED);
	fx_decode(&fx);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_START, 0)->u[0], 1);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_NESTED_POLL), 0);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_BLOCKING), 0);
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_PARK), 1);
	assert_int_equal(fx_nth(&fx, D9_EV_WORKER_UNPARK, 0)->u[D9F_worker_unpark_sched_wait_ns],
			 10);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_OFF_CPU), 0);
	fx_check_counts(&fx);
}

/* spawn_blocking(|| runtime.block_on(..)): between its polls BPF says "in no poll". */
static void test_block_on_in_blocking(void **state)
{
	const struct fx_event *e;
	struct track_stats st;

	(void)state;
	fx_owner(&fx, 1900, 300, 30, FX_CURRENT(1));
	fx_blocking(&fx, 2000, 300, 40, 0);
	fx_start(&fx, 2100, 300, 9, 30, 1);
	fx_end(&fx, 2200, 300, 9, 1, 0);
	fx_out(&fx, 2300, 300, 0, 202, 0, 1, 0);
	fx_in(&fx, 2400, 300, 2300, 0);
	fx_start(&fx, 2500, 300, 9, 30, 1); /* its end is lost */
	fx_out(&fx, 2600, 300, 0, 202, 0, 1, 0);
	fx_in(&fx, 2700, 300, 2600, 0);
	fx_end(&fx, 2800, 300, 40, 0, WIRE_END_TASK_ENDED);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_BLOCKING), 1);
	e = fx_nth(&fx, D9_EV_AGENT_BLOCKING, 0);
	assert_int_equal(e->ts_ns, 2800);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 1)->ts_ns, 2600);
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_PARK), 2);
	track_stats(fx.track, &st);
	assert_int_equal(st.inferred_ends, 1);
	assert_int_equal(st.unpaired_ends, 0);
	fx_check_counts(&fx);
}

static uint8_t cause_after(uint64_t task, uint8_t start_flags, uint8_t end_flags)
{
	struct wire_poll_start r = {
		.head = {.ts_ns = 2000, .tid = 101, .kind = WIRE_POLL_START, .flags = start_flags},
		.task_id = task,
		.vtable = 0xa000,
		.owner_id = FX_OWNER,
		.local_queue = WIRE_QUEUE_UNKNOWN};

	fx_record(&fx, &r, sizeof(r));
	fx_end(&fx, 2100, 101, task, 0, end_flags | WIRE_END_TASK_ENDED);
	fx_decode(&fx);
	return (uint8_t)fx_nth(&fx, D9_EV_AGENT_TASK_END, fx_cnt(&fx, D9_EV_AGENT_TASK_END) - 1)
		->u[D9F_agent_task_end_cause];
}

static void test_causes(void **state)
{
	(void)state;
	assert_int_equal(cause_after(1, 0, 0), 5);
	assert_int_equal(cause_after(2, 0, WIRE_END_RAISED), 4);
	assert_int_equal(cause_after(3, WIRE_START_CANCELLED, 0), 1);
	assert_int_equal(cause_after(4, WIRE_START_CANCELLED, WIRE_END_RAISED), 1);
	assert_int_equal(cause_after(5, 0, WIRE_END_CANCELLED), 1);
	fx_shutdown(&fx, 3000, 101, 6);
	fx_shutdown(&fx, 3001, 101, 6); /* an end is written once */
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_TASK_TERMINATE), 6);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_TASK_END, 5)->u[D9F_agent_task_end_cause], 2);
	fx_check_counts(&fx);
}

static void test_unread_header(void **state)
{
	struct wire_poll_start r = {.head = {.ts_ns = 2000,
					     .tid = 101,
					     .kind = WIRE_POLL_START,
					     .flags = WIRE_START_UNREAD}};

	(void)state;
	fx_start(&fx, 1500, 101, 9, FX_OWNER, 0);
	fx_end(&fx, 1600, 101, 9, 0, 0);
	fx_record(&fx, &r, sizeof(r));
	fx_end(&fx, 2100, 101, 0, 0, WIRE_END_UNREAD);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), 2);
	assert_string_equal(fx_nth(&fx, D9_EV_POLL_START, 1)->str[D9F_poll_start_spawn_loc], "?");
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_BLOCKING), 0);
	assert_int_equal(fx_check_alternation(&fx), 0);
}

static void test_too_deep(void **state)
{
	(void)state;
	fx_start(&fx, 2000, 101, 9, FX_OWNER, WIRE_POLL_DEPTH);
	fx_end(&fx, 2100, 101, 9, WIRE_POLL_DEPTH, 0);
	fx_start(&fx, 2200, 101, 9, FX_OWNER, 255);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), 0);
	fx_check_counts(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_WORKERS_TEST(test_start_and_end),
		FX_WORKERS_TEST(test_alive_once),
		FX_WORKERS_TEST(test_missing_end_is_inferred),
		FX_WORKERS_TEST(test_inferred_level),
		FX_WORKERS_TEST(test_nested),
		FX_WORKERS_TEST(test_end_closes_lost_inner),
		FX_WORKERS_TEST(test_unpaired_end),
		FX_WORKERS_TEST(test_blocking_task),
		FX_WORKERS_TEST(test_launch_is_no_nesting),
		FX_WORKERS_TEST(test_block_on_in_blocking),
		FX_WORKERS_TEST(test_causes),
		FX_WORKERS_TEST(test_unread_header),
		FX_WORKERS_TEST(test_too_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
