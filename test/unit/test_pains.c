// SPDX-License-Identifier: Apache-2.0
/* test_pains.c - what is counted, and from which length on. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "studyscript.h"
#include "viewer/pains.h"
#include "viewer/workertable.h"

#define MS 1000000ull

static const struct request no_filter;
static struct study *s;
static struct pains *p;
static uint32_t row;

static int setup(void **state)
{
	(void)state;
	s = studyscript_begin(&no_filter, sizeof(struct pains), 1000 * MS);
	p = s->own;
	row = studyscript_type(s, "app::job");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pains_done(p);
	studyscript_end(s);
	return 0;
}

static void poll(uint64_t ns, uint32_t wakes)
{
	const struct worker_poll w = {
		.task = 7, .start_ns = 100, .type = row, .nr = 3, .wakes = wakes
	};

	pains_poll(s, 2, &w, 100 + ns);
}

static void test_long_polls_and_storms(void **state)
{
	(void)state;
	poll(10 * MS - 1, 99);
	assert_int_equal(p->types_cnt, 0); /* neither long nor a storm */
	poll(10 * MS, 0);
	poll(30 * MS, 0);
	poll(20 * MS, 100);
	assert_int_equal(p->types[row].long_cnt, 3);
	assert_int_equal(p->types[row].long_ns, 60 * MS);
	assert_int_equal(p->types[row].longest.ns, 30 * MS);
	assert_int_equal(p->types[row].longest.nr, 3);
	assert_int_equal(p->types[row].verdicts[VERDICT_UNKNOWN], 60 * MS);
	assert_int_equal(p->types[row].storm_cnt, 1);
	assert_int_equal(p->types[row].storm.wakes, 100);
	assert_int_equal(p->workers[2].polls, 4);
}

static void test_waits(void **state)
{
	struct watch_wait w = {
		.task = 7, .type = row, .worker = 0, .from_ns = 0, .to_ns = 4 * MS
	};
	struct behind_parts parts = { .ns = { [WATCH_DELAYED] = 1 * MS, [WATCH_BUSY] = 3 * MS } };

	(void)state;
	pains_wait(s, &w, &parts);
	assert_int_equal(p->types[row].late_cnt, 0);
	assert_int_equal(p->types[row].starved_ns, 1 * MS); /* short waits count for that too */
	w.to_ns = 5 * MS;
	pains_wait(s, &w, &parts);
	assert_int_equal(p->types[row].late_cnt, 1);
	assert_int_equal(p->types[row].late_parts[WATCH_BUSY], 3 * MS);
	assert_int_equal(p->types[row].latest.ns, 5 * MS);
	assert_int_equal(p->types[row].starved_ns, 2 * MS);
}

static void off(uint64_t ns, uint32_t label, uint32_t stack)
{
	const struct moment m = { .ts_ns = 500 + ns,
				  .a = 500,
				  .task = 7,
				  .label = label,
				  .stack = stack,
				  .worker = 1,
				  .kind = MOMENT_OFF_CPU };

	pains_off(s, &m, row);
}

static void test_off_cpu(void **state)
{
	const struct moment outside = { .ts_ns = 9 * MS, .a = 1, .label = MOMENT_FUTEX };

	(void)state;
	off(MS - 1, MOMENT_FUTEX, 1);
	pains_off(s, &outside, WATCH_NO_TYPE);
	assert_int_equal(p->calls_cnt, 0);
	off(MS, MOMENT_FUTEX, 1);
	off(3 * MS, MOMENT_FUTEX, 2);
	off(2 * MS, MOMENT_SYSCALL + 35, 3);
	assert_int_equal(p->calls_cnt, 2);
	assert_int_equal(p->calls[0].cnt, 2);
	assert_int_equal(p->calls[0].ns, 4 * MS);
	assert_int_equal(p->calls[0].worst.off_stack, 2);
	off(5 * MS, MOMENT_OFF_PREEMPTED, 4); /* not a call */
	off(4 * MS, MOMENT_OFF_PREEMPTED, 5);
	assert_int_equal(p->calls_cnt, 2);
	assert_int_equal(p->preempted_ns, 9 * MS);
	assert_int_equal(p->types[row].preempted_ns, 9 * MS);
	assert_int_equal(p->types[row].preempted.off_stack, 4);
}

/* One stack among many others is the one that stays. */
static void test_hot_stack(void **state)
{
	struct moment m = { .kind = MOMENT_SAMPLE };
	uint32_t cnt = 0, best = 0;

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		m.stack = i % 3 ? 1000 + i : 42; /* a third of all */
		pains_sample(s, &m, 0, row);
	}
	m.stack = 0;
	pains_sample(s, &m, 0, row); /* no stack says nothing */
	for (uint32_t i = 0; i < PAINS_HOT_MAX; i++)
		if (p->types[row].hot[i].cnt > cnt) {
			cnt = p->types[row].hot[i].cnt;
			best = p->types[row].hot[i].stack;
		}
	assert_int_equal(best, 42);
}

static void driver_wakes(uint64_t from_ns, uint32_t cnt)
{
	struct moment m = { .kind = MOMENT_WAKE };

	for (uint32_t i = 0; i < cnt; i++) {
		m.ts_ns = from_ns + i;
		pains_moment(s, &m);
	}
}

static void test_driver_storms(void **state)
{
	(void)state;
	driver_wakes(10 * MS, 99);
	assert_int_equal(p->driver_storms, 0);
	driver_wakes(20 * MS, 130);
	assert_int_equal(p->driver_storms, 1);
	assert_int_equal(p->driver_storm_wakes, 130);
	assert_int_equal(p->driver_worst, 130);
	assert_int_equal(p->wakes, 229);
}

static void take(void *ctx, const struct d9_ev *ev)
{
	(void)ctx;
	pains_event(s, ev);
}

static void test_queues_and_cpu(void **state)
{
	struct eventscript *script = eventscript_begin();

	(void)state;
	SCRIPT_PUT(script, runtime_metrics, 10, .runtime_name = eventscript_str(script, ""),
		   .global_queue_depth = 7);
	SCRIPT_PUT(script, poll_start, 20, .worker_id = 3, .local_queue = 300, .task_id = 1);
	/* 2 ms awake, 0.5 ms on CPU */
	SCRIPT_PUT(script, worker_unpark, 1 * MS, .worker_id = 3, .cpu_time_ns = 1000);
	SCRIPT_PUT(script, worker_park, 3 * MS, .worker_id = 3, .cpu_time_ns = 1000 + MS / 2);
	eventscript_each(script, take, NULL);
	assert_int_equal(p->queue_max, 300);
	assert_int_equal(p->queue_worker, 3);
	assert_int_equal(p->queue_at_ns, 20);
	assert_int_equal(p->workers[3].periods, 1);
	assert_int_equal(p->workers[3].contended, 1);
}

static void test_delays(void **state)
{
	struct watch_slice slice = { 1, WATCH_DELAYED, 0, MS - 1, NULL };

	(void)state;
	pains_slice(s, &slice);
	assert_int_equal(p->delay_cnt, 0);
	slice.to_ns = 3 * MS;
	pains_slice(s, &slice);
	slice.state = WATCH_BUSY;
	pains_slice(s, &slice);
	assert_int_equal(p->delay_cnt, 1);
	assert_int_equal(p->delay.ns, 3 * MS);
	assert_int_equal(p->busy_ns, 3 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_long_polls_and_storms, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_off_cpu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hot_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_driver_storms, setup, teardown),
		cmocka_unit_test_setup_teardown(test_queues_and_cpu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_delays, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
