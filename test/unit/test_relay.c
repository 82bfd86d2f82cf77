// SPDX-License-Identifier: Apache-2.0
/* test_relay.c - the same calls in the same order with one thread and with two. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/momentblock.h"
#include "viewer/relay.h"

#include <stdlib.h>
#include <unistd.h>

#define MANY (4 * RELAY_ALONE * MOMENTBLOCK_CNT)
#define WINDOW (16 * MOMENTBLOCK_CNT)

struct seen { /* by `out`, on whichever thread; asserted on when all is over */
	uint64_t cnt, sum, last_ns, ahead;
	uint64_t unordered; /* behind one of a later time, not counting across a flush */
	uint64_t flushes, at_flush; /* cnt at the last one */
	uint64_t stop_at; /* 0: never */
};

static int take(void *ctx, const struct moment *m)
{
	struct seen *s = ctx;

	s->unordered += m->ts_ns < s->last_ns;
	s->last_ns = m->ts_ns;
	s->sum = s->sum * 31 + m->task;
	return ++s->cnt == s->stop_at ? -7 : 0;
}

static void ahead(void *ctx, const struct moment *m)
{
	struct seen *s = ctx;

	s->ahead += m->task > 0;
}

static void flushed(void *ctx)
{
	struct seen *s = ctx;

	s->flushes++;
	s->at_flush = s->cnt;
	s->last_ns = 0;
}

static int put(struct relay *r, uint64_t ts_ns, uint64_t number)
{
	struct moment *m = relay_next(r);

	if (!m)
		return -1;
	assert_ptr_equal(relay_next(r), m); /* the same place until it is put */
	*m = (struct moment){ .ts_ns = ts_ns, .task = number };
	return relay_put(r);
}

/* Times that run back and forth by up to 500 places. */
static uint64_t stamp(uint64_t i)
{
	return 1000000 + i * 10 + i * 2654435761u % 5000;
}

static struct seen run(uint64_t cnt, bool may_thread, bool *ret_threaded)
{
	struct seen s = { 0 };
	struct relay *r = relay_new(WINDOW, take, ahead, &s, may_thread);

	assert_non_null(r);
	for (uint64_t i = 0; i < cnt; i++) {
		/* what follows the flush is later than all before it */
		assert_int_equal(put(r, stamp(i) + (i > cnt / 3 ? 10000 : 0), i + 1), 0);
		if (i == cnt / 3)
			assert_int_equal(relay_flush(r, flushed), 0);
	}
	assert_int_equal(relay_end(r), 0);
	assert_int_equal(relay_late(r), 0);
	*ret_threaded = relay_is_threaded(r);
	relay_free(r);
	return s;
}

static void test_two_threads_do_what_one_does(void **state)
{
	bool is_threaded;
	struct seen one = run(MANY, false, &is_threaded), two;

	(void)state;
	assert_false(is_threaded);
	assert_int_equal(one.cnt, MANY);
	assert_int_equal(one.unordered, 0);
	assert_int_equal(one.flushes, 1);
	assert_int_equal(one.at_flush, MANY / 3 + 1);
	two = run(MANY, true, &is_threaded);
	assert_int_equal(is_threaded, sysconf(_SC_NPROCESSORS_ONLN) > 1);
	assert_memory_equal(&two, &one, sizeof(one));
}

static void test_few_make_no_thread(void **state)
{
	bool is_threaded;
	struct seen s = run((RELAY_ALONE - 2) * MOMENTBLOCK_CNT, true, &is_threaded);

	(void)state;
	assert_false(is_threaded);
	assert_int_equal(s.cnt, (RELAY_ALONE - 2) * MOMENTBLOCK_CNT);
	assert_int_equal(s.unordered, 0);
}

/* Many gaps: each flush gives out a block that is not full. */
static void test_flushes(void **state)
{
	struct seen s = { 0 };
	struct relay *r = relay_new(WINDOW, take, NULL, &s, true);

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		assert_int_equal(put(r, 3000 - i, i), 0);
		assert_int_equal(relay_flush(r, i % 2 ? flushed : NULL), 0);
		assert_int_equal(relay_flush(r, NULL), 0); /* nothing to give */
	}
	assert_int_equal(relay_end(r), 0);
	assert_int_equal(s.cnt, 3000);
	assert_int_equal(s.flushes, 1500);
	assert_int_equal(s.at_flush, 3000);
	relay_free(r);
}

static void test_an_error_stops_and_stays(void **state)
{
	(void)state;
	for (int may_thread = 0; may_thread < 2; may_thread++) {
		struct seen s = { .stop_at = MANY / 2 };
		struct relay *r = relay_new(WINDOW, take, NULL, &s, may_thread);
		int err = 0;

		for (uint64_t i = 0; i < MANY && err == 0; i++)
			err = put(r, stamp(i), i);
		assert_true(err == -7 || err == 0); /* the other thread may find it later */
		assert_int_equal(relay_end(r), -7);
		assert_int_equal(s.cnt, MANY / 2);
		relay_free(r);
	}
}

static void test_left_before_the_end(void **state)
{
	struct seen s = { 0 };
	struct relay *r = relay_new(WINDOW, take, NULL, &s, true);

	(void)state;
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(put(r, stamp(i), i), 0);
	relay_free(r);
	assert_true(s.cnt > 0 && s.cnt < MANY); /* the window was not given out */
	relay_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_threads_do_what_one_does),
		cmocka_unit_test(test_few_make_no_thread),
		cmocka_unit_test(test_flushes),
		cmocka_unit_test(test_an_error_stops_and_stays),
		cmocka_unit_test(test_left_before_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
