// SPDX-License-Identifier: Apache-2.0
/* test_spawn.c - binds, id counters that must prove themselves, spawns dated late. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "agent/spawn.h"
#include "test/unit/track_fixture.h"

#define OWNER 5

/* Tokio before 1.35: no bind, spawns are dated by the counter */
static const struct track_options no_bind = {.has_exact_ends = true,
					      .has_task_events = true,
					      .has_wakes = true};

static void open_with(const struct track_options *o)
{
	fx_open(&fx, o);
	fx_workers(FX_MULTI(1), OWNER, false);
}

static int setup(void **state)
{
	(void)state;
	open_with(NULL);
	return 0;
}

static int setup_no_bind(void **state)
{
	(void)state;
	open_with(&no_bind);
	return 0;
}

static void poll_task(uint64_t ts, uint32_t tid, uint64_t task)
{
	fx_start(&fx, ts, tid, task, OWNER, 0);
	fx_end(&fx, ts + 5, tid, task, 0, 0);
}

static const struct fx_event *spawn_of(uint64_t task)
{
	const struct fx_event *found = NULL, *e;

	for (size_t i = 0; (e = fx_nth(&fx, D9_EV_TASK_SPAWN, i)); i++) {
		if (e->u[D9F_task_spawn_task_id] != task)
			continue;
		assert_null(found); /* never twice */
		found = e;
	}
	return found;
}

static void test_bind(void **state)
{
	struct wire_bind r = {.head = {.ts_ns = 2300, .tid = 102, .kind = WIRE_BIND},
			      .task_id = 23,
			      .vtable = 0xa000,
			      .location = 7,
			      .return_addr = 1,
			      .owned_tasks = 0x7000};
	const struct fx_event *e;

	(void)state;
	fx_start(&fx, 1900, 102, 9, OWNER, 0);
	fx_bind(&fx, 2000, 102, 20, 11);
	fx_bind(&fx, 2100, 102, 21, 0xdead); /* no line info: the type */
	fx_bind(&fx, 2200, 900, 22, 11); /* not a worker */
	fx_record(&fx, &r, sizeof(r)); /* tokio_unstable: the task knows its place */
	fx_end(&fx, 2350, 102, 9, 0, 0);
	poll_task(2400, 101, 20);
	fx_bind(&fx, 2500, 102, 20, 11); /* a late record */
	fx_decode(&fx);
	e = spawn_of(20);
	assert_int_equal(e->ts_ns, 2000);
	assert_string_equal(e->str[D9F_task_spawn_spawn_loc], "src/call.rs:11:5");
	assert_int_equal(e->u[D9F_task_spawn_instrumented], 1);
	assert_true(e->has[D9F_task_spawn_worker_id]);
	assert_int_equal(e->u[D9F_task_spawn_worker_id], 1);
	assert_string_equal(spawn_of(21)->str[D9F_task_spawn_spawn_loc], "type@a000");
	assert_false(spawn_of(22)->has[D9F_task_spawn_worker_id]);
	assert_string_equal(spawn_of(23)->str[D9F_task_spawn_spawn_loc], "src/loc.rs:7:1");
	/* the place stays with the task */
	assert_string_equal(fx_nth(&fx, D9_EV_POLL_START, 1)->str[D9F_poll_start_spawn_loc],
			    "src/call.rs:11:5");
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_ALIVE), 1); /* 9 only */
	fx_check_counts(&fx);
}

/* The counter is believed after three tasks; those before get their spawn late, dated right. */
static void test_counter_dates_spawns(void **state)
{
	(void)state;
	for (uint64_t id = 100; id < 110; id++)
		fx_draw(&fx, 2000 + id, 103, id, 1);
	for (uint64_t id = 100; id < 110; id++)
		poll_task(10000 + id * 10, 101, id);
	poll_task(20000, 101, 50); /* older */
	fx_decode(&fx);
	for (uint64_t id = 100; id < 110; id++) {
		assert_non_null(spawn_of(id));
		assert_int_equal(spawn_of(id)->ts_ns, 2000 + id);
		assert_false(spawn_of(id)->has[D9F_task_spawn_worker_id]);
	}
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_ALIVE), 1);
	fx_check_counts(&fx);
}

/* Another counter of the program draws the same numbers, some time before and from elsewhere. */
static void test_foreign_counter_is_refused(void **state)
{
	struct track_stats st;

	(void)state;
	for (uint64_t id = 100; id < 200; id++)
		fx_draw(&fx, 1000 + id, 200, id, 0); /* runs ahead */
	for (uint64_t id = 100; id < 200; id++) {
		uint64_t ts = 10000 + id * 100;

		fx_draw(&fx, ts, 103, id, 2);
		poll_task(ts + 50, 101, id);
	}
	fx_draw(&fx, 90000, 200, 300, 0);
	fx_decode(&fx);
	for (uint64_t id = 100; id < 200; id++)
		assert_int_equal(spawn_of(id)->ts_ns, 10000 + id * 100);
	track_stats(fx.track, &st);
	assert_int_equal(st.counters_confirmed, 1);
	assert_int_equal(st.ids_foreign, 1);
	assert_int_equal(st.ignored_by[WIRE_SPAWN_ID], 1);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_ALIVE), 0);
	fx_check_counts(&fx);
}

