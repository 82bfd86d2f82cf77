// SPDX-License-Identifier: Apache-2.0
/*
 * test_track.c - whatever records come, in whatever order: nothing breaks, starts and ends
 * alternate, every record is accounted for, and what a sane program does comes out whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/log.h"
#include "test/unit/track_fixture.h"

static uint32_t rnd(uint32_t n)
{
	return (uint32_t)rand() % n;
}

/* One record with fields from small ranges, so that they meet, and now and then from all of it. */
static void random_record(uint64_t ts)
{
	union {
		struct wire_head head;
		struct wire_poll_start start;
		struct wire_poll_end end;
		struct wire_wake wake;
		struct wire_spawn_id spawn;
		struct wire_bind bind;
		struct wire_shutdown shutdown;
		struct wire_owner owner;
		struct wire_return_site site;
		struct wire_switch_out out;
		struct wire_switch_in in;
		struct wire_cpu_sample sample;
		struct wire_seat seat;
		uint64_t words[32];
	} r;
	static const size_t sizes[WIRE_KIND_CNT] = {16, 48, 32, 32, 40, 64, 24, 48,
						    32, 48, 56, 48, 16, 16, 40, 32,
						    40, 120};
	uint64_t task = 1 + rnd(60);
	uint8_t kind = (uint8_t)(1 + rnd(WIRE_KIND_CNT - 1));

	if (kind == WIRE_EXEC && rnd(50))
		kind = WIRE_POLL_END;
	for (size_t i = 0; i < 32; i++)
		r.words[i] = rnd(10) ? rnd(64) : (uint64_t)rand() << 33 ^ (uint64_t)rand();
	r.head = (struct wire_head){.ts_ns = ts,
				    .tid = 100 + rnd(6),
				    .kind = kind,
				    .flags = (uint8_t)(rnd(3) ? 0 : rnd(256))};
	r.words[2] = task; /* the task id, or what stands in its place */
	if (kind == WIRE_POLL_START || kind == WIRE_POLL_END) {
		r.start.depth = r.end.depth = 0;
		if (kind == WIRE_POLL_START) {
			r.start.owner_id = rnd(5);
			r.start.vtable = rnd(4) ? 0xa000 + rnd(4) : FX_BLOCKING_VT;
			r.start.depth = (uint8_t)(rnd(3) ? 0 : rnd(10));
		} else {
			r.end.depth = (uint8_t)(rnd(3) ? 0 : rnd(10));
			r.end.rule = (uint8_t)rnd(256);
		}
	} else if (kind == WIRE_OWNER) {
		r.owner.owner_id = rnd(5);
		r.owner.scheduler = rnd(3) ? FX_MULTI(rnd(2)) : FX_CURRENT(rnd(2));
	} else if (kind == WIRE_SPAWN_ID) {
		r.spawn.counter = rnd(18);
	} else if (kind == WIRE_SWITCH_OUT) {
		r.out.syscall = rnd(2) ? 202 : (int)rnd(400) - 1;
		r.out.prev_state = rnd(3);
		r.out.frames_cnt = (uint16_t)(rnd(4) ? 0 : rnd(65536));
	} else if (kind == WIRE_SEAT) {
		r.seat.handle = FX_MULTI(rnd(3));
		r.seat.index = rnd(3);
		r.seat.workers_cnt = 2;
	} else if (kind == WIRE_CPU_SAMPLE) {
		r.sample.frames_cnt = (uint16_t)rnd(65536);
	}
	fx_record(&fx, &r, sizes[kind] + 8 * rnd(3) * (kind == WIRE_SWITCH_OUT));
}

static void soak(unsigned seed)
{
	uint64_t ts = 10000;
	size_t open;

	srand(seed);
	fx_open(&fx, NULL);
	for (uint32_t i = 0; i < 4; i++)
		fx_seat(&fx, (pid_t)(100 + i), FX_MULTI(i / 2), i % 2, 2, true);
	for (int i = 0; i < 20000; i++) {
		ts = rnd(50) ? ts + rnd(2000) : ts - rnd(500); /* a late one now and then */
		random_record(ts);
		if (!rnd(100)) {
			track_tick(fx.track, ts);
			emit_tick(fx.emit, ts);
		}
		if (!rnd(2000))
			fx_seat(&fx, (pid_t)(100 + rnd(6)), FX_MULTI(rnd(2)), rnd(2), 2, rnd(2));
		fx.should_rotate = !rnd(1000) && fx.segments_cnt < 60;
	}
	track_finish(fx.track, ts + 1);
	emit_finish(fx.emit, ts + 2);
	fx_decode(&fx);
	open = fx_check_alternation(&fx);
	assert_int_equal(open, 0);
	fx_check_counts(&fx);
	assert_true(fx_cnt(&fx, D9_EV_POLL_START) > 100);
	fx_close(&fx);
}

