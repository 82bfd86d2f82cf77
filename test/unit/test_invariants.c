// SPDX-License-Identifier: Apache-2.0
/* test_invariants.c - each invariant, kept and broken. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/facts.h"
#include "viewer/invariants.h"

#include <string.h>

static struct invariants v;

static int begin(void **state)
{
	(void)state;
	return invariants_init(&v);
}

static int end(void **state)
{
	(void)state;
	invariants_done(&v);
	return 0;
}

static void at(uint64_t ts_ns, enum moment_kind kind, uint16_t worker, uint64_t task)
{
	const struct moment m = { .ts_ns = ts_ns, .kind = kind, .worker = worker, .task = task };

	invariants_in_file(&v, &m);
	assert_int_equal(invariants_moment(&v, &m), 0);
}

static void poll(uint64_t from_ns, uint64_t to_ns, uint16_t worker, uint64_t task)
{
	at(from_ns, MOMENT_POLL_START, worker, task);
	at(to_ns, MOMENT_POLL_END, worker, 0);
}

static uint64_t broken(enum invariant i)
{
	return v.results[i].broken;
}

static void test_whole_life(void **state)
{
	(void)state;
	at(5, MOMENT_UNPARK, 0, 0); /* parked before anybody looked */
	at(10, MOMENT_SPAWN, MOMENT_NO_WORKER, 1);
	poll(20, 30, 0, 1);
	at(40, MOMENT_PARK, 0, 0);
	at(45, MOMENT_WAKE, MOMENT_NO_WORKER, 1);
	at(50, MOMENT_UNPARK, 0, 0);
	poll(60, 70, 0, 1);
	at(70, MOMENT_END, MOMENT_NO_WORKER, 1);
	at(80, MOMENT_ALIVE, MOMENT_NO_WORKER, 2);
	poll(80, 90, 0, 2);
	for (int i = 0; i < INVARIANT_CNT; i++)
		assert_int_equal(broken((enum invariant)i), 0);
	assert_int_equal(v.polls, 3);
	assert_int_equal(v.unexplained, 0);
}

static void test_alternation(void **state)
{
	(void)state;
	at(5, MOMENT_POLL_END, 0, 0); /* a poll that began before anybody looked */
	assert_int_equal(broken(INVARIANT_POLLS), 0);
	at(6, MOMENT_POLL_END, 0, 0);
	assert_int_equal(broken(INVARIANT_POLLS), 1);
	assert_int_equal(v.results[INVARIANT_POLLS].first_ns, 6);
	at(10, MOMENT_POLL_START, 0, 1);
	at(20, MOMENT_POLL_START, 0, 2);
	assert_int_equal(broken(INVARIANT_POLLS), 2);
	at(30, MOMENT_POLL_START, 1, 3); /* another worker, another state */
	assert_int_equal(broken(INVARIANT_POLLS), 2);
	at(40, MOMENT_PARK, 2, 0);
	at(50, MOMENT_PARK, 2, 0);
	assert_int_equal(broken(INVARIANT_PARKS), 1);
}

static void test_unexplained(void **state)
{
	(void)state;
	poll(10, 20, 0, 1); /* no spawn, wake or Alive before it */
	assert_int_equal(v.unexplained, 1);
	at(25, MOMENT_POLL_START, 0, 2);
	at(26, MOMENT_WAKE, MOMENT_NO_WORKER, 2); /* wakes itself */
	at(27, MOMENT_POLL_END, 0, 0);
	assert_int_equal(v.unexplained, 2);
	poll(30, 40, 0, 2);
	assert_int_equal(v.unexplained, 2);
	poll(50, 60, 0, 2); /* the wake is used up */
	assert_int_equal(v.unexplained, 3);
	assert_int_equal(invariants_gap(&v), 0);
	poll(70, 80, 0, 2); /* it may have been woken in the gap */
	assert_int_equal(v.unexplained, 3);
	poll(90, 95, 0, 2);
	assert_int_equal(v.unexplained, 4);
}

