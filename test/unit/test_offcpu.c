// SPDX-License-Identifier: Apache-2.0
/* test_offcpu.c - parks, off-CPU intervals inside polls, CPU samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "agent/offcpu.h"
#include "test/unit/track_fixture.h"

static void test_park(void **state)
{
	const int sleeps[] = {202, 232, 281, 441};
	const struct fx_event *e;

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		fx_out(&fx, 2000 + 100 * i, 101, 0, sleeps[i], 0, 1, 0);
		fx_in(&fx, 2050 + 100 * i, 101, 2000 + 100 * i, i == 1 ? 0 : 2040 + 100 * i);
	}
	fx_out(&fx, 3000, 101, 0, 202, WIRE_OUT_PREEMPTED, 0, 0);
	fx_in(&fx, 3100, 101, 3000, 3000);
	fx_out(&fx, 3200, 101, 0, 1, 0, 1, 0); /* write(2) outside a poll: neither */
	fx_in(&fx, 3300, 101, 3200, 3290);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_PARK), 4);
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_UNPARK), 4);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_OFF_CPU), 0);
	e = fx_nth(&fx, D9_EV_WORKER_PARK, 0);
	assert_int_equal(e->ts_ns, 2000);
	assert_int_equal(e->u[D9F_worker_park_worker_id], 0);
	assert_int_equal(e->u[D9F_worker_park_cpu_time_ns], 1000);
	assert_int_equal(e->u[D9F_worker_park_tid], 101);
	e = fx_nth(&fx, D9_EV_WORKER_UNPARK, 0);
	assert_int_equal(e->ts_ns, 2050);
	assert_int_equal(e->u[D9F_worker_unpark_cpu_time_ns], 1025);
	assert_int_equal(e->u[D9F_worker_unpark_sched_wait_ns], 10);
	assert_false(fx_nth(&fx, D9_EV_WORKER_UNPARK, 1)->has[D9F_worker_unpark_sched_wait_ns]);
	fx_check_counts(&fx);
}

/* Park, park: the switch-in between was lost. Park, poll: likewise. They alternate all the same. */
static void test_parks_alternate(void **state)
{
	(void)state;
	fx_out(&fx, 2000, 101, 0, 202, 0, 1, 0);
	fx_out(&fx, 3000, 101, 0, 202, 0, 1, 0);
	fx_start(&fx, 4000, 101, 9, FX_OWNER, 0);
	fx_end(&fx, 4100, 101, 9, 0, 0);
	fx_in(&fx, 4200, 101, 0, 0); /* of nothing */
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_PARK), 2);
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_UNPARK), 2);
	assert_int_equal(fx_nth(&fx, D9_EV_WORKER_UNPARK, 0)->ts_ns, 3000);
	assert_int_equal(fx_nth(&fx, D9_EV_WORKER_UNPARK, 1)->ts_ns, 4000);
	fx_check_counts(&fx);
}

