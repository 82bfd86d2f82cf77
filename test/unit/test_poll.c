// SPDX-License-Identifier: Apache-2.0
/* test_poll.c - poll starts and ends of worker, nested, blocking and handed-over polls. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/track_fixture.h"

#define RT FX_MULTI(0x10)
#define OWNER 5

/* Threads 101.. are workers 0.. of a runtime with 4 workers. */
static int setup(void **state)
{
	(void)state;
	fx_open(&fx, NULL);
	fx_workers(RT, OWNER, true);
	return 0;
}

static void test_start_and_end(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_start(&fx, 2000, 103, 9, OWNER, 0);
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
		fx_start(&fx, 2000 + i * 100, 101 + i % 4, 9, OWNER, 0);
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
	fx_start(&fx, 2000, 101, 9, OWNER, 0);
	fx_start(&fx, 3000, 101, 10, OWNER, 0);
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
	fx_seat(&fx, 101, RT, 0, 1, true);
	fx_owner(&fx, 1000, 101, OWNER, RT);
	fx_start(&fx, 2000, 101, 9, OWNER, 0);
	fx_end(&fx, 2300, 101, 9, 0, WIRE_END_INFERRED | WIRE_END_TASK_ENDED);
	fx_start(&fx, 3000, 101, 10, OWNER, 0);
	fx_start(&fx, 4000, 101, 11, OWNER, 0);
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

/* One worker at a time polls a task: where ends are inferred, the second start ends the first. */
static void test_polled_elsewhere(void **state)
{
	const struct track_options polls = {0};

	(void)state;
	fx_close(&fx);
	fx_open(&fx, &polls);
	fx_seat(&fx, 101, RT, 0, 2, true);
	fx_seat(&fx, 102, RT, 1, 2, true);
	fx_owner(&fx, 1000, 101, OWNER, RT);
	fx_start(&fx, 2000, 101, 9, OWNER, 0);
	fx_start(&fx, 2500, 102, 9, OWNER, 0);
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

static void test_nested(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_start(&fx, 2000, 101, 9, OWNER, 0);
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
	fx_start(&fx, 2000, 101, 9, OWNER, 0);
	fx_start(&fx, 2100, 101, 20, OWNER, 1);
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
	fx_start(&fx, 3000, 101, 10, OWNER, 0);
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
	fx_start(&fx, 2100, 102, 9, OWNER, 1);
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

static void test_block_in_place(void **state)
{
	const struct fx_event *e;
	struct track_stats st;

	(void)state;
	fx_start(&fx, 2000, 101, 9, OWNER, 0);
	/* thread 500 takes worker 0 over while 9 blocks on 101 */
	fx_seat(&fx, 500, RT, 0, 4, true);
	fx_seat(&fx, 101, RT, 0, 4, false);
	fx_start(&fx, 3000, 500, 10, OWNER, 0);
	fx_wake(&fx, 3050, 101, 12, 9);
	fx_end(&fx, 3100, 500, 10, 0, 0);
	fx_end(&fx, 8000, 101, 9, 0, 0);
	/* 101 becomes worker 3 later on */
	fx_seat(&fx, 101, RT, 3, 4, true);
	fx_start(&fx, 9000, 101, 13, OWNER, 0);
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
	fx_start(&fx, 2000, 101, 9, OWNER, 0);
	fx_start(&fx, 3000, 102, 9, OWNER, 0);
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
	fx_start(&fx, 2000, 101, 9, OWNER, 0);
	fx_start(&fx, 3000, 102, 9, OWNER, 0);
	fx_end(&fx, 200000, 101, 9, 0, 0); /* preempted on its way out */
	fx_end(&fx, 210000, 102, 9, 0, 0);
	fx_start(&fx, 300000, 101, 9, OWNER, 0);
	fx_start(&fx, 301000, 102, 9, OWNER, 0);
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
	fx_start(&fx, 2000, 101, 9, OWNER, 0);
	fx_start(&fx, 3000, 102, 9, OWNER, 0);
	fx_end(&fx, 3100, 102, 9, 0, 0);
	fx_seat(&fx, 500, RT, 0, 4, true);
	fx_seat(&fx, 101, RT, 0, 4, false);
	fx_start(&fx, 120000, 500, 10, OWNER, 0);
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

/* schedule() of a task just spawned, and of one that gives itself back, is no wake. */
static void test_own_schedules(void **state)
{
	(void)state;
	fx_bind(&fx, 1900, 102, 50, 0);
	fx_wake(&fx, 1910, 102, 50, 0);
	fx_start(&fx, 2000, 102, 50, OWNER, 0);
	fx_wake(&fx, 2100, 102, 50, 50);
	fx_end(&fx, 2500, 102, 50, 0, WIRE_END_NOTIFIED);
	fx_start(&fx, 2600, 102, 50, OWNER, 0);
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
	fx_start(&fx, 2000, 102, 9, OWNER, 0);
	fx_wake(&fx, 2100, 102, 10, 9);
	fx_wake(&fx, 2200, 999, 11, 0);
	fx_end(&fx, 2500, 102, 9, 0, WIRE_END_NOTIFIED);
	fx_start(&fx, 3000, 102, 9, OWNER, 0);
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
	fx_seat(&fx, 101, RT, 0, 4, true);
	/* idle again, woken by another thread, its schedule() comes after our look at the state */
	fx_start(&fx, 2000, 101, 9, OWNER, 0);
	fx_end(&fx, 2500, 101, 9, 0, WIRE_END_NOTIFIED);
	fx_wake(&fx, 2600, 999, 9, 0);
	/* the same, its schedule() came before */
	fx_start(&fx, 3000, 101, 9, OWNER, 0);
	fx_wake(&fx, 3400, 999, 9, 0);
	fx_end(&fx, 3500, 101, 9, 0, WIRE_END_NOTIFIED);
	/* given back, and polled elsewhere before this poll gets to its end */
	fx_start(&fx, 4000, 101, 9, OWNER, 0);
	fx_start(&fx, 4400, 102, 9, OWNER, 0);
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

static uint8_t cause_after(uint64_t task, uint8_t start_flags, uint8_t end_flags)
{
	struct wire_poll_start r = {
		.head = {.ts_ns = 2000, .tid = 101, .kind = WIRE_POLL_START, .flags = start_flags},
		.task_id = task,
		.vtable = 0xa000,
		.owner_id = OWNER,
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
	fx_start(&fx, 1500, 101, 9, OWNER, 0);
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
	fx_start(&fx, 2000, 101, 9, OWNER, WIRE_POLL_DEPTH);
	fx_end(&fx, 2100, 101, 9, WIRE_POLL_DEPTH, 0);
	fx_start(&fx, 2200, 101, 9, OWNER, 255);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), 0);
	fx_check_counts(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, fx_teardown)
		T(test_start_and_end),	   T(test_alive_once),
		T(test_missing_end_is_inferred), T(test_inferred_level),
		T(test_polled_elsewhere),
		T(test_nested),		   T(test_end_closes_lost_inner),
		T(test_unpaired_end),	   T(test_blocking_task),
		T(test_launch_is_no_nesting), T(test_block_in_place),
		T(test_block_on_in_blocking),
		T(test_own_schedules), T(test_overtaken), T(test_overtaken_end), T(test_overtaken_handoff), T(test_wakes), T(test_wakes_at_ends),		   T(test_causes),
		T(test_unread_header),	   T(test_too_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
