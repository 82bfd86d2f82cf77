// SPDX-License-Identifier: Apache-2.0
/* pace: slow after a second of little, fast again at the first look that finds more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/select.h>

#include "pace.h"

static struct pace p;
static uint64_t now_ns;

static int begin(void **state)
{
	(void)state;
	now_ns = 5000000000ull;
	return pace_open(&p, now_ns);
}

static int end(void **state)
{
	(void)state;
	pace_close(&p);
	return 0;
}

/* Looks `cnt` times at the pace that holds, finding `each` records in 10 ms. */
static void look(int cnt, uint64_t each, bool is_sparse)
{
	while (cnt--) {
		uint64_t took_ns = p.period_ns;

		now_ns += took_ns;
		pace_found(&p, each * took_ns / PACE_FAST_NS, is_sparse, now_ns);
	}
}

static void test_sparse_target_is_looked_at_slowly(void **state)
{
	(void)state;
	assert_int_equal(p.period_ns, PACE_FAST_NS);
	look(98, 50, true);
	assert_int_equal(p.period_ns, PACE_FAST_NS);
	look(4, 50, true);
	assert_int_equal(p.period_ns, PACE_SLOW_NS);
	look(100, 100, true); /* it stays so */
	assert_int_equal(p.period_ns, PACE_SLOW_NS);
}

static void test_busy_one_is_looked_at_fast_at_once(void **state)
{
	(void)state;
	look(110, 0, false);
	assert_int_equal(p.period_ns, PACE_SLOW_NS);
	look(1, 1000, true);
	assert_int_equal(p.period_ns, PACE_FAST_NS);
	look(500, 1000, true);
	assert_int_equal(p.period_ns, PACE_FAST_NS);
}

static void test_probes_are_drained_fast_unless_idle(void **state)
{
	(void)state;
	look(500, 50, false);
	assert_int_equal(p.period_ns, PACE_FAST_NS);
	look(110, 2, false);
	assert_int_equal(p.period_ns, PACE_SLOW_NS);
	look(1, 50, false); /* probes that are hit again */
	assert_int_equal(p.period_ns, PACE_FAST_NS);
}

static int wait_for_tick(void)
{
	struct timeval most = { .tv_sec = 5 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(p.fd, &set);
	return select(p.fd + 1, &set, NULL, NULL, &most);
}

static void test_descriptor_ticks(void **state)
{
	(void)state;
	assert_int_equal(wait_for_tick(), 1);
	assert_true(pace_is_due(&p));
	look(110, 0, true); /* the slow one ticks too */
	assert_int_equal(wait_for_tick(), 1);
	assert_true(pace_is_due(&p));
}

#define PACE_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PACE_TEST(test_sparse_target_is_looked_at_slowly),
		PACE_TEST(test_busy_one_is_looked_at_fast_at_once),
		PACE_TEST(test_probes_are_drained_fast_unless_idle),
		PACE_TEST(test_descriptor_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
