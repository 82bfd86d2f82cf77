// SPDX-License-Identifier: Apache-2.0
/* test_account.c - waits, polls, workers and tasks from moments. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "accountscript.h"
#include "viewer/tasktable.h"

#include <string.h>

static void test_wait_counts_from_the_first_wake(void **state)
{
	(void)state;
	wake(100, 1);
	wake(150, 1);
	wake(190, 1);
	start(200, 0, 1);
	assert_int_equal(row()->wait.cnt, 1);
	assert_int_equal(row()->wait.max, 100);
	stop(210, 0);
	start(300, 0, 1); /* nothing woke it: no wait is known */
	assert_int_equal(row()->wait.cnt, 1);
	assert_int_equal(row()->polls, 2);
}

static void test_woken_while_running_waits_from_the_end(void **state)
{
	(void)state;
	start(100, 0, 1);
	wake(110, 1);
	wake(120, 1);
	stop(200, 0);
	wake(250, 1); /* redundant: it stands woken since 200 */
	start(300, 1, 1);
	assert_int_equal(row()->wait.cnt, 1);
	assert_int_equal(row()->wait.max, 100);
	assert_int_equal(row()->wakes, 3);
	assert_int_equal(row()->redundant_wakes, 2);
}

/* Parks that were added up are no gap: their time is split as that of single ones, and sums to all. */
static void test_parks_added_up(void **state)
{
	const struct moment level = { .ts_ns = 0, .kind = MOMENT_LEVEL, .label = 0,
				      .worker = MOMENT_NO_WORKER },
			    crowd = { .ts_ns = 1300, .kind = MOMENT_PARKS, .worker = 0, .tid = 7,
				      .label = 40, .task = 500, .a = 300, .b = 1200, .c = 100 },
			    open = { .ts_ns = 1300, .kind = MOMENT_PARKS, .worker = 0, .tid = 7,
				     .label = 1, .task = 90, .a = 1200, .b = 1300 },
			    first = { .ts_ns = 1500, .kind = MOMENT_PARKS, .worker = 1, .tid = 8,
				      .label = 3, .task = 200, .a = 1000, .b = 1400 };
	const struct worker *w;

	(void)state;
	account_moment(&a, &level);
	at(100, MOMENT_PARK, 0, 0);
	at(200, MOMENT_UNPARK, 0, 0);
	account_moment(&a, &crowd);
	account_moment(&a, &open); /* of a longer time than passed since the last cut: both end now */
	account_moment(&a, &first);
	at(1400, MOMENT_PARK, 0, 0);
	account_finish(&a, 0, 2000);
	w = workertable_get(a.workers, 0);
	assert_int_equal(w->parks, 43);
	assert_int_equal(w->unparks, 42);
	assert_int_equal(w->delays_known, 41);
	assert_int_equal(w->parked_ns, 100 + 500 + 90 + 600);
	assert_int_equal(w->delayed_ns, 100);
	assert_int_equal(w->busy_ns + w->parked_ns + w->delayed_ns + w->between_ns + w->unknown_ns, 2000);
	assert_int_equal(workertable_of_thread(a.workers, 7), 0);
	w = workertable_get(a.workers, 1);
	assert_int_equal(w->parked_ns, 200);
	assert_int_equal(w->busy_ns + w->parked_ns + w->delayed_ns + w->between_ns + w->unknown_ns, 2000);
}

/* Another worker begins the next poll before the end of this one is stamped. */
static void test_overlap_of_two_workers(void **state)
{
	(void)state;
	start(100, 0, 1);
	wake(110, 1);
	start(200, 1, 1);
	stop(210, 0);
	stop(300, 1);
	assert_int_equal(a.waits_cut, 1);
	assert_int_equal(row()->wait.cnt, 0);
	wake(400, 1); /* the state is right again */
	start(450, 0, 1);
	assert_int_equal(row()->wait.max, 50);
	account_finish(&a, 0, 500);
	assert_int_equal(row()->poll.cnt, 2);
}

static void test_a_poll_without_end_has_no_duration(void **state)
{
	struct worker *w = workertable_get(a.workers, 0);

	(void)state;
	start(100, 0, 1);
	start(900, 0, 2);
	stop(950, 0);
	assert_int_equal(row()->polls, 2);
	assert_int_equal(w->cut_polls, 1);
	assert_int_equal(w->unknown_ns, 800);
	/* what became of task 1 is unknown: a wake now begins a wait */
	wake(1000, 1);
	start(1010, 0, 1);
	assert_int_equal(row()->poll.cnt, 1);
	assert_int_equal(row()->poll.max, 50);
	assert_int_equal(row()->wait.max, 10);
	stop(1020, 0);
	stop(1030, 0);
	assert_int_equal(a.stray_ends, 1);
}

