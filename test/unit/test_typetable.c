// SPDX-License-Identifier: Apache-2.0
/* test_typetable.c - rows by label. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/labels.h"
#include "viewer/typetable.h"

static void test_rows(void **state)
{
	struct typetable *t = typetable_new();

	(void)state;
	assert_int_equal(typetable_cnt(t), 1);
	for (uint32_t label = 5000; label > 4000; label--)
		typetable_row(t, typetable_find(t, label))->polls = label;
	assert_int_equal(typetable_cnt(t), 1001);
	for (uint32_t label = 5000; label > 4000; label--) {
		assert_int_equal(typetable_row(t, typetable_find(t, label))->polls, label);
		assert_int_equal(typetable_row(t, typetable_find(t, label))->label, label);
	}
	assert_int_equal(typetable_find(t, LABEL_OTHER), 0);
	typetable_free(t);
}

static void test_cap(void **state)
{
	struct typetable *t = typetable_new();

	(void)state;
	for (uint32_t i = 1; i < TYPETABLE_MAX; i++)
		assert_int_equal(typetable_find(t, 10 + i), i);
	assert_int_equal(typetable_find(t, 9), 0);
	assert_int_equal(typetable_find(t, 11), 1);
	assert_int_equal(typetable_row(t, 0)->label, LABEL_OTHER);
	typetable_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
