// SPDX-License-Identifier: Apache-2.0
/* test_moment.c - events to moments. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "viewer/labels.h"
#include "viewer/moment.h"

#include <string.h>

struct seen {
	struct labels *labels;
	struct moment moments[16];
	int got[16];
	int cnt;
};

static void take(void *ctx, const struct d9_ev *ev)
{
	struct seen *s = ctx;

	s->got[s->cnt] = moment_of(ev, s->labels, &s->moments[s->cnt]);
	s->cnt++;
}

static void test_kinds(void **state)
{
	struct eventscript *s = eventscript_begin();
	struct seen seen = { .labels = labels_new() };
	const struct moment *m = seen.moments;
	const char *text;
	size_t len;

	(void)state;
	SCRIPT_PUT(s, poll_start, 10, .worker_id = 3, .task_id = 7,
		   .spawn_loc = eventscript_str(s, "a.rs:1:1"));
	SCRIPT_PUT(s, worker_unpark, 20, .worker_id = 3, .tid = 99, .sched_wait_ns = 5,
		   .has_sched_wait_ns = true);
	SCRIPT_PUT(s, worker_unpark, 30, .worker_id = 3, .tid = 99);
	SCRIPT_PUT(s, wake, 40, .waker_task_id = 1, .woken_task_id = 2, .target_worker = 255);
	SCRIPT_PUT(s, poll_end, 50, .worker_id = MOMENT_WORKERS_MAX);
	SCRIPT_PUT(s, cpu_sample, 60, .worker_id = 255, .tid = 9);
	SCRIPT_PUT(s, cpu_sample, 70, .worker_id = 1, .tid = 9, .source = 1);
	SCRIPT_PUT(s, clock_sync, 80, .realtime_ns = 1);
	eventscript_each(s, take, &seen);

	assert_int_equal(seen.cnt, 8);
	for (int i = 0; i < 6; i++)
		assert_int_equal(seen.got[i], 1);
	assert_int_equal(seen.got[6], 0); /* a sample at a context switch */
	assert_int_equal(seen.got[7], 0);
	assert_int_equal(m[0].kind, MOMENT_POLL_START);
	assert_int_equal(m[0].ts_ns, 10);
	assert_int_equal(m[0].worker, 3);
	assert_int_equal(m[0].task, 7);
	text = labels_text(seen.labels, m[0].label, &len);
	assert_int_equal(len, 8);
	assert_memory_equal(text, "a.rs:1:1", 8);
	assert_true(m[1].has_a && m[1].a == 5 && m[1].tid == 99);
	assert_false(m[2].has_a);
	assert_int_equal(m[3].kind, MOMENT_WAKE);
	assert_int_equal(m[3].task, 2);
	assert_int_equal(m[3].a, 1);
	assert_int_equal(m[4].worker, MOMENT_NO_WORKER); /* too great an id */
	assert_int_equal(m[5].worker, MOMENT_NO_WORKER); /* dial9's "unknown" */
	labels_free(seen.labels);
}

static void test_off_cpu(void **state)
{
	struct eventscript *s = eventscript_begin();
	struct seen seen = { 0 };
	const struct moment *m = seen.moments;

	(void)state;
	SCRIPT_PUT(s, agent_off_cpu, 10, .tid = 1, .out_ns = 5, .reason = 0, .syscall = 7,
		   .has_syscall = true);
	SCRIPT_PUT(s, agent_off_cpu, 20, .tid = 1, .out_ns = 15, .reason = 1, .syscall = 202,
		   .has_syscall = true, .worker_id = 4, .has_worker_id = true, .task_id = 8,
		   .has_task_id = true);
	SCRIPT_PUT(s, agent_off_cpu, 30, .tid = 1, .out_ns = 25, .reason = 2);
	SCRIPT_PUT(s, agent_off_cpu, 40, .tid = 1, .out_ns = 35, .reason = 1, .syscall = 5000,
		   .has_syscall = true);
	eventscript_each(s, take, &seen);
	assert_int_equal(m[0].label, MOMENT_OFF_PREEMPTED);
	assert_int_equal(m[0].worker, MOMENT_NO_WORKER);
	assert_int_equal(m[0].task, 0);
	assert_int_equal(m[1].label, MOMENT_SYSCALL + 202);
	assert_int_equal(m[1].worker, 4);
	assert_int_equal(m[1].task, 8);
	assert_int_equal(m[1].a, 15);
	assert_int_equal(m[2].label, MOMENT_OFF_OTHER);
	assert_int_equal(m[3].label, MOMENT_OFF_OTHER);
}

static void test_missing_field(void **state)
{
	static const struct d9_any_field fields[] = { { "task_id", D9_T_VARINT } };
	static const struct d9_any_def def = { 100, "PollStartEvent", false, 1, fields };
	static const struct d9_any_field text[] = { { "task_id", D9_T_BOOL } };
	static const struct d9_any_def other = { 101, "TaskTerminateEvent", true, 1, text };
	const struct d9_value value = { .type = D9_T_VARINT, .u = 1 };
	const struct d9_value truth = { .type = D9_T_BOOL, .u = 1 };
	struct eventscript *s = eventscript_begin();
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(d9_put_any_schema(&s->enc, &def), 0);
	assert_int_equal(d9_put_any(&s->enc, 10, &def, &value), 0);
	assert_int_equal(d9_put_any_schema(&s->enc, &other), 0);
	assert_int_equal(d9_put_any(&s->enc, 10, &other, &truth), 0);
	eventscript_each(s, take, &seen);
	assert_int_equal(seen.got[0], -D9_E_BAD_VALUE);
	assert_int_equal(seen.got[1], 0); /* without a stamp it has no place in time */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_off_cpu),
		cmocka_unit_test(test_missing_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
