// SPDX-License-Identifier: Apache-2.0
/* test_settle.c - polls and parks of many workers, settled in two halves. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "columnscript.h"

#define WORKERS 5u

/*
 * Each round every worker parks and wakes up and polls once; worker w leaves out its park in every
 * round that w + 2 divides, so that the rows of parks are fewer than the events, in each half.
 */
static void check(uint32_t rounds)
{
	struct eventscript *s = eventscript_begin();
	struct columns *c;
	uint32_t parks = 0, polls = 0;

	for (uint32_t r = 0; r < rounds; r++)
		for (uint32_t w = 0; w < WORKERS; w++) {
			uint64_t ns = 1000ull * (r + 1) + w;

			if (r % (w + 2))
				SCRIPT_PUT(s, worker_park, ns, .worker_id = w, .tid = 100 + w);
			SCRIPT_PUT(s, worker_unpark, ns + 100, .worker_id = w, .tid = 100 + w);
			SCRIPT_PUT(s, poll_start, ns + 200, .worker_id = w, .task_id = 1 + w);
			SCRIPT_PUT(s, poll_end, ns + 300 + w, .worker_id = w);
			SCRIPT_PUT(s, poll_end, ns + 400, .worker_id = w); /* a stray one */
		}
	c = columnscript_end(s);
	assert_int_equal(c->odd.stray_ends, rounds * WORKERS);
	assert_int_equal(c->parks.cnt, rounds * WORKERS);
	assert_int_equal(c->polls.cnt, rounds * WORKERS);
	for (uint32_t w = 0; w < WORKERS; w++) {
		assert_int_equal(c->lanes.id[w], w);
		assert_int_equal(c->lanes.parks_from[w], parks);
		assert_int_equal(c->lanes.polls_from[w], polls);
		for (uint32_t r = 0; r < rounds; r++, parks++, polls++) {
			bool is_park = r % (w + 2) != 0;
			uint64_t ns = 1000ull * (r + 1) + w;

			assert_int_equal(c->parks.lane[parks], w);
			assert_int_equal(c->parks.tid[parks], 100 + w);
			assert_int_equal(c->parks.start_ns[parks], is_park ? ns : ns + 100);
			assert_int_equal(c->parks.dur_ns[parks], is_park ? 100 : 0);
			assert_int_equal(c->polls.lane[polls], w);
			assert_int_equal(c->polls.start_ns[polls], ns + 200);
			assert_int_equal(c->polls.dur_ns[polls], 100 + w);
		}
		assert_int_equal(c->lanes.parks_to[w], parks);
		assert_int_equal(c->lanes.polls_to[w], polls);
	}
	index_close(c);
}

static void test_one_after_the_other(void **state)
{
	(void)state;
	check(3);
	check(40);
}

static void test_at_the_same_time(void **state)
{
	(void)state;
	check(900); /* more than SETTLE_TWIN_MIN moments */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_after_the_other),
		cmocka_unit_test(test_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
