// SPDX-License-Identifier: Apache-2.0
/* test_placetable.c - rows by a number, each once, zero at first. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/placetable.h"

#include <stdlib.h>

struct row {
	uint32_t place;
	uint64_t cnt;
};

static void test_rows(void **state)
{
	struct placetable t = { .row_sz = sizeof(struct row) };
	struct row *rows, *r;

	(void)state;
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < 5000; i++) {
			r = placetable_row(&t, i * 64); /* alike in their low bits */
			assert_non_null(r);
			assert_int_equal(r->place, i * 64);
			assert_int_equal(r->cnt++, round);
		}
	assert_int_equal(t.cnt, 5000);
	rows = t.rows;
	placetable_done(&t, false); /* the rows are ours now */
	for (uint32_t i = 0; i < 5000; i++)
		assert_true(rows[i].place == i * 64 &&
			    rows[i].cnt == 3); /* in the order asked for */
	free(rows);
	assert_int_equal(t.cnt, 0);
	assert_non_null(placetable_row(&t, 7)); /* and it can be used again */
	placetable_done(&t, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
