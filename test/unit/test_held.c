// SPDX-License-Identifier: Apache-2.0
/* test_held.c - when the server decodes again what has changed. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/held.h"

static void test_rests(void **state)
{
	(void)state;
	assert_true(held_is_due(true, 0, 0, 0));
	assert_false(held_is_due(true, 1999, 2000, 0));
	assert_true(held_is_due(true, 2000, 2000, 0));
	assert_false(held_is_due(false, 2000, 2000, 0));
	assert_false(held_is_due(false, 2000 * HELD_REST - 1, 2000, 0));
	assert_true(held_is_due(false, 2000 * HELD_REST, 2000, 0));
}

static void test_nobody_asks(void **state)
{
	(void)state;
	assert_true(held_is_due(true, 60000, 1, HELD_ASKED_MS - 1));
	assert_false(held_is_due(true, 60000, 1, HELD_ASKED_MS));
	assert_false(held_is_due(false, 60000, 1, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rests),
		cmocka_unit_test(test_nobody_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
