// SPDX-License-Identifier: Apache-2.0
/* test_metadata.c - set, replace, lists, caps, the keys of a process. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/log.h"
#include "agent/metadata.h"

static struct metadata *m;

static int setup(void **state)
{
	(void)state;
	log_set_level(LOG_ERROR);
	return metadata_new(&m);
}

static int teardown(void **state)
{
	(void)state;
	metadata_free(m);
	return 0;
}

static void test_set(void **state)
{
	uint64_t version;
	uint32_t cnt;
	size_t sz;

	(void)state;
	assert_int_equal(metadata_set(m, "a", "1"), 0);
	assert_int_equal(metadata_setf(m, "bb", "%d", 22), 0);
	version = metadata_version(m);
	assert_int_equal(metadata_set(m, "a", "1"), 0);
	assert_int_equal(metadata_version(m), version);
	assert_int_equal(metadata_set(m, "a", "333"), 0);
	assert_int_not_equal(metadata_version(m), version);
	assert_string_equal(metadata_get(m, "a"), "333");
	assert_string_equal(metadata_get(m, "bb"), "22");
	assert_null(metadata_get(m, "c"));
	metadata_pairs(m, &cnt, &sz);
	assert_int_equal(cnt, 2);
	assert_int_equal(sz, 1 + 3 + 2 + 2);
}

static void test_lists(void **state)
{
	(void)state;
	metadata_add(m, "k", "aa");
	metadata_add(m, "k", "a");
	metadata_add(m, "k", "b");
	metadata_add(m, "k", "a");
	assert_string_equal(metadata_get(m, "k"), "aa,a,b");
	metadata_drop(m, "k", "x");
	metadata_drop(m, "none", "x");
	metadata_drop(m, "k", "a");
	assert_string_equal(metadata_get(m, "k"), "aa,b");
	metadata_drop(m, "k", "b");
	assert_string_equal(metadata_get(m, "k"), "aa");
	metadata_add(m, "k", "c");
	metadata_drop(m, "k", "aa");
	assert_string_equal(metadata_get(m, "k"), "c");
	metadata_drop(m, "k", "c");
	assert_string_equal(metadata_get(m, "k"), "");
	metadata_add(m, "k", "d");
	assert_string_equal(metadata_get(m, "k"), "d");
}

static void test_caps(void **state)
{
	char key[METADATA_KEY_SZ + 1], *big = calloc(1, METADATA_SZ_MAX + 1);

	(void)state;
	assert_non_null(big);
	memset(key, 'k', METADATA_KEY_SZ);
	key[METADATA_KEY_SZ] = 0;
	assert_int_equal(metadata_set(m, "", "v"), -EINVAL);
	assert_int_equal(metadata_set(m, key, "v"), -EINVAL);
	memset(big, 'v', METADATA_SZ_MAX);
	assert_int_equal(metadata_set(m, "k", big), -ENOSPC);
	big[METADATA_SZ_MAX - 1] = 0;
	assert_int_equal(metadata_set(m, "k", big), 0);
	assert_int_equal(metadata_set(m, "l", ""), -ENOSPC);
	assert_int_equal(metadata_set(m, "k", "small"), 0);
	for (int i = 1; i < METADATA_ENTRIES_MAX; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_int_equal(metadata_set(m, key, "v"), 0);
	}
	assert_int_equal(metadata_set(m, "one more", "v"), -ENOSPC);
	assert_int_equal(metadata_set(m, "k7", "w"), 0);
	free(big);
}

static void test_process(void **state)
{
	(void)state;
	assert_int_equal(metadata_set_process(m, 42, 250, "svc", "abcd-42", "0.1.0"), 0);
	assert_string_equal(metadata_get(m, "process.pid"), "42");
	assert_string_equal(metadata_get(m, "process.start_time"), "2500000000"); /* 100 Hz ticks */
	assert_string_equal(metadata_get(m, "service_name"), "svc");
	assert_string_equal(metadata_get(m, "boot_id"), "abcd-42");
	assert_string_equal(metadata_get(m, "agent.version"), "0.1.0");
	assert_string_equal(metadata_get(m, "tokio.poll_coverage"), "all");
	/* both clocks were read at one moment: the offset is not negative by more than a blink */
	assert_true(atoll(metadata_get(m, "clock.boottime_offset_ns")) > -1000000);
	assert_true(atoi(metadata_get(m, "process.available_parallelism")) >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_set),
		T(test_lists),
		T(test_caps),
		T(test_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
