// SPDX-License-Identifier: Apache-2.0
/* test_critpath.c - back through wakes, and where it ends. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "columnscript.h"
#include "viewer/critpath.h"

static struct critpath_step steps[64];
static uint32_t steps_cnt;

static void step(void *ctx, const struct critpath_step *s)
{
	(void)ctx;
	if (steps_cnt < 64)
		steps[steps_cnt] = *s;
	steps_cnt++;
}

/* The path to the last poll of a task: steps leave no gap and sum to it. */
static enum critpath_root walk(const struct columns *c, uint64_t task, uint64_t *ret_from_ns)
{
	uint32_t row = columns_task(c, task);
	uint32_t poll = c->task_polls.poll[c->tasks.polls_to[row] - 1];
	enum critpath_root root;

	steps_cnt = 0;
	root = critpath_walk(c, poll, step, NULL, ret_from_ns);
	for (uint32_t i = 0; i < steps_cnt && i < 64; i++) {
		assert_true(steps[i].ready_ns <= steps[i].start_ns);
		assert_true(steps[i].start_ns <= steps[i].to_ns);
		if (i > 0)
			assert_int_equal(steps[i].to_ns, steps[i - 1].ready_ns);
	}
	if (steps_cnt <= 64)
		assert_int_equal(*ret_from_ns, steps[steps_cnt - 1].ready_ns);
	return root;
}

static void poll(struct eventscript *s, uint64_t from_ns, uint64_t to_ns, uint64_t worker,
		 uint64_t task)
{
	SCRIPT_PUT(s, poll_start, from_ns, .worker_id = worker, .task_id = task);
	SCRIPT_PUT(s, poll_end, to_ns, .worker_id = worker);
}

static void test_roots(void **state)
{
	struct eventscript *s = eventscript_begin();
	struct columns *c;
	uint64_t from_ns;

	(void)state;
	SCRIPT_PUT(s, task_spawn, 80, .task_id = 1);
	poll(s, 100, 200, 0, 1); /* no wake, but its spawn is known */
	poll(s, 300, 400, 0, 2); /* neither */
	SCRIPT_PUT(s, wake, 450, .woken_task_id = 3, .waker_task_id = 0, .target_worker = 255);
	poll(s, 500, 600, 0, 3);
	/* the waker is what Tokio calls the worker itself: no task polls under that id */
	SCRIPT_PUT(s, wake, 650, .woken_task_id = 4, .waker_task_id = 99, .target_worker = 0);
	poll(s, 700, 800, 0, 4);
	/* a task, but what it did when it woke this one was not recorded */
	SCRIPT_PUT(s, wake, 850, .woken_task_id = 5, .waker_task_id = 1, .target_worker = 1);
	poll(s, 900, 1000, 0, 5);
	c = columnscript_end(s);
	assert_int_equal(walk(c, 1, &from_ns), CRITPATH_SPAWN);
	assert_int_equal(from_ns, 80);
	assert_int_equal(walk(c, 2, &from_ns), CRITPATH_UNKNOWN);
	assert_int_equal(from_ns, 300);
	assert_int_equal(walk(c, 3, &from_ns), CRITPATH_OUTSIDE);
	assert_int_equal(from_ns, 450);
	assert_int_equal(walk(c, 4, &from_ns), CRITPATH_OUTSIDE);
	assert_int_equal(walk(c, 5, &from_ns), CRITPATH_UNKNOWN);
	index_close(c);
}

/* yield_now: woken by itself, but just behind its poll; the gap is time it was ready. */
static void test_yield(void **state)
{
	struct eventscript *s = eventscript_begin();
	struct columns *c;
	uint64_t from_ns;

	(void)state;
	SCRIPT_PUT(s, wake, 90, .woken_task_id = 1, .target_worker = 255);
	poll(s, 100, 200, 0, 1);
	SCRIPT_PUT(s, wake, 210, .woken_task_id = 1, .waker_task_id = 1, .target_worker = 0);
	poll(s, 250, 300, 0, 1);
	c = columnscript_end(s);
	assert_int_equal(walk(c, 1, &from_ns), CRITPATH_OUTSIDE);
	assert_int_equal(steps_cnt, 2);
	assert_int_equal(steps[0].ready_ns, 200);
	assert_int_equal(steps[1].to_ns - steps[1].start_ns, 100);
	index_close(c);
}

/* Two tasks that wake each other for ever: it ends at the cap. */
static void test_long(void **state)
{
	struct eventscript *s = eventscript_begin();
	struct columns *c;
	uint64_t from_ns, ns = 1000;

	(void)state;
	for (uint32_t i = 0; i < 1200; i++, ns += 10) {
		SCRIPT_PUT(s, poll_start, ns, .worker_id = i % 2, .task_id = 1 + i % 2);
		SCRIPT_PUT(s, wake, ns + 2, .woken_task_id = 2 - i % 2, .waker_task_id = 1 + i % 2,
			   .target_worker = i % 2);
		SCRIPT_PUT(s, poll_end, ns + 5, .worker_id = i % 2);
	}
	c = columnscript_end(s);
	assert_int_equal(walk(c, 1, &from_ns), CRITPATH_UNKNOWN);
	assert_int_equal(steps_cnt, 1199);
	assert_int_equal(from_ns, 1000);
	index_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_yield),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