/* A counter whose numbers never turn up dates nothing: the tasks are simply older. */
static void test_wrong_counter_only(void **state)
{
	struct track_stats st;

	(void)state;
	fx_draw(&fx, 1000, 200, 10, 0);
	fx_draw(&fx, 1001, 200, 102, 0); /* by chance */
	for (uint64_t id = 100; id < 130; id++)
		poll_task(10000 + id * 100, 101, id);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_TASK_SPAWN), 0);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_ALIVE), 30);
	track_stats(fx.track, &st);
	assert_int_equal(st.counters_confirmed, 0);
	fx_check_counts(&fx);
}

/* Two tasks are too few to prove a counter; after a while one without a miss is believed. */
static void test_few_tasks(void **state)
{
	(void)state;
	fx_draw(&fx, 2000, 103, 100, 0);
	fx_draw(&fx, 2001, 103, 101, 0);
	poll_task(3000, 101, 100);
	poll_task(3100, 101, 101);
	track_tick(fx.track, 4000);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_TASK_SPAWN), 0);
	track_tick(fx.track, 4000 + SPAWN_DECIDE_NS);
	fx_decode(&fx);
	assert_int_equal(spawn_of(100)->ts_ns, 2000);
	assert_int_equal(spawn_of(101)->ts_ns, 2001);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_ALIVE), 0);
}

static void test_finish_decides(void **state)
{
	(void)state;
	fx_draw(&fx, 2000, 103, 100, 0);
	poll_task(3000, 101, 100);
	track_finish(fx.track, 4000);
	fx_decode(&fx);
	assert_int_equal(spawn_of(100)->ts_ns, 2000);
}

/* Shut down before its first poll. */
static void test_shutdown_of_unpolled(void **state)
{
	(void)state;
	for (uint64_t id = 100; id < 105; id++)
		fx_draw(&fx, 2000 + id, 103, id, 0);
	for (uint64_t id = 100; id < 104; id++)
		poll_task(3000 + id * 10, 101, id);
	fx_shutdown(&fx, 9000, 101, 104);
	fx_decode(&fx);
	assert_int_equal(spawn_of(104)->ts_ns, 2104);
	assert_int_equal(fx_nth(&fx, D9_EV_TASK_TERMINATE, 0)->u[0], 104);
	fx_check_counts(&fx);
}

static void test_ids_age_and_overflow(void **state)
{
	struct track_stats st;

	(void)state;
	for (uint64_t id = 1; id <= SPAWN_PENDING_MAX + 100; id++)
		fx_draw(&fx, 2000 + id, 103, id, 0);
	fx_draw(&fx, 9, 103, 5, SPAWN_COUNTERS_MAX); /* no such counter */
	fx_draw(&fx, 9, 103, 1ull << 60, 0);
	fx_draw(&fx, 9, 103, 0, 0);
	poll_task(200000, 101, 50); /* gave way to a newer one */
	poll_task(200100, 101, 200);
	poll_task(200200, 101, 201);
	poll_task(200300, 101, 202);
	track_tick(fx.track, 200400 + SPAWN_TTL_NS);
	poll_task(200500 + SPAWN_TTL_NS, 101, 300); /* too old to be dated */
	track_finish(fx.track, 200600 + SPAWN_TTL_NS);
	fx_decode(&fx);
	assert_null(spawn_of(50));
	assert_null(spawn_of(300));
	track_stats(fx.track, &st);
	assert_int_equal(st.ignored_by[WIRE_SPAWN_ID], 3);
	fx_check_counts(&fx);
}

/* Two copies of Tokio in one process count alike, each with a counter of its own: neither makes the
 * other's look wrong, and equal ids are different tasks. */
static void test_two_copies(void **state)
{
	struct track_stats st;

	(void)state;
	for (uint64_t id = 1; id < 40; id++) {
		fx_draw(&fx, 2000 + id * 100, 101, WIRE_COPY_ID(0, id), 0);
		fx_draw(&fx, 2001 + id * 100, 102, WIRE_COPY_ID(1, id), 1);
	}
	for (uint64_t id = 1; id < 40; id++) {
		poll_task(10000 + id * 100, 101, WIRE_COPY_ID(0, id));
		poll_task(10050 + id * 100, 102, WIRE_COPY_ID(1, id));
	}
	fx_decode(&fx);
	for (uint64_t id = 1; id < 40; id++) {
		assert_int_equal(spawn_of(id)->ts_ns, 2000 + id * 100);
		assert_int_equal(spawn_of(1ull << 48 | id)->ts_ns, 2001 + id * 100);
	}
	track_stats(fx.track, &st);
	assert_int_equal(st.counters_confirmed, 2);
	assert_int_equal(st.ids_foreign, 0);
	fx_check_counts(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bind, setup, fx_teardown),
#define T(f) cmocka_unit_test_setup_teardown(f, setup_no_bind, fx_teardown)
		T(test_counter_dates_spawns),
		T(test_foreign_counter_is_refused),
		T(test_wrong_counter_only),
		T(test_few_tasks),
		T(test_finish_decides),
		T(test_shutdown_of_unpolled),
		T(test_ids_age_and_overflow),
		T(test_two_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
