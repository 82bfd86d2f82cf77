// SPDX-License-Identifier: Apache-2.0
/* test_judge.c - the thresholds of findings, on both sides. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "studyscript.h"
#include "viewer/judge.h"
#include "viewer/pains.h"
#include "viewer/tasktable.h"

#define MS 1000000ull

static const struct request no_filter;
static struct study *s;
static struct pains *p;
static struct findings found;
static uint32_t row;

static int setup(void **state)
{
	(void)state;
	s = studyscript_begin(&no_filter, sizeof(struct pains), 1000 * MS);
	p = s->own;
	row = studyscript_type(s, "app::job");
	p->types_cnt = row + 1;
	p->types = calloc(p->types_cnt, sizeof(*p->types));
	return p->types ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	findings_done(&found);
	pains_done(p);
	studyscript_end(s);
	return 0;
}

/* Judges; the only finding, or NULL. */
static const struct finding *only(void)
{
	findings_done(&found);
	assert_int_equal(judge(s, &found), 0);
	assert_true(found.cnt <= 1);
	return found.cnt ? &found.at[0] : NULL;
}

static void assert_found(const char *kind, enum severity severity, uint32_t type)
{
	const struct finding *f = only();

	assert_non_null(f);
	assert_string_equal(f->kind, kind);
	assert_int_equal(f->severity, severity);
	assert_int_equal(f->type, type);
	assert_non_null(f->next);
}

static void test_nothing(void **state)
{
	(void)state;
	assert_null(only());
}

static void test_long_poll(void **state)
{
	struct pain_type *t = &p->types[row];

	(void)state;
	t->long_cnt = 1;
	t->longest = (struct pain_poll){ .ns = 50 * MS - 1, .task = 7, .nr = 2 };
	t->verdicts[VERDICT_LOCK] = 1;
	t->longest.off_worst = MOMENT_FUTEX;
	assert_found("long-poll", SEVERITY_WARNING, row);
	assert_string_equal(found.at[0].place, "futex");
	assert_int_equal(found.at[0].task, 7);
	t->longest.ns = 50 * MS;
	assert_found("long-poll", SEVERITY_CRITICAL, row);
}

/* The longest poll shows only that it was preempted; others of the type show where they block. */
static void test_long_poll_place(void **state)
{
	struct pain_type *t = &p->types[row];

	(void)state;
	t->long_cnt = 3;
	t->longest = (struct pain_poll){ .ns = 50 * MS, .off_worst = MOMENT_OFF_PREEMPTED };
	t->verdicts[VERDICT_BLOCKING] = 2;
	p->calls_cnt = 3;
	p->calls[0] = (struct pain_call){ .type = row, .label = MOMENT_SYSCALL + 1, .ns = 2 * MS };
	p->calls[1] = (struct pain_call){ .type = row, .label = MOMENT_SYSCALL + 35, .ns = 80 * MS };
	p->calls[2] = (struct pain_call){ .type = row, .label = MOMENT_FUTEX, .ns = 90 * MS };
	assert_found("long-poll", SEVERITY_CRITICAL, row);
	assert_string_equal(found.at[0].place, "nanosleep");
}

static void test_late_poll(void **state)
{
	struct pain_type *t = &p->types[row];

	(void)state;
	t->late_cnt = 1;
	t->late_ns = t->latest.ns = 50 * MS;
	assert_found("late-poll", SEVERITY_WARNING, row);
	t->latest.ns = 50 * MS + 1;
	assert_found("late-poll", SEVERITY_CRITICAL, row);
}

static void test_calls(void **state)
{
	(void)state;
	p->calls_cnt = 1;
	p->calls[0] =
		(struct pain_call){ .type = row, .label = MOMENT_FUTEX, .cnt = 5, .ns = 500 * MS };
	assert_null(only()); /* more than 5, as dial9 has it */
	p->calls[0].cnt = 6;
	assert_found("lock-in-poll", SEVERITY_CRITICAL, row);
	p->calls[0].label = MOMENT_SYSCALL + 35;
	p->calls[0].ns = 100 * MS - 1; /* a tenth of the recording is 100 ms */
	assert_found("blocking-in-poll", SEVERITY_WARNING, row);
	assert_string_equal(found.at[0].place, "nanosleep");
}

