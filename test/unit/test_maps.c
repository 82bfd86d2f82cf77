// SPDX-License-Identifier: Apache-2.0
#include "maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int parse(const char *line, struct maps_entry *e)
{
	return maps_parse(line, strlen(line), e);
}

static void test_plain(void **state)
{
	struct maps_entry e;

	(void)state;
	assert_int_equal(parse("55d0c0a00000-55d0c0a2d000 r-xp 0002c000 fe:01 1234567"
			       "                    /usr/bin/a b",
			       &e),
			 0);
	assert_int_equal(e.start, 0x55d0c0a00000);
	assert_int_equal(e.end, 0x55d0c0a2d000);
	assert_int_equal(e.off, 0x2c000);
	assert_int_equal(e.dev_major, 0xfe);
	assert_int_equal(e.dev_minor, 1);
	assert_int_equal(e.ino, 1234567);
	assert_true(e.is_exec);
	assert_false(e.is_deleted);
	assert_int_equal(e.path_len, strlen("/usr/bin/a b"));
	assert_memory_equal(e.path, "/usr/bin/a b", e.path_len);
}

static void test_odd_paths(void **state)
{
	struct maps_entry e;

	(void)state;
	assert_int_equal(parse("1000-2000 r--p 00000000 00:01 9 /memfd:x (deleted)", &e), 0);
	assert_true(e.is_deleted);
	assert_false(e.is_exec);
	assert_memory_equal(e.path, "/memfd:x", e.path_len);
	assert_int_equal(e.path_len, 8);
	/* a file that is really called so, with a newline as the kernel writes it */
	assert_int_equal(parse("1000-2000 r-xp 0 00:01 9 /a\\012b (deleted)x", &e), 0);
	assert_false(e.is_deleted);
	assert_int_equal(parse("1000-2000 r-xp 00000000 00:00 0 ", &e), 0);
	assert_int_equal(e.path_len, 0);
	assert_int_equal(e.ino, 0);
	assert_int_equal(parse("7ffd1000-7ffd3000 r-xp 00000000 00:00 0    [vdso]", &e), 0);
	assert_memory_equal(e.path, "[vdso]", 6);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"-",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 ",
		"2000-1000 r-xp 0 0:0 0",
		"1000-1000 r-xp 0 0:0 0",
		"1000-2000 r-xp",
		"1000-2000 r-xp 0",
		"1000-2000 r-xp 0 0",
		"1000-2000 r-xp 0 0:0 x",
		"g000-2000 r-xp 0 0:0 0",
		"1000-2000 r-xp0 0:0 0",
		"11111111111111111-22222222222222222 r-xp 0 0:0 0",
		"1000-2000 r-xp 0 0:0 99999999999999999999",
		"1000-2000 r-xp 0 1ffffffff:0 0",
	};
	struct maps_entry e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], &e), -EINVAL);
}

/* every prefix of a line is parsed within its bounds (a heap block, for ASan) */
static void test_cut(void **state)
{
	static const char line[] = "1000-2000 r-xp 00000000 00:01 9 /memfd:x (deleted)";
	struct maps_entry e;

	(void)state;
	for (size_t n = 0; n < sizeof(line); n++) {
		char *cut = malloc(n ? n : 1);

		assert_non_null(cut);
		memcpy(cut, line, n);
		maps_parse(cut, n, &e);
		free(cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_odd_paths),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
