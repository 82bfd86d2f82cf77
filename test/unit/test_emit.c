// SPDX-License-Identifier: Apache-2.0
/* test_emit.c - segments, rotation, refused writes, pools, the order of a segment's first words. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/log.h"
#include "agent/names.h"
#include "test/unit/track_fixture.h"

static void start(uint64_t ts, uint64_t worker, uint64_t task)
{
	emit_put_poll_start(fx.emit, ts,
			    &(struct d9_poll_start){ .worker_id = worker, .task_id = task });
}

static void end(uint64_t ts, uint64_t worker)
{
	emit_put_poll_end(fx.emit, ts, &(struct d9_poll_end){ .worker_id = worker });
}

static void test_first_words(void **state)
{
	const struct fx_event *e;

	(void)state;
	fx_decode(&fx);
	assert_int_equal(fx.events[0].kind, D9_EV_CLOCK_SYNC);
	assert_true(fx.events[0].u[D9F_clock_sync_realtime_ns] > 1600000000000000000ull);
	assert_int_equal(fx.events[1].kind, D9_EV_SEGMENT_METADATA);
	e = fx_nth(&fx, D9_EV_AGENT_LEVEL, 0);
	assert_int_equal(e->u[D9F_agent_level_pid], 77);
	assert_string_equal(e->str[D9F_agent_level_level], "full");
	assert_string_equal(e->str[D9F_agent_level_ends], "exact");
	assert_string_equal(e->str[D9F_agent_level_reason], "start");
}

/* Types that are dropped are told behind each level, until there is another one. */
static void test_dropped_types(void **state)
{
	const struct emit_level level = { 78, "polls", "", "exact", "budget" };
	size_t n, levels_cnt = 0;

	(void)state;
	emit_level(fx.emit, 1500, &level);
	emit_dropped(fx.emit, 1500, "hot");
	emit_dropped(fx.emit, 1500, "hotter");
	fx.should_rotate = true;
	emit_tick(fx.emit, 3000);
	emit_level(fx.emit, 4000, &level);
	fx.should_rotate = true;
	emit_tick(fx.emit, 5000);
	fx_decode(&fx);
	assert_int_equal(fx.segments_cnt, 3);
	for (n = 0; n < fx.events_cnt; n++) {
		/* at the start; at 1500 with two types, and again in the second segment; at 4000, and in
		 * the third */
		static const char *const types[] = { "", "", "hot", "hotter", "", "hot", "hotter", "", "" };
		const struct fx_event *e = &fx.events[n];

		if (e->kind != D9_EV_AGENT_LEVEL)
			continue;
		assert_true(levels_cnt < sizeof(types) / sizeof(types[0]));
		assert_string_equal(e->str[D9F_agent_level_types], types[levels_cnt]);
		assert_int_equal(e->u[D9F_agent_level_pid], levels_cnt ? 78 : 77);
		if (types[levels_cnt][0]) {
			assert_string_equal(e->str[D9F_agent_level_level], "stat");
			assert_string_equal(e->str[D9F_agent_level_ends], "none");
		}
		levels_cnt++;
	}
	assert_int_equal(levels_cnt, 9);
}

