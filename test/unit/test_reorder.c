// SPDX-License-Identifier: Apache-2.0
/* test_reorder.c - order by time through a window. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/momentblock.h"
#include "viewer/reorder.h"

#include <stdlib.h>

struct seen {
	struct moment *moments;
	size_t cnt, cap;
};

static int take(void *ctx, const struct moment *m)
{
	struct seen *s = ctx;

	assert_true(s->cnt < s->cap);
	s->moments[s->cnt++] = *m;
	return 0;
}

static void put(struct reorder *r, uint64_t ts_ns, uint64_t number)
{
	const struct moment m = { .ts_ns = ts_ns, .task = number };

	assert_int_equal(reorder_put(r, &m), 0);
}

static struct seen seen_new(size_t cap)
{
	struct seen s = { calloc(cap, sizeof(struct moment)), 0, cap };

	assert_non_null(s.moments);
	return s;
}

/* The rest comes out, and `cnt` in all, by stamp, equal stamps as they were put; ends both. */
static void all_in_order(struct reorder *r, struct seen *s, size_t cnt)
{
	assert_int_equal(reorder_flush(r), 0);
	assert_int_equal(s->cnt, cnt);
	for (size_t i = 1; i < cnt; i++)
		assert_true(s->moments[i - 1].ts_ns < s->moments[i].ts_ns ||
			    (s->moments[i - 1].ts_ns == s->moments[i].ts_ns &&
			     s->moments[i - 1].task < s->moments[i].task));
	assert_int_equal(reorder_late(r), 0);
	reorder_free(r);
	free(s->moments);
}

/* Four threads' events, one after the other: all come out sorted, equal stamps in file order. */
static void test_runs_are_merged(void **state)
{
	struct seen s = seen_new(4000);
	struct reorder *r = reorder_new(4096, take, NULL, &s);

	(void)state;
	for (uint64_t thread = 0; thread < 4; thread++)
		for (uint64_t i = 0; i < 1000; i++)
			put(r, i * 10, thread * 1000 + i);
	assert_int_equal(reorder_flush(r), 0);
	assert_int_equal(s.cnt, 4000);
	for (size_t i = 1; i < s.cnt; i++) {
		assert_true(s.moments[i - 1].ts_ns <= s.moments[i].ts_ns);
		if (s.moments[i - 1].ts_ns == s.moments[i].ts_ns)
			assert_true(s.moments[i - 1].task < s.moments[i].task);
	}
	assert_int_equal(reorder_late(r), 0);
	reorder_free(r);
	free(s.moments);
}

static void test_random_within_the_window(void **state)
{
	struct seen s = seen_new(100000);
	struct reorder *r = reorder_new(256, take, NULL, &s);
	uint64_t seed = 1;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005ull + 1;
		put(r, 10000 + i * 10 + (seed >> 33) % 1000, i); /* at most 100 places early */
	}
	assert_int_equal(reorder_flush(r), 0);
	assert_int_equal(s.cnt, 100000);
	for (size_t i = 1; i < s.cnt; i++)
		assert_true(s.moments[i - 1].ts_ns <= s.moments[i].ts_ns);
	reorder_free(r);
	free(s.moments);
}

static void test_late_ones_are_counted_and_kept(void **state)
{
	struct seen s = seen_new(101);
	struct reorder *r = reorder_new(8, take, NULL, &s);

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		put(r, 1000 + i, i);
	put(r, 5, 100);
	assert_int_equal(reorder_flush(r), 0);
	assert_int_equal(s.cnt, 101);
	assert_int_equal(reorder_late(r), 1);
	reorder_free(r);
	free(s.moments);
}

/* The order that a stable sort gives, whatever the stamps: far apart, equal, running back. */
static void test_all_that_fits_is_sorted(void **state)
{
	enum { CNT = 20000 };
	static const uint64_t spans[] = { 1, 7, 1000, 1000000, 1ull << 40, UINT64_MAX };

	(void)state;
	for (size_t k = 0; k < sizeof(spans) / sizeof(spans[0]); k++) {
		struct seen s = seen_new(CNT);
		struct reorder *r = reorder_new(CNT, take, NULL, &s);
		uint64_t seed = 3;

		for (uint64_t i = 0; i < CNT; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			put(r, seed % spans[k], i);
		}
		all_in_order(r, &s, CNT);
	}
}

/* One in a thousand is far ahead of its time, so that blocks are nearly, but not quite, used up:
 * they are packed, and nothing is lost or out of order. */
static void test_little_of_many_blocks(void **state)
{
	enum { CNT = 400000 };
	struct seen s = seen_new(CNT);
	struct reorder *r = reorder_new(8192, take, NULL, &s);

	(void)state;
	for (uint64_t i = 0; i < CNT; i++)
		put(r, i % 1000 == 7 ? 1000000 + i / 2000 : i / 2, i);
	all_in_order(r, &s, CNT);
}

/* Whole blocks, full or not, come out as single moments do; those that are used up come back. */
static void test_blocks(void **state)
{
	enum { CNT = 300000 };
	struct seen s = seen_new(CNT);
	struct reorder *r = reorder_new(16 * MOMENTBLOCK_CNT, take, NULL, &s);
	struct momentblock *b = NULL;
	uint64_t seed = 1, spares = 0;

	(void)state;
	for (uint64_t i = 0; i < CNT; i++) {
		b = b ? b : momentblock_new();
		seed = seed * 6364136223846793005ull + 1;
		*momentblock_next(b) = (struct moment){ .ts_ns = i + (seed >> 33) % 3000, .task = i };
		momentblock_add(b);
		if (b->cnt < MOMENTBLOCK_CNT && seed >> 40 & 255 && i + 1 < CNT)
			continue;
		assert_int_equal(reorder_take(r, b), 0);
		b = reorder_spare(r);
		spares += !!b;
		if (b)
			momentblock_clear(b);
	}
	free(b);
	assert_true(spares > 0);
	all_in_order(r, &s, CNT);
}

static int stop(void *ctx, const struct moment *m)
{
	(void)m;
	return ++*(int *)ctx == 3 ? -7 : 0;
}

static void test_stops(void **state)
{
	int calls = 0;
	struct reorder *r = reorder_new(8, stop, NULL, &calls);

	(void)state;
	for (uint64_t i = 0; i < 8; i++)
		put(r, i, i);
	assert_int_equal(reorder_flush(r), -7);
	assert_int_equal(calls, 3);
	reorder_free(r);
	reorder_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_are_merged),
		cmocka_unit_test(test_random_within_the_window),
		cmocka_unit_test(test_all_that_fits_is_sorted),
		cmocka_unit_test(test_little_of_many_blocks),
		cmocka_unit_test(test_late_ones_are_counted_and_kept),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