static void test_cpu(void **state)
{
	uint32_t other = studyscript_type(s, "app::other");

	(void)state;
	p->types = realloc(p->types, (other + 1) * sizeof(*p->types));
	assert_non_null(p->types);
	p->types[other] = (struct pain_type){ .starved_ns = 3 * MS, .preempted_ns = 8 * MS };
	p->types_cnt = other + 1;
	p->types[row].preempted_ns = 10 * MS;
	p->busy_ns = 300 * MS;
	p->preempted_cnt = 10;
	p->preempted_ns = 49 * MS;
	assert_null(only());
	p->preempted_ns = 50 * MS;
	assert_found("cpu-starved", SEVERITY_WARNING, other); /* 11 ms against 10 */
	assert_string_equal(found.at[0].place, "preempted in app::other");
	p->preempted_ns = 100 * MS; /* a third of the 300 ms wanted */
	assert_found("cpu-starved", SEVERITY_CRITICAL, other);
	p->preempted_ns = 0;
	p->delay_cnt = 1;
	p->delay = (struct pain_wait){ .ns = 10 * MS };
	assert_found("kernel-delay", SEVERITY_INFO, TASK_TYPE_NONE);
	p->delay.ns++;
	assert_found("kernel-delay", SEVERITY_WARNING, TASK_TYPE_NONE);
}

static void test_storms(void **state)
{
	struct pain_type *t = &p->types[row];

	(void)state;
	p->wakes = 2000;
	t->storm_cnt = 10;
	t->storm_wakes = 999;
	t->storm = (struct pain_poll){ .wakes = 100, .task = 7 };
	assert_found("wake-storm", SEVERITY_WARNING, row);
	assert_string_equal(found.at[0].place, "app::job"); /* no sample: where it was spawned */
	t->storm_wakes = 1000;
	assert_found("wake-storm", SEVERITY_CRITICAL, row);
	t->storm_cnt = 0;
	p->driver_storms = 9;
	p->driver_storm_wakes = 2000;
	assert_found("wake-storm", SEVERITY_WARNING, TASK_TYPE_NONE);
}

static void test_queues(void **state)
{
	(void)state;
	p->queue_worker = MOMENT_NO_WORKER;
	p->queue_max = 100;
	assert_null(only());
	p->queue_max = 101;
	assert_found("queue-depth", SEVERITY_WARNING, TASK_TYPE_NONE);
	p->queue_max = 1001;
	assert_found("queue-depth", SEVERITY_CRITICAL, TASK_TYPE_NONE);
}

static void test_leak(void **state)
{
	struct pain_type *t = &p->types[row];

	(void)state;
	p->curve_cnt = 16;
	for (uint32_t i = 0; i < 16; i++)
		t->curve[i] = 20 * i; /* 80 after a quarter, 300 at the end */
	assert_found("task-leak", SEVERITY_WARNING, row);
	t->curve[15] = 179; /* less than 100 more, and less than there were */
	assert_null(only());
	t->curve[15] = 300;
	t->curve[14] = 301; /* it was higher before */
	assert_null(only());
	p->curve_cnt = 15; /* too short to tell */
	assert_null(only());
}

static void test_pool(void **state)
{
	struct type_row *t = typetable_row(s->report->account.types, row);

	(void)state;
	for (int i = 0; i < 9; i++)
		assert_int_equal(histogram_add(&t->queued, 10 * MS), 0);
	assert_null(only()); /* of 10 tasks and more */
	assert_int_equal(histogram_add(&t->queued, 10 * MS), 0);
	assert_found("blocking-pool", SEVERITY_WARNING, row);
	for (int i = 0; i < 20; i++)
		assert_int_equal(histogram_add(&t->queued, 60 * MS), 0);
	assert_found("blocking-pool", SEVERITY_CRITICAL, row);
}

/* Critical first, then what cost most. */
static void test_order(void **state)
{
	(void)state;
	p->types[row].long_cnt = 1;
	p->types[row].longest.ns = 20 * MS;
	p->types[row].long_ns = 20 * MS;
	p->types[row].late_cnt = 1;
	p->types[row].late_ns = p->types[row].latest.ns = 30 * MS;
	p->queue_max = 5000;
	p->queue_worker = MOMENT_NO_WORKER;
	assert_int_equal(judge(s, &found), 0);
	assert_int_equal(found.cnt, 3);
	assert_string_equal(found.at[0].kind, "queue-depth");
	assert_string_equal(found.at[1].kind, "late-poll");
	assert_string_equal(found.at[2].kind, "long-poll");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_poll, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_poll_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late_poll, setup, teardown),
		cmocka_unit_test_setup_teardown(test_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_storms, setup, teardown),
		cmocka_unit_test_setup_teardown(test_queues, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leak, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pool, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