static void test_two_workers(void **state)
{
	const struct moment off = {
		.ts_ns = 2400000, .kind = MOMENT_OFF_CPU, .worker = 0, .task = 1, .a = 1000000
	};

	(void)state;
	at(0, MOMENT_POLL_START, 0, 1);
	at(50000, MOMENT_POLL_START, 1, 1);
	at(60000, MOMENT_POLL_END, 1, 0);
	at(150000, MOMENT_POLL_END, 0, 0); /* just the 100 us that are allowed */
	assert_int_equal(broken(INVARIANT_ONE_WORKER), 0);
	assert_int_equal(v.overlaps, 1);
	at(1000000, MOMENT_POLL_START, 0, 1);
	at(2000000, MOMENT_POLL_START, 1, 1);
	assert_int_equal(invariants_moment(&v, &off), 0); /* 400 us of the 450 */
	at(2450000, MOMENT_POLL_END, 0, 0);
	assert_int_equal(broken(INVARIANT_ONE_WORKER), 0);
	at(2500000, MOMENT_POLL_START, 0, 2);
	at(2600000, MOMENT_POLL_END, 1, 0);
	at(3000000, MOMENT_POLL_START, 1, 2);
	at(3100001, MOMENT_POLL_END, 0, 0);
	assert_int_equal(broken(INVARIANT_ONE_WORKER), 1);
	assert_int_equal(v.results[INVARIANT_ONE_WORKER].first_task, 2);
}

static void over(uint64_t start_ns, uint64_t end_ns, enum moment_kind kind, uint16_t worker,
		 uint64_t task)
{
	const struct moment m = { .ts_ns = end_ns,
				  .kind = kind,
				  .worker = worker,
				  .tid = 7,
				  .task = task,
				  .a = start_ns };

	invariants_in_file(&v, &m);
	assert_int_equal(invariants_moment(&v, &m), 0);
}

static void test_nested(void **state)
{
	(void)state;
	over(1, 2, MOMENT_NESTED, 0, 9); /* the poll around it began before anybody looked */
	at(10, MOMENT_POLL_START, 0, 1);
	over(12, 14, MOMENT_NESTED, 0, 2);
	over(15, 17, MOMENT_NESTED, 0, 3);
	over(11, 18, MOMENT_NESTED, 0, 4); /* polled those two */
	assert_int_equal(broken(INVARIANT_NESTED), 0);
	over(17, 19, MOMENT_NESTED, 0, 5); /* overlaps the last one */
	assert_int_equal(broken(INVARIANT_NESTED), 1);
	over(9, 20, MOMENT_NESTED, 0, 6); /* began before the poll around it */
	assert_int_equal(broken(INVARIANT_NESTED), 2);
	at(30, MOMENT_POLL_END, 0, 0);
	over(31, 32, MOMENT_NESTED, 0, 7); /* in no poll */
	assert_int_equal(broken(INVARIANT_NESTED), 3);
	assert_int_equal(v.results[INVARIANT_NESTED].first_task, 5);
	/* threads that are no workers share one number */
	over(40, 50, MOMENT_NESTED, MOMENT_BLOCKING_WORKER, 8);
	over(45, 55, MOMENT_NESTED, MOMENT_BLOCKING_WORKER, 8);
	assert_int_equal(broken(INVARIANT_NESTED), 3);
	over(60, 35, MOMENT_NESTED, 0, 10);
	assert_int_equal(broken(INVARIANT_NESTED), 4);
	assert_int_equal(broken(INVARIANT_TIME), 0);
	over(20, 34, MOMENT_NESTED, 0, 10); /* stamped before the last one */
	assert_int_equal(broken(INVARIANT_TIME), 1);
}

static void test_nested_follows_a_wake(void **state)
{
	(void)state;
	at(5, MOMENT_SPAWN, MOMENT_NO_WORKER, 2);
	at(10, MOMENT_POLL_START, 0, 1);
	over(12, 14, MOMENT_NESTED, 0, 2);
	assert_int_equal(v.unexplained, 1); /* the one around it */
	over(15, 16, MOMENT_NESTED, 0, 2);
	assert_int_equal(v.unexplained, 2);
	at(18, MOMENT_WAKE, MOMENT_NO_WORKER, 2);
	over(17, 19, MOMENT_NESTED, 0, 2); /* woken in its course: that is for the next one */
	assert_int_equal(v.unexplained, 3);
	at(21, MOMENT_WAKE, MOMENT_NO_WORKER, 2); /* a second wake while the first one stands */
	over(20, 22, MOMENT_NESTED, 0, 2);
	over(23, 24, MOMENT_NESTED, 0, 2);
	assert_int_equal(v.unexplained, 3);
	over(25, 26, MOMENT_NESTED, 0, 2);
	assert_int_equal(v.unexplained, 4);
	at(27, MOMENT_END, MOMENT_NO_WORKER, 2);
	assert_int_equal(broken(INVARIANT_ENDED), 0);
	over(28, 29, MOMENT_NESTED, 0, 2);
	assert_int_equal(broken(INVARIANT_ENDED), 1);
}