static void test_random_records(void **state)
{
	(void)state;
	log_set_level(LOG_ERROR);
	for (unsigned seed = 1; seed <= 25; seed++)
		soak(seed);
}

/* A sane program with two workers: counts come out as they went in. */
static void test_sane_program(void **state)
{
	uint64_t ts = 10000, polls = 0, ends = 0;

	(void)state;
	fx_open(&fx, NULL);
	fx_seat(&fx, 101, FX_MULTI(1), 0, 2, true);
	fx_seat(&fx, 102, FX_MULTI(1), 1, 2, true);
	fx_owner(&fx, ts, 101, 5, FX_MULTI(1));
	for (uint64_t id = 10; id < 2010; id++) {
		uint32_t tid = 101 + id % 2, other = 203 - tid;

		fx_draw(&fx, ts += 10, tid, id, 0);
		fx_bind(&fx, ts += 10, tid, id, 0x10 + id % 3);
		for (int i = 0; i < 3; i++, polls++) {
			fx_start(&fx, ts += 10, tid, id, 5, 0);
			fx_wake(&fx, ts += 10, tid, id - 1, id);
			fx_out(&fx, ts += 10, other, 0, 202, 0, 1, 0);
			fx_in(&fx, ts + 10, other, ts, ts + 5);
			ts += 20;
			fx_end(&fx, ts, tid, id, 0, i == 2 ? WIRE_END_TASK_ENDED : 0);
		}
		ends++;
	}
	track_finish(fx.track, ts);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), polls);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_END), polls);
	assert_int_equal(fx_cnt(&fx, D9_EV_WAKE), polls);
	assert_int_equal(fx_cnt(&fx, D9_EV_TASK_SPAWN), ends);
	assert_int_equal(fx_cnt(&fx, D9_EV_TASK_TERMINATE), ends);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_TASK_END), ends);
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_PARK), fx_cnt(&fx, D9_EV_WORKER_UNPARK));
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_ALIVE), 0);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_INFERRED_END), 0);
	fx_check_counts(&fx);
	fx_close(&fx);
}

static void test_finish_and_exit(void **state)
{
	struct track_stats st;

	(void)state;
	fx_open(&fx, NULL);
	fx_seat(&fx, 101, FX_MULTI(1), 0, 3, true);
	fx_seat(&fx, 102, FX_MULTI(1), 1, 3, true);
	fx_seat(&fx, 103, FX_MULTI(1), 2, 3, true);
	fx_owner(&fx, 1000, 101, 5, FX_MULTI(1));
	track_thread(fx.track, 103);
	fx_start(&fx, 2000, 101, 9, 5, 0);
	fx_start(&fx, 2000, 102, 10, 5, 0);
	fx_out(&fx, 2100, 102, 10, 202, WIRE_OUT_IN_POLL, 1, 1);
	fx_out(&fx, 2200, 103, 0, 202, 0, 1, 0);
	fx_blocking(&fx, 2300, 104, 11, 0);
	fx_exit(&fx, 3000, 101);
	track_finish(fx.track, 4000);
	fx_decode(&fx);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 0)->ts_ns, 3000);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 0)->u[2], 7);
	assert_int_equal(fx_nth(&fx, D9_EV_POLL_END, 1)->ts_ns, 4000);
	assert_int_equal(fx_nth(&fx, D9_EV_AGENT_INFERRED_END, 1)->u[2], 8);
	assert_int_equal(fx_cnt(&fx, D9_EV_WORKER_UNPARK), 0); /* it sleeps on */
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_BLOCKING), 0); /* it runs on */
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_OFF_CPU), 0);
	track_stats(fx.track, &st);
	assert_int_equal(st.ignored_by[WIRE_SWITCH_OUT], 1);
	fx_check_counts(&fx);
	fx_close(&fx);
}

static void test_task_table_over_cap(void **state)
{
	struct track_stats st;

	(void)state;
	fx_open(&fx, NULL);
	fx_seat(&fx, 101, FX_MULTI(1), 0, 1, true);
	fx_owner(&fx, 1000, 101, 5, FX_MULTI(1));
	for (uint64_t id = 1; id <= 65000; id++) { /* no tick: the table cannot grow */
		fx_start(&fx, 2000 + id, 101, id, 5, 0);
		fx_end(&fx, 2000 + id, 101, id, 0, 0);
	}
	fx_decode(&fx);
	track_stats(fx.track, &st);
	assert_true(st.tasks_over_cap > 0);
	assert_int_equal(st.alive + st.tasks_over_cap, 65000);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), 65000);
	fx_check_counts(&fx);
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_records),
		cmocka_unit_test(test_sane_program),
		cmocka_unit_test(test_finish_and_exit),
		cmocka_unit_test(test_task_table_over_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