static void test_off_cpu_in_poll(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_start(&fx, 2000, 102, 9, FX_OWNER, 0);
	fx_out(&fx, 2100, 102, 9, 202, WIRE_OUT_IN_POLL, 1, 5);
	fx_in(&fx, 2900, 102, 2100, 2800);
	fx_out(&fx, 3000, 102, 9, -1, WIRE_OUT_IN_POLL | WIRE_OUT_PREEMPTED, 0, 0);
	fx_in(&fx, 3100, 102, 3000, 3000);
	fx_out(&fx, 3200, 102, 9, 0, WIRE_OUT_IN_POLL, 2, 2);
	fx_in(&fx, 3300, 102, 3200, 3200);
	fx_end(&fx, 4000, 102, 9, 0, 0);
	fx_decode(&fx);
	e = fx_nth(&fx, D9_EV_AGENT_OFF_CPU, 0);
	assert_int_equal(e->ts_ns, 2900);
	assert_int_equal(e->u[D9F_agent_off_cpu_tid], 102);
	assert_int_equal(e->u[D9F_agent_off_cpu_worker_id], 1);
	assert_int_equal(e->u[D9F_agent_off_cpu_task_id], 9);
	assert_int_equal(e->u[D9F_agent_off_cpu_out_ns], 2100);
	assert_int_equal(e->u[D9F_agent_off_cpu_reason], OFFCPU_SLEEPING);
	assert_int_equal(e->u[D9F_agent_off_cpu_syscall], 202);
	assert_string_equal(e->str[D9F_agent_off_cpu_callchain], "5:5000");
	e = fx_nth(&fx, D9_EV_CPU_SAMPLE, 0);
	assert_int_equal(e->ts_ns, 2900);
	assert_int_equal(e->u[D9F_cpu_sample_source], 1);
	assert_int_equal(e->u[D9F_cpu_sample_worker_id], 1);
	assert_string_equal(e->str[D9F_cpu_sample_callchain], "5:5000");
	assert_string_equal(e->str[D9F_cpu_sample_thread_name], "tokio-rt-worker");
	e = fx_nth(&fx, D9_EV_AGENT_OFF_CPU, 1);
	assert_int_equal(e->u[D9F_agent_off_cpu_reason], OFFCPU_PREEMPTED);
	assert_false(e->has[D9F_agent_off_cpu_syscall]);
	assert_false(e->has[D9F_agent_off_cpu_callchain]);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_OFF_CPU, 2)->u[D9F_agent_off_cpu_reason],
			 OFFCPU_UNINTERRUPTIBLE);
	assert_int_equal(fx_cnt(&fx, D9_EV_CPU_SAMPLE), 2); /* none without a stack */
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_PARK), 0);
	fx_check_counts(&fx);
}

static void test_switch_in_that_was_not_shown(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_start(&fx, 2000, 102, 9, FX_OWNER, 0);
	fx_out(&fx, 2100, 102, 9, 202, WIRE_OUT_IN_POLL, 1, 1);
	fx_in_unseen(&fx, 2900, 102, 2100, 2800);
	fx_end(&fx, 4000, 102, 9, 0, 0);
	fx_out(&fx, 4100, 102, 0, 202, 0, 1, 0);
	fx_in_unseen(&fx, 4200, 102, 4100, 0);
	fx_out(&fx, 4300, 102, 0, 202, 0, 1, 0);
	fx_in(&fx, 4400, 102, 4300, 0);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_INFERRED_IN), 2);
	e = fx_nth(&fx, D9_EV_AGENT_INFERRED_IN, 0);
	assert_int_equal(e->ts_ns, fx_nth(&fx, D9_EV_AGENT_OFF_CPU, 0)->ts_ns);
	assert_int_equal(e->u[D9F_agent_inferred_in_tid], 102);
	assert_int_equal(e->u[D9F_agent_inferred_in_runnable_ns], 2800);
	e = fx_nth(&fx, D9_EV_AGENT_INFERRED_IN, 1);
	assert_int_equal(e->ts_ns, fx_nth(&fx, D9_EV_WORKER_UNPARK, 0)->ts_ns);
	assert_false(e->has[D9F_agent_inferred_in_runnable_ns]);
	fx_check_counts(&fx);
}

static void test_off_cpu_in_blocking_task(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_blocking(&fx, 2000, 300, 40, 0);
	fx_out(&fx, 2100, 300, 40, 0, WIRE_OUT_IN_POLL, 1, 2);
	fx_in(&fx, 2900, 300, 2100, 2800);
	fx_end(&fx, 4000, 300, 40, 0, WIRE_END_TASK_ENDED);
	fx_decode(&fx);
	e = fx_nth(&fx, D9_EV_AGENT_OFF_CPU, 0);
	assert_false(e->has[D9F_agent_off_cpu_worker_id]);
	assert_int_equal(e->u[D9F_agent_off_cpu_task_id], 40);
	assert_int_equal(fx_nth(&fx, D9_EV_CPU_SAMPLE, 0)->u[D9F_cpu_sample_worker_id], 254);
}

/* BPF says what is open now: an end that was lost is made up for at the switch-out. */
static void test_switch_out_shows_lost_end(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_start(&fx, 2050, 101, 20, FX_OWNER, 1);
	fx_out(&fx, 2100, 101, 9, 202, WIRE_OUT_IN_POLL, 1, 1); /* 20 is over */
	fx_in(&fx, 2200, 101, 2100, 0);
	fx_out(&fx, 3000, 101, 0, 202, 0, 1, 0); /* 9 is over */
	fx_decode(&fx);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_NESTED_POLL, 0)->ts_ns, 2100);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 0)->ts_ns, 3000);
	e = fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 0);
	assert_int_equal(e->u[D9F_agent_inferred_end_rule], 4);
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_PARK), 1);
	fx_check_counts(&fx);
}

