// SPDX-License-Identifier: Apache-2.0
/* test_worker.c - who is which worker: seats, runtimes, their names and ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/track_fixture.h"

static void test_blocks_and_names(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		fx_seat(&fx, (pid_t)(101 + i), FX_MULTI(1), i, 3, true);
		fx_name(&fx, (pid_t)(101 + i), "tokio-rt-worker");
		fx_seat(&fx, (pid_t)(201 + i), FX_MULTI(2), i, 3, true);
		fx_name(&fx, (pid_t)(201 + i), "tokio-runtime-w");
		fx_seat(&fx, (pid_t)(301 + i), FX_MULTI(3), i, 3, true);
		fx_name(&fx, (pid_t)(301 + i), "db io-2");
		fx_seat(&fx, (pid_t)(401 + i), FX_MULTI(4), i, 3, true);
		fx_name(&fx, (pid_t)(401 + i), "db io-7");
	}
	fx_owner(&fx, 1, 102, 11, FX_MULTI(1));
	fx_owner(&fx, 2, 201, 12, FX_MULTI(2));
	fx_owner(&fx, 3, 301, 13, FX_MULTI(3));
	fx_owner(&fx, 4, 401, 14, FX_MULTI(4));
	assert_int_equal(fx_poll_once(102, 11, 100), 1);
	assert_int_equal(fx_poll_once(203, 12, 110), 5);
	assert_int_equal(fx_poll_once(301, 13, 120), 6);
	assert_int_equal(fx_poll_once(403, 14, 130), 11);
	assert_int_equal(fx_poll_once(101, 11, 140), 0);
	assert_string_equal(fx_meta("runtime.main"), "0,1,2");
	assert_string_equal(fx_meta("runtime.rt-1"), "3,4,5");
	assert_string_equal(fx_meta("runtime.db_io"), "6,7,8");
	assert_string_equal(fx_meta("runtime.db_io-2"), "9,10,11");
	fx_check_counts(&fx);
}

static void test_option_names_the_first(void **state)
{
	struct track_options o = { .runtime_name = "api", .has_exact_ends = true };

	(void)state;
	fx_close(&fx);
	fx_open(&fx, &o);
	fx_seat(&fx, 101, FX_MULTI(1), 0, 1, true);
	fx_owner(&fx, 1, 101, 11, FX_MULTI(1));
	fx_owner(&fx, 2, 102, 12, FX_CURRENT(1));
	fx_name(&fx, 102, "tokio-rt-worker");
	assert_int_equal(fx_poll_once(101, 11, 100), 0);
	assert_int_equal(fx_poll_once(102, 12, 110), 1);
	assert_string_equal(fx_meta("runtime.api"), "0");
	assert_true(!strcmp(fx_meta("runtime.rt-1"), "1") || !strcmp(fx_meta("runtime.main"), "1"));
}

/* Seats known before the first poll: parks count from the start. */
static void test_greeted_thread_parks(void **state)
{
	(void)state;
	fx_seat(&fx, 101, FX_MULTI(1), 1, 2, true);
	track_thread(fx.track, 101);
	track_thread(fx.track, 102); /* no seat */
	fx_out(&fx, 500, 101, 0, 202, 0, 1, 0);
	fx_in(&fx, 900, 101, 500, 880);
	fx_out(&fx, 500, 102, 0, 202, 0, 1, 0);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_PARK), 1);
	assert_int_equal(fx_nth(&fx, D9_EV_WORKER_PARK, 0)->u[D9F_worker_park_worker_id], 1);
	fx_owner(&fx, 1000, 101, 11, FX_MULTI(1));
	assert_int_equal(fx_poll_once(101, 11, 1000), 1);
	fx_check_counts(&fx);
}

static void test_current_thread_moves(void **state)
{
	(void)state;
	fx_owner(&fx, 1, 101, 21, FX_CURRENT(1));
	assert_int_equal(fx_poll_once(101, 21, 100), 0);
	assert_int_equal(fx_poll_once(102, 21, 200), 0); /* block_on from another thread */
	assert_int_equal(fx_poll_once(101, 21, 300), 0);
}

