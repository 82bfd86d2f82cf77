// SPDX-License-Identifier: Apache-2.0
/* test_gauge.c - runtime samples, and what the metadata says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/track_fixture.h"

static void test_runtime_metrics(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_seat(&fx, 101, FX_MULTI(1), 0, 2, true);
	fx_owner(&fx, 1, 101, 11, FX_MULTI(1));
	fx_owner(&fx, 1, 102, 12, FX_CURRENT(1));
	fx_owner(&fx, 1, 103, 13, 0x777);
	fx_poll_once(101, 11, 100);
	fx_poll_once(102, 12, 200);
	fx_poll_once(103, 13, 300);
	track_tick(fx.track, 1000);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_RUNTIME_METRICS), 2);
	assert_non_null(strstr(fx_meta("agent.unknown"), "RuntimeMetricsEvent.alive_tasks"));
	assert_non_null(strstr(fx_meta("agent.unknown"), "RuntimeMetricsEvent.global_queue_depth"));
	fx.world.depth = 7;
	fx.world.alive = 90;
	track_tick(fx.track, 2000);
	fx_decode(&fx);
	e = fx_nth(&fx, D9_EV_RUNTIME_METRICS, 2);
	assert_int_equal(e->ts_ns, 2000);
	assert_int_equal(e->u[D9F_runtime_metrics_global_queue_depth], 7);
	assert_int_equal(e->u[D9F_runtime_metrics_alive_tasks], 90);
	assert_int_equal(fx_nth(&fx, D9_EV_RUNTIME_METRICS, 3)->ts_ns, 2000);
	assert_string_equal(fx_meta("agent.unknown"), "");
}

/* Recorded since the program's first task, without losses: our own count stands in. */
static void test_own_alive_count(void **state)
{
	(void)state;
	fx_seat(&fx, 101, FX_MULTI(1), 0, 1, true);
	fx_owner(&fx, 1, 101, 11, FX_MULTI(1));
	for (uint64_t id = 1; id <= 6; id++) {
		fx_draw(&fx, 100 + id * 10, 101, id, 0);
		fx_bind(&fx, 101 + id * 10, 101, id, 0x10);
	}
	for (uint64_t id = 1; id <= 4; id++) {
		fx_start(&fx, 500 + id * 10, 101, id, 11, 0);
		fx_end(&fx, 501 + id * 10, 101, id, 0, id < 3 ? WIRE_END_TASK_ENDED : 0);
	}
	track_tick(fx.track, 1000);
	fx_decode(&fx);
	assert_int_equal(fx_nth(&fx, D9_EV_RUNTIME_METRICS, 0)->u[D9F_runtime_metrics_alive_tasks],
			 4);
	track_loss(fx.track, WIRE_POLL_END, 1, 500, 900);
	/* for a while it may be a passing thing: no sample, rather than a wrong one */
	for (uint64_t i = 0; i < 10; i++)
		track_tick(fx.track, 2000 + i);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_RUNTIME_METRICS), 1);
	assert_null(strstr(fx_meta("agent.unknown"), "alive_tasks"));
	track_tick(fx.track, 2010);
	fx_decode(&fx);
	assert_int_equal(fx_nth(&fx, D9_EV_RUNTIME_METRICS, 1)->u[D9F_runtime_metrics_alive_tasks],
			 0);
	assert_non_null(strstr(fx_meta("agent.unknown"), "alive_tasks"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(test_runtime_metrics),
		FX_TEST(test_own_alive_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
