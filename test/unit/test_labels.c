// SPDX-License-Identifier: Apache-2.0
/* test_labels.c - interned strings. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/labels.h"

#include <stdio.h>
#include <string.h>

static void test_same_text_same_number(void **state)
{
	struct labels *l = labels_new();
	char name[32];
	const char *text;
	size_t len;
	uint32_t first, id;

	(void)state;
	assert_non_null(l);
	first = labels_cnt(l);
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "src/main.rs:%u:5", i);
		assert_int_equal(labels_put(l, name, strlen(name)), first + i);
	}
	for (uint32_t i = 0; i < 10000; i += 7) {
		snprintf(name, sizeof(name), "src/main.rs:%u:5", i);
		id = labels_put(l, name, strlen(name));
		assert_int_equal(id, first + i);
		text = labels_text(l, id, &len);
		assert_int_equal(len, strlen(name));
		assert_memory_equal(text, name, len);
	}
	assert_int_equal(labels_cnt(l), first + 10000);
	assert_int_equal(labels_put(l, "(other)", 7), LABEL_OTHER);
	labels_free(l);
}

static void test_bytes_count_not_ends(void **state)
{
	struct labels *l = labels_new();

	(void)state;
	assert_int_not_equal(labels_put(l, "a\0b", 3), labels_put(l, "a\0c", 3));
	assert_int_not_equal(labels_put(l, "a", 1), labels_put(l, "a\0", 2));
	assert_true(labels_compare(l, labels_put(l, "a", 1), labels_put(l, "ab", 2)) < 0);
	assert_true(labels_compare(l, labels_put(l, "b", 1), labels_put(l, "ab", 2)) > 0);
	assert_int_equal(labels_compare(l, labels_put(l, "b", 1), labels_put(l, "b", 1)), 0);
	labels_free(l);
}

static void test_cap(void **state)
{
	struct labels *l = labels_new();
	char name[16];

	(void)state;
	for (uint32_t i = labels_cnt(l); i < LABELS_MAX; i++) {
		snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(labels_put(l, name, strlen(name)), i);
	}
	assert_int_equal(labels_over_cap(l), 0);
	assert_int_equal(labels_put(l, "one more", 8), LABEL_OTHER);
	assert_int_equal(labels_over_cap(l), 1);
	assert_int_equal(labels_put(l, name, strlen(name)), LABELS_MAX - 1); /* known ones stay */
	labels_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_text_same_number),
		cmocka_unit_test(test_bytes_count_not_ends),
		cmocka_unit_test(test_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
