// SPDX-License-Identifier: Apache-2.0
/* test_guests.c - slots are found and given back; who lets wait is shown out. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/guests.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];
static struct guests *guests;

static int setup(void **state)
{
	(void)state;
	guests = guests_new();
	return !guests || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0;
}

static int teardown(void **state)
{
	(void)state;
	guests_free(guests);
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static bool is_shut(void)
{
	char byte;

	return recv(pair[1], &byte, 1, MSG_DONTWAIT) == 0;
}

static void test_slots(void **state)
{
	int first = guests_enter(guests, pair[0], 1);

	(void)state;
	assert_true(first >= 0);
	for (unsigned int i = 1; i < GUESTS_MAX; i++)
		assert_int_not_equal(guests_enter(guests, pair[0], 1), -1);
	assert_int_equal(guests_enter(guests, pair[0], 1), -1);
	guests_leave(guests, first);
	assert_int_equal(guests_enter(guests, pair[0], 1), first);
	/* no slot is nobody's: nothing happens */
	guests_leave(guests, -1);
	guests_asked(guests, -1);
	guests_answered(guests, -1, 1);
}

static void test_the_silent_are_shut_out(void **state)
{
	(void)state;
	guests_enter(guests, pair[0], 100);
	assert_int_equal(guests_expire(guests, 100 + GUESTS_REQUEST_NS - 1), 0);
	assert_false(is_shut());
	assert_int_equal(guests_expire(guests, 100 + GUESTS_REQUEST_NS), 1);
	assert_true(is_shut());
	assert_int_equal(guests_expire(guests, 100 + 9 * GUESTS_REQUEST_NS), 0);
}

static void test_an_answer_may_take_its_time(void **state)
{
	int slot = guests_enter(guests, pair[0], 100);

	(void)state;
	guests_asked(guests, slot);
	assert_int_equal(guests_expire(guests, 100 + 50 * GUESTS_REQUEST_NS), 0);
	guests_answered(guests, slot, 60 * GUESTS_REQUEST_NS);
	assert_int_equal(guests_expire(guests, 61 * GUESTS_REQUEST_NS - 1), 0);
	assert_int_equal(guests_expire(guests, 61 * GUESTS_REQUEST_NS), 1);
	assert_true(is_shut());
}

static void test_an_answer_must_be_read(void **state)
{
	int slot = guests_enter(guests, pair[0], 100);

	(void)state;
	guests_asked(guests, slot);
	guests_sending(guests, slot, 1000);
	assert_int_equal(guests_expire(guests, 1000 + GUESTS_ANSWER_NS - 1), 0);
	assert_false(is_shut());
	assert_int_equal(guests_expire(guests, 1000 + GUESTS_ANSWER_NS), 1);
	assert_true(is_shut());
	/* the next one on a connection that is still there begins anew */
	guests_asked(guests, slot);
	assert_int_equal(guests_expire(guests, 1000 + 9 * GUESTS_ANSWER_NS), 0);
}

static void test_who_has_left_is_left_alone(void **state)
{
	int slot = guests_enter(guests, pair[0], 100);

	(void)state;
	guests_leave(guests, slot);
	assert_int_equal(guests_expire(guests, 100 * GUESTS_REQUEST_NS), 0);
	assert_false(is_shut());
	/* a clock behind the guest's own (it came between reading the clock and the look) */
	guests_enter(guests, pair[0], 100);
	assert_int_equal(guests_expire(guests, 50), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_slots, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_silent_are_shut_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_answer_may_take_its_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_answer_must_be_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_has_left_is_left_alone, setup, teardown),
	};

	return cmocka_run_group_tests_name("guests", tests, NULL, NULL);
}