static void inferred(uint64_t ts_ns, uint16_t worker, uint64_t task, uint64_t rule)
{
	const struct moment m = {
		.ts_ns = ts_ns, .kind = MOMENT_INFERRED, .worker = worker, .task = task, .a = rule
	};

	assert_int_equal(account_moment(&a, &m), 0);
}

/* agent:InferredEnd: some ends are known nearly, others only stand for one that was not seen. */
static void test_inferred_ends(void **state)
{
	struct worker *w = workertable_get(a.workers, 0);

	(void)state;
	start(100, 0, 1);
	stop(150, 0);
	inferred(150, 0, 1, 2); /* TLS at rest: as good as seen */
	start(200, 0, 2);
	wake(210, 2);
	stop(900, 0);
	inferred(900, 0, 2, 6); /* lost: no duration, no wait from its end */
	start(1000, 0, 2);
	inferred(1500, 0, 2, 8); /* the same where it stands before the end it speaks of */
	stop(1500, 0);
	start(2000, 0, 3);
	inferred(2500, 0, 3, 5); /* gave its worker away: the worker was busy until then */
	stop(2500, 0);
	start(2600, 0, 3);
	stop(2700, 0);
	inferred(2700, 0, 99, 8); /* of another task, or another time: not this one's */
	inferred(2699, 0, 3, 8);
	account_finish(&a, 100, 2700);
	assert_int_equal(row()->polls, 5);
	assert_int_equal(row()->poll.cnt, 2);
	assert_int_equal(row()->poll.sum, 50 + 100);
	assert_int_equal(row()->busy_ns, 50 + 100);
	assert_int_equal(row()->wait.cnt, 0);
	assert_int_equal(a.waits_cut, 1);
	assert_int_equal(w->cut_polls, 3);
	assert_int_equal(w->busy_ns, 50 + 500 + 100);
	assert_int_equal(w->unknown_ns, 700 + 500);
	assert_int_equal(w->between_ns, 50 + 100 + 500 + 100);
	assert_int_equal(a.longest.cnt, 2);
}

static void test_gap(void **state)
{
	(void)state;
	start(100, 0, 1);
	wake(150, 2);
	account_gap(&a);
	stop(5000, 0);
	start(6000, 0, 2);
	assert_int_equal(row()->poll.cnt, 0);
	assert_int_equal(row()->wait.cnt, 0);
	assert_int_equal(a.stray_ends, 1);
	assert_int_equal(workertable_get(a.workers, 0)->cut_polls, 1);
}

static void test_worker_parts_sum_to_the_span(void **state)
{
	struct worker *w = workertable_get(a.workers, 5);
	struct moment unpark = {
		.ts_ns = 500, .kind = MOMENT_UNPARK, .worker = 5, .tid = 8, .has_a = true, .a = 40
	};

	(void)state;
	start(100, 5, 1);
	stop(150, 5);
	at(200, MOMENT_PARK, 5, 0);
	account_moment(&a, &unpark);
	start(520, 5, 1);
	stop(600, 5);
	at(650, MOMENT_PARK, 5, 0);
	account_finish(&a, 0, 1000);
	assert_int_equal(w->busy_ns, 130);
	assert_int_equal(w->parked_ns, 300 - 40 + 350);
	assert_int_equal(w->delayed_ns, 40);
	assert_int_equal(w->between_ns, 50 + 20 + 50);
	assert_int_equal(w->unknown_ns, 100);
	assert_int_equal(w->busy_ns + w->parked_ns + w->delayed_ns + w->between_ns + w->unknown_ns,
			 1000);
	assert_int_equal(workertable_of_thread(a.workers, 8), 5);
	assert_int_equal(workertable_of_thread(a.workers, 9), MOMENT_NO_WORKER);
}

static void test_tasks_are_counted_once(void **state)
{
	(void)state;
	at(10, MOMENT_SPAWN, MOMENT_NO_WORKER, 1);
	start(20, 0, 1);
	stop(30, 0);
	at(30, MOMENT_END, MOMENT_NO_WORKER, 1);
	at(31, MOMENT_END, MOMENT_NO_WORKER, 1);
	at(40, MOMENT_ALIVE, MOMENT_NO_WORKER, 2);
	start(50, 0, 2);
	stop(60, 0);
	wake(70, 3); /* of no type until it is polled */
	start(80, 0, 3);
	stop(90, 0);
	at(95, MOMENT_END, MOMENT_NO_WORKER, 77);
	assert_int_equal(row()->spawned, 1);
	assert_int_equal(row()->seen, 2);
	assert_int_equal(row()->ended, 1);
	assert_int_equal(a.unknown_ends, 1);
	at(100, MOMENT_SPAWN, MOMENT_NO_WORKER, 1); /* the id again, after its end */
	assert_int_equal(row()->spawned, 2);
}

