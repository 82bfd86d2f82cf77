// SPDX-License-Identifier: Apache-2.0
/* order: many lanes, one stream in time order; nothing lost, late ones counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "agent/order.h"
#include "bpf/wire.h"

#define SEEN_MAX 4096

struct seen {
	uint64_t ts[SEEN_MAX];
	uint32_t tid[SEEN_MAX];
	size_t cnt;
};

static void see(void *ctx, const struct wire_head *rec, size_t sz)
{
	struct seen *s = ctx;

	assert_int_equal(sz, sizeof(struct wire_wake));
	assert_true(s->cnt < SEEN_MAX);
	s->ts[s->cnt] = rec->ts_ns;
	s->tid[s->cnt++] = rec->tid;
}

static int add(struct order *o, unsigned lane, uint64_t ts_ns, uint32_t tid)
{
	struct wire_wake rec = { .head = { .ts_ns = ts_ns, .tid = tid, .kind = WIRE_WAKE } };

	return order_add(o, lane, &rec.head, sizeof(rec));
}

static void merges_lanes_by_time(void **state)
{
	struct order *o;
	struct seen s = { .cnt = 0 };

	(void)state;
	assert_int_equal(order_new(3, 1 << 16, &o), 0);
	add(o, 0, 10, 1);
	add(o, 0, 40, 2);
	add(o, 2, 20, 3);
	add(o, 2, 50, 4);
	add(o, 1, 30, 5);
	order_flush(o, 45, see, &s);
	assert_int_equal(s.cnt, 4);
	assert_int_equal(s.tid[0], 1);
	assert_int_equal(s.tid[1], 3);
	assert_int_equal(s.tid[2], 5);
	assert_int_equal(s.tid[3], 2);
	order_flush(o, UINT64_MAX, see, &s);
	assert_int_equal(s.cnt, 5);
	assert_int_equal(s.tid[4], 4);
	assert_int_equal(order_late(o), 0);
	assert_int_equal(order_lane_last(o, 2), 50);
	order_free(o);
}

static void sorts_within_a_lane_and_keeps_ties(void **state)
{
	struct order *o;
	struct seen s = { .cnt = 0 };

	(void)state;
	assert_int_equal(order_new(1, 1 << 16, &o), 0);
	add(o, 0, 30, 1);
	add(o, 0, 10, 2);
	add(o, 0, 10, 3); /* an owner or seat record shares its poll's stamp and must stay before it */
	add(o, 0, 20, 4);
	order_flush(o, UINT64_MAX, see, &s);
	assert_int_equal(s.tid[0], 2);
	assert_int_equal(s.tid[1], 3);
	assert_int_equal(s.tid[2], 4);
	assert_int_equal(s.tid[3], 1);
	order_free(o);
}

static void hands_on_and_counts_what_comes_late(void **state)
{
	struct order *o;
	struct seen s = { .cnt = 0 };

	(void)state;
	assert_int_equal(order_new(2, 1 << 16, &o), 0);
	add(o, 0, 100, 1);
	order_flush(o, 200, see, &s);
	add(o, 1, 50, 2);
	order_flush(o, 200, see, &s);
	assert_int_equal(s.cnt, 2);
	assert_int_equal(s.tid[1], 2);
	assert_int_equal(order_late(o), 1);
	order_free(o);
}

#define LANE_SZ (2u << 16) /* two chunks */

static void a_full_lane_says_so_and_refuses(void **state)
{
	struct order *o;
	struct seen s = { .cnt = 0 };
	int err = 0;
	size_t cnt = 0;

	(void)state;
	assert_int_equal(order_new(1, LANE_SZ, &o), 0);
	while (!err) {
		err = add(o, 0, cnt + 1, 0);
		cnt++;
	}
	assert_int_equal(err, 1); /* taken, but the largest record would find no room */
	while (err >= 0) {
		err = add(o, 0, cnt + 1, 0);
		if (err >= 0)
			cnt++;
	}
	assert_int_equal(err, -ENOSPC);
	assert_in_range(cnt, LANE_SZ / sizeof(struct wire_wake) - 4, LANE_SZ / sizeof(struct wire_wake));
	order_flush(o, UINT64_MAX, see, &s);
	assert_int_equal(s.cnt, cnt);
	for (size_t i = 0; i < cnt / 2; i++) /* what has left has made room */
		assert_int_equal(add(o, 0, cnt + i, 0), 0);
	order_free(o);
}

/* Against a plain sort, with records moving through a lane much smaller than their sum. */
static void random_streams_come_out_sorted(void **state)
{
	struct order *o;
	struct seen s = { .cnt = 0 };
	uint64_t now_ns = 1000;
	size_t added = 0;

	(void)state;
	srand(4242);
	assert_int_equal(order_new(4, 16384, &o), 0);
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 40; i++) {
			now_ns += (uint64_t)(rand() % 10);
			/* up to 50 ns out of place, well inside the window below */
			assert_true(add(o, (unsigned)rand() % 4, now_ns - (uint64_t)(rand() % 50), 0) >= 0);
			added++;
		}
		order_flush(o, now_ns - 50, see, &s);
	}
	order_flush(o, UINT64_MAX, see, &s);
	assert_int_equal(s.cnt, added);
	for (size_t i = 1; i < s.cnt; i++)
		assert_true(s.ts[i - 1] <= s.ts[i]);
	assert_int_equal(order_late(o), 0);
	order_free(o);
}

struct span {
	const char *low, *high; /* of all bytes that records were handed on from */
	uint64_t next_ns;
};

static void see_span(void *ctx, const struct wire_head *rec, size_t sz)
{
	struct span *s = ctx;

	assert_true(rec->ts_ns == s->next_ns);
	s->next_ns++;
	if (!s->low || (const char *)rec < s->low)
		s->low = (const char *)rec;
	if ((const char *)rec + sz > s->high)
		s->high = (const char *)rec + sz;
}

/* A stream whose window is never empty goes round in a small part of a large lane. */
static void a_lane_uses_little_more_than_its_window(void **state)
{
	const uint64_t window = 4096, step = 512;
	struct span s = { .next_ns = 1 };
	struct order *o;
	uint64_t ts = 0;

	(void)state;
	assert_int_equal(order_new(1, 64u << 20, &o), 0);
	while (ts < 100 * window) {
		for (uint64_t i = 0; i < step; i++)
			assert_int_equal(add(o, 0, ++ts, 0), 0);
		order_flush(o, ts > window ? ts - window : 0, see_span, &s);
	}
	order_flush(o, UINT64_MAX, see_span, &s);
	assert_int_equal(s.next_ns, ts + 1);
	assert_int_equal(order_late(o), 0);
	assert_true((size_t)(s.high - s.low) <= 4 * window * sizeof(struct wire_wake));
	order_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lane_uses_little_more_than_its_window),
		cmocka_unit_test(merges_lanes_by_time),
		cmocka_unit_test(sorts_within_a_lane_and_keeps_ties),
		cmocka_unit_test(hands_on_and_counts_what_comes_late),
		cmocka_unit_test(a_full_lane_says_so_and_refuses),
		cmocka_unit_test(random_streams_come_out_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