static void test_rotation(void **state)
{
	const uint64_t stack[] = { 0x30, 0x10, 0x20, 0x10 };
	const struct emit_level level = { 78, "polls", "a,b", "inferred", "budget" };
	struct emit_stats st;
	size_t n;

	(void)state;
	emit_level(fx.emit, 1500, &level);
	start(2000, 1, 9);
	emit_frames(fx.emit, stack, 4);
	emit_put_cpu_sample(fx.emit, 2100, &(struct d9_cpu_sample){ .tid = 5 });
	fx.should_rotate = true;
	emit_tick(fx.emit, 3000);
	end(3100, 1); /* the poll reaches across: it is not cut in two */
	start(3200, 1, 10);
	emit_frames(fx.emit, stack, 4);
	emit_put_cpu_sample(fx.emit, 3300, &(struct d9_cpu_sample){ .tid = 5 });
	fx_decode(&fx);
	assert_int_equal(fx.segments_cnt, 2);
	assert_int_equal(fx.addrs_cnt, 3);
	assert_int_equal(fx.events[fx.events_cnt - 1].batch, 2);
	assert_int_equal(memcmp(fx.bytes + fx.segment_at[1], "TRC\0\1", 5), 0);
	/* last words of the first segment, first words of the second */
	for (n = 0; fx.events[n].batch == 1; n++)
		;
	assert_int_equal(fx.events[n - 2].kind, D9_EV_SEGMENT_METADATA);
	assert_int_equal(fx.events[n - 1].kind, D9_EV_CLOCK_SYNC);
	assert_int_equal(fx.events[n].kind, D9_EV_CLOCK_SYNC);
	assert_int_equal(fx.events[n + 1].kind, D9_EV_SEGMENT_METADATA);
	assert_int_equal(fx.events[n + 2].kind, D9_EV_AGENT_LEVEL);
	assert_string_equal(fx.events[n + 2].str[D9F_agent_level_types], "a,b");
	assert_int_equal(fx_check_alternation(&fx), 1);
	emit_addrs(fx.emit, &n);
	assert_int_equal(n, 3);
	emit_stats(fx.emit, &st);
	assert_int_equal(st.rotations, 1);
	assert_int_equal(st.events[D9_EV_CPU_SAMPLE], 2);
}

static void test_metadata_when_changed(void **state)
{
	(void)state;
	emit_tick(fx.emit, 2000);
	metadata_set(fx.metadata, "k", "v");
	emit_tick(fx.emit, 3000);
	emit_tick(fx.emit, 4000);
	metadata_set(fx.metadata, "k", "v");
	emit_tick(fx.emit, 5000);
	emit_finish(fx.emit, 6000);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_SEGMENT_METADATA), 3);
	assert_int_equal(fx_nth(&fx, D9_EV_SEGMENT_METADATA, 1)->u[0], 1);
	assert_int_equal(fx_cnt(&fx, D9_EV_CLOCK_SYNC), 2);
}

static void test_flush_in_time(void **state)
{
	(void)state;
	emit_flush(fx.emit);
	fx.sz = 0;
	emit_tick(fx.emit, 1000000);
	end(1000000, 9); /* refused: nothing to write */
	start(1000001, 9, 1);
	emit_tick(fx.emit, 1000000 + EMIT_FLUSH_NS - 2);
	assert_int_equal(fx.sz, 0);
	emit_tick(fx.emit, 1000000 + EMIT_FLUSH_NS);
	assert_true(fx.sz > 0);
}

/* A full disk: what was encoded is counted, told in the next segment, and polls alternate. */
static void test_refused_writes(void **state)
{
	const struct fx_event *e;
	struct emit_stats st;
	uint64_t told = 0;

	(void)state;
	start(2000, 1, 9);
	start(2000, 2, 8);
	assert_int_equal(emit_flush(fx.emit), 0);
	fx.write_error = -ENOSPC;
	end(2100, 1); /* lost */
	start(2200, 1, 10); /* lost */
	start(2300, 3, 11); /* lost */
	assert_int_equal(emit_flush(fx.emit), -ENOSPC);
	end(2400, 3);
	fx.rotate_error = -ENOSPC;
	emit_tick(fx.emit, 3000);
	emit_tick(fx.emit, 3000 + EMIT_RETRY_NS);
	start(4000, 3, 12); /* lost */
	fx.rotate_error = 0;
	emit_tick(fx.emit, 4000 + 2 * EMIT_RETRY_NS);
	end(5000000000, 1); /* of 10, whose start is not in the file */
	end(5000000001, 2); /* of 8: closed when the segment began */
	start(5000000002, 1, 13);
	end(5000000003, 1);
	emit_tick(fx.emit, 6000000000);
	fx_decode(&fx);
	assert_int_equal(fx.segments_cnt, 2);
	assert_int_equal(fx_check_alternation(&fx), 0);
	assert_int_equal(fx_cnt(&fx, D9_EV_AGENT_INFERRED_END), 2);
	emit_stats(fx.emit, &st);
	for (size_t i = 0; (e = fx_nth(&fx, D9_EV_AGENT_LOSS, i)); i++)
		told += e->u[D9F_agent_loss_count];
	e = fx_nth(&fx, D9_EV_AGENT_LOSS, 0);
	assert_string_equal(e->str[D9F_agent_loss_kind], "PollStartEvent");
	assert_string_equal(e->str[D9F_agent_loss_cause], "disk");
	assert_int_equal(e->u[D9F_agent_loss_count], 3);
	assert_int_equal(e->u[D9F_agent_loss_from_ns], 2100);
	assert_int_equal(st.lost[D9_EV_POLL_START], 3);
	assert_int_equal(st.lost[D9_EV_POLL_END], 4);
	assert_true(told >= 7);
	for (int k = 0; k < D9_EV_CNT; k++)
		assert_int_equal(st.events[k], fx_cnt(&fx, (enum d9_event)k));
}

