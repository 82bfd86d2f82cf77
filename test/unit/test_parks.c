// SPDX-License-Identifier: Apache-2.0
/* test_parks.c - BPF's growing sums become events of what lies between two records. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "agent/offcpu.h"
#include "agent/parks.h"
#include "test/unit/track_fixture.h"

static void parks(uint64_t ts, uint8_t flags, uint64_t begin_ns, uint64_t to_ns, uint64_t cnt)
{
	struct wire_parks r = {
		.head = { .ts_ns = ts, .tid = 101, .kind = WIRE_PARKS, .flags = flags },
		.begin_ns = begin_ns,
		.to_ns = to_ns,
		.cpu_time_ns = ts / 2,
		.delay_max_ns = 7,
	};

	for (uint64_t i = 0; i < WIRE_SUM_CNT; i++)
		r.sums[i] = cnt * (i + 1);
	fx_record(&fx, &r, sizeof(r));
}

static const struct fx_event *nth(size_t n)
{
	return fx_nth(&fx, D9_EV_AGENT_PARKS, n);
}

static void each_event_holds_the_difference(void **state)
{
	(void)state;
	parks(2000, 0, 2000, 2000, 0); /* it begins: no event */
	parks(3000, 0, 2000, 3000, 10);
	parks(4000, WIRE_PARKS_OVER, 2000, 4000, 15);
	parks(9000, 0, 9000, 9000, 15); /* again; between them each switch had its record */
	parks(9500, 0, 9000, 9400, 16);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_PARKS), 3);
	assert_int_equal(nth(0)->ts_ns, 3000);
	assert_int_equal(nth(0)->u[D9F_agent_parks_tid], 101);
	assert_true(nth(0)->has[D9F_agent_parks_worker_id]);
	assert_int_equal(nth(0)->u[D9F_agent_parks_worker_id], 0);
	assert_int_equal(nth(0)->u[D9F_agent_parks_from_ns], 2000);
	assert_int_equal(nth(0)->u[D9F_agent_parks_to_ns], 3000);
	assert_int_equal(nth(0)->u[D9F_agent_parks_parks], 10);
	assert_int_equal(nth(0)->u[D9F_agent_parks_parked_ns], 20);
	assert_int_equal(nth(0)->u[D9F_agent_parks_preempted], 30);
	assert_int_equal(nth(0)->u[D9F_agent_parks_polls_preempted_ns], 60);
	assert_int_equal(nth(0)->u[D9F_agent_parks_others_ns], 80);
	assert_int_equal(nth(0)->u[D9F_agent_parks_delayed_ns], 90);
	assert_int_equal(nth(0)->u[D9F_agent_parks_delayed_max_ns], 7);
	assert_int_equal(nth(0)->u[D9F_agent_parks_cpu_time_ns], 1500);
	assert_int_equal(nth(1)->u[D9F_agent_parks_from_ns], 3000);
	assert_int_equal(nth(1)->u[D9F_agent_parks_parks], 5);
	assert_int_equal(nth(2)->u[D9F_agent_parks_from_ns], 9000);
	assert_int_equal(nth(2)->u[D9F_agent_parks_to_ns], 9400);
	assert_int_equal(nth(2)->u[D9F_agent_parks_parks], 1);
	fx_check_counts(&fx);
}

/* No record is needed but the last one: the sums hold what lost ones held. */
static void a_lost_record_costs_no_switch(void **state)
{
	(void)state;
	parks(2000, 0, 2000, 2000, 0);
	/* lost: to 3000, and the one that said it is over, at 4000 */
	parks(9000, 0, 9000, 9000, 15);
	parks(9500, 0, 9000, 9500, 16);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_PARKS), 2);
	assert_int_equal(nth(0)->u[D9F_agent_parks_from_ns], 2000);
	assert_int_equal(nth(0)->u[D9F_agent_parks_to_ns], 9000);
	assert_int_equal(nth(0)->u[D9F_agent_parks_parks], 15);
	assert_int_equal(nth(1)->u[D9F_agent_parks_parks], 1);
}

/* The iterator reads on another CPU: what it saw may come behind what the thread itself told. */
static void an_older_look_says_nothing(void **state)
{
	(void)state;
	parks(2000, 0, 2000, 2000, 0);
	parks(3000, 0, 2000, 3000, 10);
	parks(3001, 0, 2000, 2900, 9);
	parks(3002, 0, 2000, 2900, 10);
	parks(4000, 0, 2000, 4000, 11);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_PARKS), 2);
	assert_int_equal(nth(1)->u[D9F_agent_parks_from_ns], 3000);
	assert_int_equal(nth(1)->u[D9F_agent_parks_parks], 1);
	fx_check_counts(&fx);
}

static void a_thread_that_sleeps_is_asked(void **state)
{
	(void)state;
	assert_false(track_has_summed(fx.track));
	parks(2000, 0, 2000, 2000, 0);
	assert_true(track_has_summed(fx.track));
	assert_false(track_is_stale(fx.track, 2000 + PARKS_STALE_NS));
	assert_true(track_is_stale(fx.track, 2001 + PARKS_STALE_NS));
	parks(3000, WIRE_PARKS_OVER, 2000, 3000, 1);
	assert_false(track_has_summed(fx.track));
}

static void a_long_preemption_in_a_poll_is_one_by_itself(void **state)
{
	struct wire_switch_in r = {
		.head = { .ts_ns = 5000, .tid = 101, .kind = WIRE_SWITCH_IN, .flags = WIRE_IN_ALONE },
		.task_id = 9,
		.out_ns = 3000,
		.runnable_ns = 3000,
	};
	const struct fx_event *e;

	(void)state;
	fx_record(&fx, &r, sizeof(r));
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_OFF_CPU), 1);
	e = fx_nth(&fx, D9_EV_AGENT_OFF_CPU, 0);
	assert_int_equal(e->ts_ns, 5000);
	assert_int_equal(e->u[D9F_agent_off_cpu_out_ns], 3000);
	assert_int_equal(e->u[D9F_agent_off_cpu_task_id], 9);
	assert_int_equal(e->u[D9F_agent_off_cpu_reason], OFFCPU_PREEMPTED);
	assert_false(e->has[D9F_agent_off_cpu_callchain]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup_threads, fx_teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_event_holds_the_difference),
		TEST(a_lost_record_costs_no_switch),
		TEST(an_older_look_says_nothing),
		TEST(a_thread_that_sleeps_is_asked),
		TEST(a_long_preemption_in_a_poll_is_one_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