static void test_blocking(void **state)
{
	(void)state;
	over(10, 20, MOMENT_BLOCKING, MOMENT_NO_WORKER, 1);
	over(30, 40, MOMENT_BLOCKING, MOMENT_NO_WORKER, 2);
	over(25, 50, MOMENT_BLOCKING, MOMENT_NO_WORKER, 3); /* ran the second one */
	assert_int_equal(broken(INVARIANT_BLOCKING), 0);
	over(45, 60, MOMENT_BLOCKING, MOMENT_NO_WORKER, 4);
	assert_int_equal(broken(INVARIANT_BLOCKING), 1);
	assert_int_equal(v.results[INVARIANT_BLOCKING].first_task, 4);
	assert_int_equal(broken(INVARIANT_ENDED), 0);
	over(70, 80, MOMENT_BLOCKING, MOMENT_NO_WORKER, 2); /* it is done: no second poll */
	assert_int_equal(broken(INVARIANT_ENDED), 1);
	assert_int_equal(invariants_gap(&v), 0);
	over(75, 90, MOMENT_BLOCKING, MOMENT_NO_WORKER, 1);
	assert_int_equal(broken(INVARIANT_ENDED), 1);
	assert_int_equal(broken(INVARIANT_BLOCKING), 1);
}

static void test_judged_only_where_claimed(void **state)
{
	struct facts f = { 0 };

	(void)state;
	invariants_finish(&v, &f);
	assert_true(v.results[INVARIANT_POLLS].is_judged);
	assert_false(v.results[INVARIANT_ONE_WORKER].is_judged);
	assert_false(v.results[INVARIANT_IDS].is_judged);
	f.has_claims = true;
	f.claims[D9_EV_TASK_SPAWN] = f.claims[D9_EV_TASK_TERMINATE] = true;
	invariants_finish(&v, &f);
	assert_true(v.results[INVARIANT_IDS].is_judged);
	assert_true(v.results[INVARIANT_ENDED].is_judged);
	assert_false(v.results[INVARIANT_ONE_WORKER].is_judged);
}

#define INVARIANT_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

static void level(uint64_t ts_ns, uint32_t has, bool is_of_type)
{
	const struct moment m = { .ts_ns = ts_ns,
				  .kind = MOMENT_LEVEL,
				  .worker = MOMENT_NO_WORKER,
				  .label = has,
				  .has_a = is_of_type };

	invariants_in_file(&v, &m);
	assert_int_equal(invariants_moment(&v, &m), 0);
}

/* What a level does not record is no fault; that polls alternate holds at each, and through all. */
static void test_levels(void **state)
{
	(void)state;
	level(0, MOMENT_HAS_ALL, false);
	at(10, MOMENT_SPAWN, MOMENT_NO_WORKER, 1);
	poll(20, 30, 0, 1);
	level(40, MOMENT_HAS_POLLS, false);
	poll(50, 60, 0, 1); /* its wake is not recorded */
	at(65, MOMENT_POLL_START, 0, 1);
	level(70, 0, false);
	at(80, MOMENT_POLL_END, 0, 1);
	level(100, MOMENT_HAS_ALL, false);
	poll(110, 120, 0, 1); /* it was woken unseen */
	level(130, MOMENT_HAS_ALL, false);
	assert_int_equal(v.unexplained, 0);
	assert_int_equal(broken(INVARIANT_POLLS), 0);
	poll(140, 150, 0, 1); /* this one has no reason */
	assert_int_equal(v.unexplained, 1);
	level(160, MOMENT_HAS_ALL, false);
	level(160, 0, true);
	poll(170, 180, 0, 1);
	assert_int_equal(v.unexplained, 1);
	at(200, MOMENT_POLL_START, 0, 1);
	level(210, MOMENT_HAS_POLLS, false);
	at(220, MOMENT_POLL_START, 0, 1);
	assert_int_equal(broken(INVARIANT_POLLS), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		INVARIANT_TEST(test_levels),
		INVARIANT_TEST(test_whole_life),
		INVARIANT_TEST(test_alternation),
		INVARIANT_TEST(test_unexplained),
		INVARIANT_TEST(test_nested),
		INVARIANT_TEST(test_nested_follows_a_wake),
		INVARIANT_TEST(test_blocking),
		INVARIANT_TEST(test_two_workers),
		INVARIANT_TEST(test_judged_only_where_claimed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