static void test_loss_and_self(void **state)
{
	const struct fx_event *e;

	(void)state;
	emit_loss(fx.emit, 5000, "PollStartEvent", "ring full", 42, 4000);
	emit_self(fx.emit, 6000, 1, 2, 3, 4);
	fx_decode(&fx);
	e = fx_nth(&fx, D9_EV_AGENT_LOSS, 0);
	assert_int_equal(e->ts_ns, 5000);
	assert_string_equal(e->str[D9F_agent_loss_cause], "ring full");
	assert_int_equal(e->u[D9F_agent_loss_count], 42);
	e = fx_nth(&fx, D9_EV_AGENT_SELF, 0);
	assert_int_equal(e->u[D9F_agent_self_target_cost_ns], 4);
}

/* More names and stacks than a pool holds: new headers in mid-segment, everything resolves. */
static void test_pools_fill(void **state)
{
	struct emit_stats st;
	uint64_t frames[100];
	size_t n;

	(void)state;
	for (uint64_t i = 0; i < 40000; i++) {
		char name[32];
		uint32_t id;

		snprintf(name, sizeof(name), "name %llu", (unsigned long long)i);
		id = emit_name(fx.emit, name, strlen(name));
		for (size_t f = 0; f < 100; f++)
			frames[f] = 0x1000 + i * 100 + f;
		emit_frames(fx.emit, frames, 100);
		emit_put_cpu_sample(fx.emit, 2000 + i,
				    &(struct d9_cpu_sample){
					    .tid = 5, .has_thread_name = true, .thread_name = id });
	}
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_CPU_SAMPLE), 40000);
	assert_string_equal(fx_nth(&fx, D9_EV_CPU_SAMPLE, 30000)->str[D9F_cpu_sample_thread_name],
			    "name 30000");
	assert_string_equal(fx_nth(&fx, D9_EV_CPU_SAMPLE, 39999)->str[D9F_cpu_sample_thread_name],
			    "?");
	emit_stats(fx.emit, &st);
	assert_true(st.pool_resets >= 3);
	assert_true(st.names_over_cap >= 40000 - NAMES_MAX);
	emit_addrs(fx.emit, &n);
	assert_int_equal(n, 65536);
	assert_true(st.addrs_over_cap > 0);
}

static void test_worker_id_out_of_range(void **state)
{
	struct emit_stats st;

	(void)state;
	start(2000, EMIT_WORKERS_MAX, 1);
	start(2000, UINT64_MAX, 1);
	start(2001, EMIT_WORKERS_MAX - 1, 1);
	end(2002, EMIT_WORKERS_MAX - 1);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_POLL_START), 1);
	emit_stats(fx.emit, &st);
	assert_int_equal(st.lost[D9_EV_POLL_START], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(test_first_words),
		FX_TEST(test_dropped_types),
		FX_TEST(test_rotation),
		FX_TEST(test_metadata_when_changed),
		FX_TEST(test_flush_in_time),
		FX_TEST(test_refused_writes),
		FX_TEST(test_loss_and_self),
		FX_TEST(test_pools_fill),
		FX_TEST(test_worker_id_out_of_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