static void test_nested_and_off_cpu(void **state)
{
	struct moment nested = { .ts_ns = 180,
				 .kind = MOMENT_NESTED,
				 .worker = 0,
				 .task = 2,
				 .label = place,
				 .a = 150 };
	struct moment off = { .ts_ns = 170,
			      .kind = MOMENT_OFF_CPU,
			      .worker = 0,
			      .task = 1,
			      .label = MOMENT_SYSCALL + 35,
			      .a = 110 };
	struct moment idle = { .ts_ns = 400,
			       .kind = MOMENT_OFF_CPU,
			       .worker = 0,
			       .label = MOMENT_OFF_OTHER,
			       .a = 300 };

	(void)state;
	start(100, 0, 1);
	account_moment(&a, &off);
	account_moment(&a, &nested);
	stop(200, 0);
	account_moment(&a, &idle);
	account_finish(&a, 100, 400);
	assert_int_equal(row()->polls, 2);
	assert_int_equal(row()->busy_ns, 100); /* 70 of the outer, 30 of the inner */
	assert_int_equal(row()->poll.sum, 130);
	assert_int_equal(row()->off_cpu_ns, 60);
	assert_int_equal(a.off[MOMENT_SYSCALL + 35].sum_ns, 60);
	assert_int_equal(a.off[MOMENT_OFF_OTHER].cnt, 0); /* not inside a poll */
	assert_int_equal(a.longest.cnt, 1);
	assert_int_equal(a.longest.polls[0].poll.off_ns, 60);
	assert_int_equal(a.longest.polls[0].poll.off_worst, MOMENT_SYSCALL + 35);
}

static void test_samples(void **state)
{
	struct moment sample = { .kind = MOMENT_SAMPLE, .worker = MOMENT_NO_WORKER, .tid = 8 };

	(void)state;
	sample.ts_ns = 50;
	account_moment(&a, &sample); /* thread not known yet */
	workertable_bind(a.workers, 8, 0);
	start(100, 0, 1);
	sample.ts_ns = 150;
	account_moment(&a, &sample);
	stop(200, 0);
	sample.ts_ns = 250;
	account_moment(&a, &sample);
	sample.worker = MOMENT_BLOCKING_WORKER;
	account_moment(&a, &sample);
	assert_int_equal(a.samples, 4);
	assert_int_equal(a.samples_in_polls, 1);
	assert_int_equal(a.samples_between, 1);
	assert_int_equal(a.samples_blocking, 1);
	assert_int_equal(a.samples_unknown, 1);
	assert_int_equal(row()->samples, 1);
}

static void test_worker_ids_beyond_the_cap(void **state)
{
	(void)state;
	start(100, MOMENT_NO_WORKER, 1);
	stop(200, MOMENT_NO_WORKER);
	inferred(200, MOMENT_NO_WORKER, 1, 8);
	at(300, MOMENT_PARK, MOMENT_NO_WORKER, 0);
	at(300, MOMENT_UNPARK, MOMENT_NO_WORKER, 0);
	at(300, MOMENT_NESTED, MOMENT_NO_WORKER, 1);
	at(300, MOMENT_OFF_CPU, MOMENT_NO_WORKER, 1);
	at(300, MOMENT_SAMPLE, MOMENT_NO_WORKER, 0);
	assert_int_equal(a.over_worker_cap, 6);
}

static void test_time_backwards(void **state)
{
	(void)state;
	start(1000, 0, 1);
	stop(900, 0);
	wake(800, 1);
	start(700, 0, 1);
	stop(1100, 0);
	account_finish(&a, 0, 500);
	assert_int_equal(row()->poll.cnt, 2);
	assert_int_equal(row()->poll.min, 0);
	assert_true(row()->poll.max <= 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCOUNT_TEST(test_wait_counts_from_the_first_wake),
		ACCOUNT_TEST(test_woken_while_running_waits_from_the_end),
		ACCOUNT_TEST(test_parks_added_up),
		ACCOUNT_TEST(test_overlap_of_two_workers),
		ACCOUNT_TEST(test_a_poll_without_end_has_no_duration),
		ACCOUNT_TEST(test_inferred_ends),
		ACCOUNT_TEST(test_gap),
		ACCOUNT_TEST(test_worker_parts_sum_to_the_span),
		ACCOUNT_TEST(test_tasks_are_counted_once),
		ACCOUNT_TEST(test_nested_and_off_cpu),
		ACCOUNT_TEST(test_samples),
		ACCOUNT_TEST(test_worker_ids_beyond_the_cap),
		ACCOUNT_TEST(test_time_backwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
