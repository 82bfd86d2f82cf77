// SPDX-License-Identifier: Apache-2.0
/* test_sleepgrid.c - bounds that hold, and are near. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/sleepgrid.h"

#define LANES 5u
#define SLICES 400u

static uint64_t from[LANES][SLICES], to[LANES][SLICES];

/* Sleep before ns, slice by slice. */
static uint64_t slept(uint32_t lane, uint32_t cnt, uint64_t ns)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < cnt; i += 2) /* every second one is a sleep */
		if (from[lane][i] < ns)
			sum += (to[lane][i] < ns ? to[lane][i] : ns) - from[lane][i];
	return sum;
}

static void check(const struct sleepgrid *g, uint32_t lane, uint32_t cnt, uint64_t ns, bool is_kept)
{
	uint64_t least, most, exact = slept(lane, cnt, ns);

	sleepgrid_until(g, lane, ns, &least, &most);
	assert_true(least <= exact && exact <= most);
	if (is_kept)
		assert_true(most - least <= g->step_ns);
}

static void tell(struct sleepgrid *g, uint64_t unit_ns)
{
	uint64_t seed = 7;

	for (uint32_t lane = 0; lane < LANES; lane++) {
		uint64_t at = 5000000000000ull + lane * unit_ns;

		for (uint32_t i = 0; i < SLICES; i++) {
			seed = seed * 6364136223846793005ull + 1;
			from[lane][i] = at;
			at = to[lane][i] = at + 1 + (seed >> 33) % unit_ns;
			if (i % 50 == 0)
				at += unit_ns; /* a gap: nothing is told of it */
			sleepgrid_tell(g, lane, from[lane][i], to[lane][i], i % 2 == 0);
			check(g, lane, i + 1, at - unit_ns / 2, true);
		}
	}
}

static void test_whole_span(void **state)
{
	struct sleepgrid g;
	uint64_t first, last;

	(void)state;
	assert_int_equal(sleepgrid_init(&g, LANES, 600ull * 3000000), 0);
	tell(&g, 3000000);
	for (uint32_t lane = 0; lane < LANES; lane++) {
		first = from[lane][0];
		last = to[lane][SLICES - 1];
		for (uint64_t ns = first - 1000000; ns < last + 1000000; ns += 77777)
			check(&g, lane, SLICES, ns, true);
	}
	sleepgrid_done(&g);
}

/* More than is kept: what is forgotten is unknown, not wrong; also when lanes are added. */
static void test_newest_only(void **state)
{
	struct sleepgrid g;

	(void)state;
	assert_int_equal(sleepgrid_init(&g, 1, 0), 0);
	g.cells = 64; /* 8 ms */
	for (uint32_t round = 0; round < 2; round++) {
		assert_int_equal(sleepgrid_room(&g, LANES), 0);
		if (round == 0)
			tell(&g, 3000000);
		for (uint32_t lane = 0; lane < LANES; lane++)
			for (uint64_t ns = from[lane][0]; ns < to[lane][SLICES - 1]; ns += 777777)
				check(&g, lane, SLICES, ns,
				      ns + 62 * g.step_ns > to[lane][SLICES - 1]);
		assert_int_equal(sleepgrid_room(&g, 4096), 0);
	}
	sleepgrid_done(&g);
}

static void test_long_span_makes_wide_rows(void **state)
{
	struct sleepgrid g;

	(void)state;
	assert_int_equal(sleepgrid_init(&g, 1000, 86400ull * 1000000000), 0);
	assert_true((uint64_t)g.cells * g.stride <= SLEEPGRID_WORDS_MAX);
	assert_true(g.step_ns * g.cells >= 86400ull * 1000000000);
	sleepgrid_done(&g);
	sleepgrid_done(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_span),
		cmocka_unit_test(test_newest_only),
		cmocka_unit_test(test_long_span_makes_wide_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
