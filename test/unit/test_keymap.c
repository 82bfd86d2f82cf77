// SPDX-License-Identifier: Apache-2.0
/* test_keymap.c - keymap against a plain array; names and addrs, which stand on the same idea. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/addrs.h"
#include "agent/keymap.h"
#include "agent/names.h"

#define KEYS 300

static void against_array(unsigned near_bits)
{
	uint32_t model[KEYS];
	struct keymap m;

	srand(3);
	assert_int_equal(keymap_init_near(&m, KEYS, near_bits), 0);
	memset(model, 0xff, sizeof(model));
	for (int step = 0; step < 200000; step++) {
		uint32_t i = (uint32_t)rand() % KEYS;
		uint64_t key = i % 2 ? i : (uint64_t)i << 40;

		assert_int_equal(keymap_get(&m, key), model[i]);
		if (rand() % 2) {
			assert_true(keymap_put(&m, key, (uint32_t)step));
			model[i] = (uint32_t)step;
		} else {
			keymap_del(&m, key);
			model[i] = KEYMAP_NONE;
		}
	}
	keymap_clear(&m);
	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(keymap_get(&m, i), KEYMAP_NONE);
	keymap_done(&m);
}

static void test_against_array(void **state)
{
	(void)state;
	against_array(0);
	against_array(2);
	against_array(8);
}

/* Keys in a row lie in a row, however far up they are. */
static void test_near(void **state)
{
	struct keymap m;

	(void)state;
	assert_int_equal(keymap_init_near(&m, 1 << 16, 4), 0);
	for (uint64_t first = 0; first < 1ull << 60; first = 3 * first + 16)
		for (uint64_t i = 0; i < 16; i++)
			assert_int_equal(keymap_home(&m, (first & ~15ull) + i),
					 keymap_home(&m, first & ~15ull) + i);
	keymap_done(&m);
	assert_int_equal(keymap_init_near(&m, 15, 4), -EINVAL);
	assert_int_equal(keymap_init_near(&m, 1 << 16, 9), -EINVAL);
}

static void test_cap(void **state)
{
	struct keymap m;

	(void)state;
	assert_true(keymap_init(&m, 0) < 0);
	assert_int_equal(keymap_init(&m, 3), 0);
	for (uint64_t k = 0; k < 3; k++)
		assert_true(keymap_put(&m, k, 1));
	assert_false(keymap_put(&m, 9, 1));
	assert_true(keymap_put(&m, 2, 5)); /* an old key is no new entry */
	assert_int_equal(keymap_get(&m, 2), 5);
	assert_int_equal(keymap_get(&m, 9), KEYMAP_NONE);
	keymap_done(&m);
}

static void test_names(void **state)
{
	char big[NAMES_LEN_MAX + 10], buf[32];
	struct names *n = NULL;
	uint32_t a, cut;
	size_t len;

	(void)state;
	assert_int_equal(names_new(&n), 0);
	assert_int_equal(names_put(n, "", 0), 0);
	assert_int_equal(names_put(n, "?", 1), NAMES_UNKNOWN);
	a = names_put(n, "ab\0c", 4);
	assert_int_equal(names_put(n, "ab\0c", 4), a);
	assert_int_not_equal(names_put(n, "ab", 2), a);
	assert_memory_equal(names_get(n, a, &len), "ab\0c", 4);
	assert_int_equal(len, 4);
	assert_memory_equal(names_get(n, 99999, &len), "?", 1);
	/* cut on a character's boundary: the cap falls on the second byte of a two-byte one */
	memset(big, 'x', sizeof(big));
	memcpy(big + NAMES_LEN_MAX - 1, "\xc3\xa9", 2);
	cut = names_put(n, big, sizeof(big));
	names_get(n, cut, &len);
	assert_int_equal(len, NAMES_LEN_MAX - 1);
	for (uint32_t i = 0; i < NAMES_MAX; i++) {
		int l = snprintf(buf, sizeof(buf), "n%u", i);
		uint32_t name = names_put(n, buf, (size_t)l);

		if (name != NAMES_UNKNOWN)
			assert_memory_equal(names_get(n, name, &len), buf, (size_t)l);
	}
	assert_int_equal(names_over_cap(n), 5); /* the five put before took their places */
	assert_int_equal(names_put(n, "ab\0c", 4), a);
	names_free(n);
	names_free(NULL);
}

static void test_addrs(void **state)
{
	const uint64_t first[] = {9, 3, 0, 9, 7};
	struct addrs *a = NULL;
	const uint64_t *sorted;
	size_t cnt;

	(void)state;
	assert_int_equal(addrs_new(&a), 0);
	addrs_add(a, first, 5);
	sorted = addrs_sorted(a, &cnt);
	assert_int_equal(cnt, 3);
	assert_true(sorted[0] == 3 && sorted[1] == 7 && sorted[2] == 9);
	addrs_add(a, first, 5);
	addrs_sorted(a, &cnt);
	assert_int_equal(cnt, 3);
	addrs_clear(a);
	for (uint64_t i = 1; i <= ADDRS_MAX + 10; i++)
		addrs_add(a, &i, 1);
	sorted = addrs_sorted(a, &cnt);
	assert_int_equal(cnt, ADDRS_MAX);
	for (size_t i = 1; i < cnt; i++)
		assert_true(sorted[i - 1] < sorted[i]);
	assert_int_equal(addrs_over_cap(a), 10);
	addrs_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_array),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_cap),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_addrs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