static void test_local_set(void **state)
{
	(void)state;
	fx_owner(&fx, 1, 101, 21, FX_CURRENT(1));
	fx_owner(&fx, 2, 101, 22, 0x4000); /* neither shape */
	fx_owner(&fx, 2, 109, 23, 0x5000);
	assert_int_equal(fx_poll_once(101, 21, 100), 0);
	assert_int_equal(fx_poll_once(101, 22, 110), 1);
	assert_int_equal(fx_poll_once(101, 21, 120), 0);
	assert_int_equal(fx_poll_once(109, 23, 130), 2);
	assert_int_equal(fx_poll_once(101, 22, 140), 1);
	assert_string_equal(fx_meta("runtime.local-101"), "1");
	assert_string_equal(fx_meta("runtime.local-109"), "2");
	assert_int_equal(fx.world.flavor_calls, 3);
}

/* A block in use by nobody goes to the next one of its shape: ids do not run out. */
static void test_local_sets_come_and_go(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		uint32_t tid = 5000 + i;

		fx_owner(&fx, 10 * i, tid, 100 + i, 0x4000 + i);
		fx_start(&fx, 10 * i + 1, tid, 1 + i, 100 + i, 0);
		fx_end(&fx, 10 * i + 2, tid, 1 + i, 0, WIRE_END_TASK_ENDED);
		fx_exit(&fx, 10 * i + 3, tid);
	}
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), 3000);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_START, 2999)->u[0], 0);
	assert_int_equal(fx_check_alternation(&fx), 0);
	fx_check_counts(&fx);
}

static void test_current_runtimes_on_one_thread(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		fx_owner(&fx, 10 * i, 101, 100 + i, FX_CURRENT(i * 16));
		fx_start(&fx, 10 * i + 1, 101, 1 + i, 100 + i, 0);
		fx_end(&fx, 10 * i + 2, 101, 1 + i, 0, 0);
	}
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), 2000);
	assert_true(fx_nth(&fx, D9_EV_POLL_START, 1999)->u[0] < 8);
	assert_int_equal(fx_check_alternation(&fx), 0);
}

static void test_special_ids_are_skipped(void **state)
{
	struct fixture_world *w = &fx.world;
	uint64_t last = 0;

	(void)state;
	fx_seat(&fx, 1, FX_MULTI(1), 249, 250, true);
	fx_owner(&fx, 1, 1, 11, FX_MULTI(1));
	assert_int_equal(fx_poll_once(1, 11, 100), 249);
	fx_seat(&fx, 2, FX_MULTI(2), 0, 8, true); /* would reach across 254 */
	fx_owner(&fx, 2, 2, 12, FX_MULTI(2));
	assert_int_equal(fx_poll_once(2, 12, 110), 256);
	/* the cap: polls are counted, not written */
	fx_seat(&fx, 3, FX_MULTI(3), 0, TRACK_WORKERS_MAX, true);
	fx_owner(&fx, 3, 3, 13, FX_MULTI(3));
	last = fx_poll_once(3, 13, 120); /* a worker of its own: the seat's block finds no room */
	assert_int_equal(last, 264);
	assert_string_equal(fx_meta("agent.worker_identity"), "thread");
	assert_true(w->seat_calls >= 3);
	fx_check_counts(&fx);
}

static void test_unread_seat_is_asked_again(void **state)
{
	struct track_stats st;
	uint64_t first;

	(void)state;
	fx_owner(&fx, 1, 101, 11, FX_MULTI(1));
	first = fx_poll_once(101, 11, 1000);
	assert_string_equal(fx_meta("runtime.unknown-11"), "0");
	assert_int_equal(fx_poll_once(101, 11, 2000), first);
	assert_int_equal(fx.world.seat_calls, 1);
	fx_seat(&fx, 101, FX_MULTI(1), 1, 2, true);
	assert_int_equal(fx_poll_once(101, 11, 300000000), 2);
	assert_int_equal(fx_poll_once(101, 11, 300001000), 2);
	assert_int_equal(fx.world.seat_calls, 2);
	track_stats(fx.track, &st);
	assert_int_equal(st.unknown_worker, 2);
}

