// SPDX-License-Identifier: Apache-2.0
/* test_behind.c - the parts of waits, and whom they are charged to. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/behind.h"
#include "viewer/workertable.h"

#define HARMS_MAX 64

static struct behind_harm harms[HARMS_MAX];
static uint32_t harms_cnt;

static void on_harm(void *ctx, const struct behind_harm *h)
{
	(void)ctx;
	assert_true(harms_cnt < HARMS_MAX);
	harms[harms_cnt++] = *h;
}

static int setup(void **state)
{
	harms_cnt = 0;
	*state = behind_new(on_harm, NULL);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	behind_free(*state);
	return 0;
}

static void slice(struct behind *b, enum watch_state what, uint64_t from_ns, uint64_t to_ns,
		  uint64_t task)
{
	struct worker_poll poll = { .task = task, .start_ns = from_ns, .type = 1, .nr = 1 };
	struct watch_slice s = { 0, what, from_ns, to_ns, what == WATCH_BUSY ? &poll : NULL };

	assert_int_equal(behind_slice(b, &s), 0);
}

static struct watch_wait wait_of(uint64_t from_ns, uint64_t to_ns)
{
	return (struct watch_wait){ .task = 99, .from_ns = from_ns, .to_ns = to_ns };
}

static void test_parts_sum(void **state)
{
	struct watch_wait w = wait_of(150, 600);
	struct behind_parts parts;

	slice(*state, WATCH_BUSY, 100, 200, 1);
	slice(*state, WATCH_BETWEEN, 200, 230, 0);
	slice(*state, WATCH_PARKED, 230, 500, 0);
	slice(*state, WATCH_DELAYED, 500, 580, 0);
	slice(*state, WATCH_BETWEEN, 580, 600, 0);
	behind_parts(*state, &w, &parts);
	assert_int_equal(parts.ns[WATCH_BUSY], 50);
	assert_int_equal(parts.ns[WATCH_PARKED], 270);
	assert_int_equal(parts.ns[WATCH_DELAYED], 80);
	assert_int_equal(parts.ns[WATCH_BETWEEN], 50);
	assert_int_equal(parts.ns[WATCH_UNKNOWN], 0);
	w = wait_of(50, 600); /* woken before anything is known of its worker */
	behind_parts(*state, &w, &parts);
	assert_int_equal(parts.ns[WATCH_UNKNOWN], 50);
	assert_int_equal(parts.ns[WATCH_BUSY], 100);
}

/* Two waits over the same polls: each ns is charged once for each of them. */
static void test_charge(void **state)
{
	struct watch_wait w = wait_of(150, 400);

	slice(*state, WATCH_BUSY, 100, 200, 1);
	slice(*state, WATCH_BUSY, 200, 300, 2);
	slice(*state, WATCH_BETWEEN, 300, 400, 0);
	behind_charge(*state, &w);
	w = wait_of(250, 400);
	behind_charge(*state, &w);
	slice(*state, WATCH_BUSY, 400, 900, 3); /* behind both: no harm */
	behind_finish(*state);
	assert_int_equal(harms_cnt, 2);
	assert_int_equal(harms[0].task, 1);
	assert_int_equal(harms[0].ns, 50);
	assert_int_equal(harms[0].victims, 1);
	assert_int_equal(harms[1].task, 2);
	assert_int_equal(harms[1].ns, 100 + 50);
	assert_int_equal(harms[1].victims, 2);
}

static void test_polls(void **state)
{
	struct watch_wait w = wait_of(150, 250);

	slice(*state, WATCH_BUSY, 0, 100, 1); /* over before the wake */
	slice(*state, WATCH_BUSY, 100, 200, 2);
	slice(*state, WATCH_BUSY, 200, 300, 3); /* goes on behind the wait */
	behind_polls(*state, &w, on_harm, NULL);
	assert_int_equal(harms_cnt, 2);
	assert_int_equal(harms[0].task, 2);
	assert_int_equal(harms[0].ns, 50);
	assert_int_equal(harms[1].task, 3);
	assert_int_equal(harms[1].ns, 50);
}

/* Of another worker, and more than asked for. */
static void test_idle(void **state)
{
	struct watch_slice s = { 3, WATCH_PARKED, 1000000, 2000000, NULL };
	struct watch_wait w = wait_of(1250001, 2000000);

	assert_false(behind_idle(*state, &w, 0));
	assert_int_equal(behind_slice(*state, &s), 0);
	assert_true(behind_idle(*state, &w, 749998));
	assert_false(behind_idle(*state, &w, 749999));
	w.worker = 3;
	assert_false(behind_idle(*state, &w, 0));
	s.worker = 70; /* more workers than there was room for */
	assert_int_equal(behind_slice(*state, &s), 0);
	assert_true(behind_idle(*state, &w, 749998));
	assert_false(behind_idle(*state, &w, 749999));
}

/* More slices than are kept: what is forgotten is unknown and charges nobody, all the rest holds. */
static void test_forgotten(void **state)
{
	struct watch_wait w = wait_of(0, 10ull * 2 * BEHIND_SLICES_MAX);
	struct behind_parts parts;

	for (uint64_t i = 0; i < 2 * BEHIND_SLICES_MAX; i++)
		slice(*state, i % 2 ? WATCH_BUSY : WATCH_BETWEEN, 10 * i, 10 * i + 10, 7);
	behind_parts(*state, &w, &parts);
	assert_int_equal(parts.ns[WATCH_UNKNOWN], 10ull * BEHIND_SLICES_MAX);
	assert_int_equal(parts.ns[WATCH_BUSY], 5ull * BEHIND_SLICES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_parts_sum, setup, teardown),
		cmocka_unit_test_setup_teardown(test_charge, setup, teardown),
		cmocka_unit_test_setup_teardown(test_polls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_idle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forgotten, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
