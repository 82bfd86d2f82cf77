// SPDX-License-Identifier: Apache-2.0
/* test_avail.c - blackouts and windows against counting each ns, on random recordings. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "columnscript.h"
#include "viewer/avail.h"
#include "viewer/command.h"
#include "viewer/crews.h"
#include "viewer/scope.h"

#include <string.h>

#define SPAN 3000u
#define WORKERS 3u
#define BASE 1000u

static uint8_t taken[WORKERS][SPAN];
static uint32_t seed = 1;

static uint32_t pick(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* A worker's life: polls, gaps, parks with a delay at their end; `taken` notes it ns by ns. */
static void life(struct eventscript *s, uint32_t worker)
{
	uint32_t at = pick(50);

	while (at < SPAN - 400) {
		uint32_t from = at, len = 1 + pick(150), delay = 0;
		bool is_poll = pick(3) > 0;

		if (is_poll) {
			SCRIPT_PUT(s, poll_start, BASE + from, .worker_id = worker,
				   .task_id = worker + 1);
			SCRIPT_PUT(s, poll_end, BASE + from + len, .worker_id = worker);
		} else {
			delay = pick(2) ? pick(len + 1) : 0;
			SCRIPT_PUT(s, worker_park, BASE + from, .worker_id = worker,
				   .tid = worker + 1);
			SCRIPT_PUT(s, worker_unpark, BASE + from + len, .worker_id = worker,
				   .tid = worker + 1, .sched_wait_ns = delay,
				   .has_sched_wait_ns = true);
		}
		memset(taken[worker] + from + (is_poll ? 0 : len - delay), 1,
		       is_poll ? len : delay);
		at = from + len + (pick(2) ? pick(40) : 0);
	}
}

static void test_against_counting(void **state)
{
	const struct request none = { 0 };

	(void)state;
	for (int round = 0; round < 40; round++) {
		uint64_t blackout = 0, longest = 0, run = 0, cnt = 0;
		uint32_t workers = 1 + pick(WORKERS);
		struct eventscript *s = eventscript_begin();
		struct columns *c;
		struct crews crews;
		struct scope scope;
		struct avail a;

		memset(taken, 0, sizeof(taken));
		for (uint32_t w = 0; w < workers; w++)
			life(s, w);
		c = columnscript_end(s);
		for (uint32_t i = 0; i < SPAN; i++) {
			bool is_out = true;

			for (uint32_t w = 0; w < workers; w++)
				is_out &= taken[w][i];
			cnt += is_out && run == 0;
			run = is_out ? run + 1 : 0;
			blackout += is_out;
			if (run > longest)
				longest = run;
		}
		assert_int_equal(crews_init(&crews, c), 0);
		assert_int_equal(crews.cnt, 1);
		assert_int_equal(scope_init(&scope, c, &none), 0);
		assert_int_equal(avail_of(c, &crews.at[0], &scope, &a), 0);
		assert_int_equal(a.blackout_ns, blackout);
		assert_int_equal(a.blackouts, cnt);
		assert_int_equal(a.longest_ns, longest);
		assert_int_equal(a.window_ns[0], blackout); /* all of it lies within 1 ms */
		scope_done(&scope);
		crews_done(&crews);
		index_close(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_counting) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