/* While two threads show one worker, the one that holds the Core is it. */
static void test_no_core_no_worker(void **state)
{
	(void)state;
	fx_seat(&fx, 101, FX_MULTI(1), 0, 2, true);
	fx_seat(&fx, 102, FX_MULTI(1), 0, 2, false);
	fx_owner(&fx, 1, 101, 11, FX_MULTI(1));
	assert_int_equal(fx_poll_once(101, 11, 100), 0);
	assert_int_equal(fx_poll_once(102, 11, 200), 2);
	assert_int_equal(fx_poll_once(101, 11, 300), 0);
}

/* The threads' own word beats what memory says later: a storm of hand-overs stays exact. */
static void test_seats_from_the_threads(void **state)
{
	struct track_stats st;

	(void)state;
	fx_seat(&fx, 101, FX_MULTI(1), 1, 2, true); /* stale */
	fx_owner(&fx, 1, 101, 11, FX_MULTI(1));
	fx_seated(&fx, 1, 101, FX_MULTI(1), 0, 2);
	fx_start(&fx, 1, 101, 5, 11, 0);
	fx_seated(&fx, 100, 102, FX_MULTI(1), 0, 2); /* 101 blocks in place */
	fx_start(&fx, 100, 102, 6, 11, 0);
	fx_seated(&fx, 200, 103, FX_MULTI(1), 0, 2); /* and 102 too */
	fx_start(&fx, 200, 103, 7, 11, 0);
	fx_end(&fx, 300, 103, 7, 0, 0);
	fx_end(&fx, 400, 102, 6, 0, 0);
	fx_end(&fx, 500, 101, 5, 0, 0);
	fx_seated(&fx, 600, 101, FX_MULTI(1), 1, 2);
	assert_int_equal(fx_poll_once(101, 11, 600), 1);
	assert_int_equal(fx.world.seat_calls, 0);
	fx_seated(&fx, 700, 104, FX_MULTI(1), 5, 2); /* no such worker */
	fx_seated(&fx, 700, 104, FX_MULTI(1), 0, 9); /* not the shape this runtime has */
	fx_decode(&fx);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 0)->ts_ns, 100);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 1)->ts_ns, 200);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_BLOCK_IN_PLACE), 2);
	track_stats(fx.track, &st);
	assert_int_equal(st.handoffs, 2);
	assert_int_equal(st.ignored_by[WIRE_SEAT], 2);
	fx_check_counts(&fx);
}

/* Another list at the same scheduler address: the memory of a dropped runtime. */
static void test_scheduler_address_reused(void **state)
{
	(void)state;
	fx_owner(&fx, 1, 101, 21, FX_CURRENT(1));
	assert_int_equal(fx_poll_once(101, 21, 100), 0);
	fx_owner(&fx, 200, 101, 22, FX_CURRENT(1));
	assert_int_equal(fx_poll_once(101, 22, 210), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(test_blocks_and_names),
		FX_TEST(test_option_names_the_first),
		FX_TEST(test_greeted_thread_parks),
		FX_TEST(test_current_thread_moves),
		FX_TEST(test_local_set),
		FX_TEST(test_local_sets_come_and_go),
		FX_TEST(test_current_runtimes_on_one_thread),
		FX_TEST(test_special_ids_are_skipped),
		FX_TEST(test_unread_seat_is_asked_again),
		FX_TEST(test_no_core_no_worker),
		FX_TEST(test_seats_from_the_threads),
		FX_TEST(test_scheduler_address_reused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
