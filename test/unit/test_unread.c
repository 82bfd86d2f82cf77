// SPDX-License-Identifier: Apache-2.0
/* test_unread.c - which poll starts carry a queue length, told before the first that does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/unread.h"
#include "test/unit/track_fixture.h"

static void poll(uint32_t tid, uint64_t ts, uint64_t task, uint16_t queue)
{
	struct wire_poll_start r = { .head = { .ts_ns = ts, .tid = tid, .kind = WIRE_POLL_START },
				     .task_id = task,
				     .vtable = 0xa000,
				     .owner_id = 11,
				     .local_queue = queue };

	fx_record(&fx, &r, sizeof(r));
	fx_end(&fx, ts + 1, tid, task, 0, 0);
}

static void two_workers(void)
{
	fx_seat(&fx, 101, FX_MULTI(1), 0, 2, true);
	fx_seat(&fx, 102, FX_MULTI(1), 1, 2, true);
	fx_owner(&fx, 1, 101, 11, FX_MULTI(1));
}

static void test_read_at_once(void **state)
{
	(void)state;
	two_workers();
	poll(101, 100, 1, 0);
	poll(102, 110, 2, 5);
	track_tick(fx.track, 1000);
	assert_string_equal(fx_meta("tokio.local_queue"), "true");
	assert_string_equal(fx_meta("agent.local_queue_unread"), "(unset)");
}

static void test_learnt_later(void **state)
{
	(void)state;
	two_workers();
	poll(101, 100, 1, WIRE_QUEUE_UNKNOWN);
	track_tick(fx.track, 1000);
	assert_string_equal(fx_meta("tokio.local_queue"), "false");
	assert_non_null(strstr(fx_meta("agent.unknown"), "PollStartEvent.local_queue"));
	poll(102, 1100, 2, 4);
	track_tick(fx.track, 2000);
	assert_string_equal(fx_meta("tokio.local_queue"), "partial");
	assert_string_equal(fx_meta("agent.local_queue_unread"), "0");
	assert_null(strstr(fx_meta("agent.unknown"), "PollStartEvent.local_queue"));
	poll(101, 2100, 1, 1);
	track_tick(fx.track, 99 + UNREAD_HOLD_NS);
	assert_string_equal(fx_meta("tokio.local_queue"), "partial");
	track_tick(fx.track, 100 + UNREAD_HOLD_NS);
	assert_string_equal(fx_meta("tokio.local_queue"), "true");
	assert_string_equal(fx_meta("agent.local_queue_unread"), "");
}

/* The zero of a worker that was read before is announced before it stands in the file. */
static void test_told_before(void **state)
{
	size_t told;

	(void)state;
	two_workers();
	poll(101, 100, 1, 0);
	track_tick(fx.track, 1000);
	fx_decode(&fx);
	told = fx_cnt(&fx, D9_EV_SEGMENT_METADATA);
	poll(101, 2000, 1, 0);
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_SEGMENT_METADATA), told);
	poll(101, 3000, 1, WIRE_QUEUE_UNKNOWN);
	poll(101, 3100, 1, WIRE_QUEUE_UNKNOWN); /* said once */
	fx_decode(&fx);
	assert_int_equal(fx_cnt(&fx, D9_EV_SEGMENT_METADATA), told + 1);
	assert_int_equal(fx_nth(&fx, D9_EV_SEGMENT_METADATA, told)->ts_ns, 3000);
	assert_string_equal(fx_meta("tokio.local_queue"), "partial");
	assert_string_equal(fx_meta("agent.local_queue_unread"), "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(test_read_at_once),
		FX_TEST(test_learnt_later),
		FX_TEST(test_told_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