static void test_lost_switch_in(void **state)
{
	struct track_stats st;

	(void)state;
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_out(&fx, 2100, 101, 9, 202, WIRE_OUT_IN_POLL, 1, 1);
	fx_out(&fx, 2300, 101, 9, 202, WIRE_OUT_IN_POLL, 1, 1);
	fx_in(&fx, 2500, 101, 2400, 0); /* closes yet another one */
	fx_end(&fx, 2600, 101, 9, 0, 0);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_OFF_CPU), 0);
	track_stats(fx.track, &st);
	assert_int_equal(st.ignored_by[WIRE_SWITCH_OUT], 2);
	assert_int_equal(st.ignored_by[WIRE_SWITCH_IN], 1);
	fx_check_counts(&fx);
}

static void test_held_cap(void **state)
{
	struct track_stats st;

	(void)state;
	for (uint32_t i = 0; i < OFFCPU_HELD_MAX + 10; i++) {
		fx_blocking(&fx, 2000, 5000 + i, 100 + i, 0);
		fx_out(&fx, 2100, 5000 + i, 100 + i, 202, WIRE_OUT_IN_POLL, 1, 3);
	}
	for (uint32_t i = 0; i < OFFCPU_HELD_MAX + 10; i++)
		fx_in(&fx, 3000, 5000 + i, 2100, 0);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_OFF_CPU), OFFCPU_HELD_MAX);
	track_stats(fx.track, &st);
	assert_int_equal(st.ignored_by[WIRE_SWITCH_OUT], 10);
	fx_check_counts(&fx);
}

static void test_cpu_samples(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_start(&fx, 2000, 101, 9, FX_OWNER, 0);
	fx_sample(&fx, 2100, 101, "tokio-rt-worker", 4);
	fx_end(&fx, 2200, 101, 9, 0, 0);
	fx_sample(&fx, 2300, 999, "a name of 16 chr", 4);
	fx_sample(&fx, 2400, 101, "renamed", 0);
	fx_decode(&fx);
	e = fx_nth(&fx, D9_EV_CPU_SAMPLE, 0);
	assert_int_equal(e->u[D9F_cpu_sample_worker_id], 0);
	assert_int_equal(e->u[D9F_cpu_sample_source], 0);
	assert_int_equal(e->u[D9F_cpu_sample_cpu], 2);
	assert_string_equal(e->str[D9F_cpu_sample_thread_name], "tokio-rt-worker");
	assert_string_equal(e->str[D9F_cpu_sample_callchain], "4:6000");
	e = fx_nth(&fx, D9_EV_CPU_SAMPLE, 1);
	assert_int_equal(e->u[D9F_cpu_sample_worker_id], 255);
	assert_string_equal(e->str[D9F_cpu_sample_thread_name], "a name of 16 chr");
	e = fx_nth(&fx, D9_EV_CPU_SAMPLE, 2);
	assert_string_equal(e->str[D9F_cpu_sample_thread_name], "renamed");
	assert_string_equal(e->str[D9F_cpu_sample_callchain], "0:0");
	fx_check_counts(&fx);
}

/* The count in a record is not believed beyond the record's size. */
static void test_frames_count_lies(void **state)
{
	struct wire_cpu_sample r = {.head = {.ts_ns = 2000, .tid = 101, .kind = WIRE_CPU_SAMPLE},
				    .frames_cnt = 65535};

	(void)state;
	fx_record(&fx, &r, sizeof(r));
	fx_decode(&fx);
	assert_string_equal(fx_nth(&fx, D9_EV_CPU_SAMPLE, 0)->str[D9F_cpu_sample_callchain], "0:0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, fx_setup_threads, fx_teardown)
		T(test_park),
		T(test_parks_alternate),
		T(test_off_cpu_in_poll),
		T(test_switch_in_that_was_not_shown),
		T(test_off_cpu_in_blocking_task),
		T(test_switch_out_shows_lost_end),
		T(test_lost_switch_in),
		T(test_held_cap),
		T(test_cpu_samples),
		T(test_frames_count_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
