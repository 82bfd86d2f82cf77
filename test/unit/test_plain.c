// SPDX-License-Identifier: Apache-2.0
/* test_plain.c - hostile text, units, times. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check_write(const char *in, size_t sz, const char *want)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	plain_write(out, in, sz);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void test_write(void **state)
{
	(void)state;
	check_write("plain text", 10, "plain text");
	check_write("", 0, "");
	check_write("\x1b[2J", 4, "\\x1b[2J");
	check_write("a\nb\tc\rd\\e", 9, "a\\nb\\tc\\rd\\\\e");
	check_write("nul\0in", 6, "nul\\x00in");
	check_write("\x7f", 1, "\\x7f");
	check_write("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f"); /* UTF-8 passes */
	check_write("\xc2\x9b"
		    "31m",
		    5, "\\u{9b}31m"); /* CSI as a C1 control */
	check_write("\xe2\x80\xae", 3, "\\u{202e}"); /* right-to-left override */
	check_write("\xff\xfe", 2, "\\xff\\xfe");
	check_write("\xc0\x80", 2, "\\xc0\\x80"); /* overlong NUL */
	check_write("\xed\xa0\x80", 3, "\\xed\\xa0\\x80"); /* surrogate */
	check_write("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
	check_write("\xe2\x82", 2, "\\xe2\\x82"); /* cut off */
	check_write("\xf0\x9f\xa6\x80", 4, "\xf0\x9f\xa6\x80");
}

static void test_cut(void **state)
{
	char to[41];

	(void)state;
	assert_int_equal(plain_cut(to, sizeof(to), "short", 5, 10), 5);
	assert_string_equal(to, "short");
	assert_int_equal(plain_cut(to, sizeof(to), "0123456789", 10, 10), 10);
	assert_string_equal(to, "0123456789");
	assert_int_equal(plain_cut(to, sizeof(to), "0123456789a", 11, 10), 10);
	assert_string_equal(to, "..3456789a");
	/* an escape is left out whole, never cut */
	plain_cut(to, sizeof(to),
		  "ab\x1b"
		  "0123456789",
		  13, 10);
	assert_string_equal(to, "..23456789");
	plain_cut(to, sizeof(to),
		  "ab\x1b"
		  "0123456",
		  10, 10);
	assert_string_equal(to, "..0123456");
}

static void test_duration(void **state)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} cases[] = {
		{ 0, "0" },
		{ 1, "1 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 9994, "9.99 us" },
		{ 9996, "10.0 us" },
		{ 12345, "12.3 us" },
		{ 99960, "100 us" },
		{ 123456, "123 us" },
		{ 999499, "999 us" },
		{ 999500, "1.00 ms" },
		{ 1234567, "1.23 ms" },
		{ 999600000, "1.00 s" },
		{ 61000000000, "61.0 s" },
		{ 86400000000000, "86400 s" },
	};
	char to[PLAIN_SZ];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(plain_duration(to, cases[i].ns), cases[i].want);
	assert_true(strlen(plain_duration(to, UINT64_MAX)) < PLAIN_SZ);
}

static void test_share_and_size(void **state)
{
	char to[PLAIN_SZ];

	(void)state;
	assert_string_equal(plain_share(to, 1, 3), "33.3 %");
	assert_string_equal(plain_share(to, 0, 0), "-");
	assert_string_equal(plain_size(to, 1023), "1023 B");
	assert_string_equal(plain_size(to, 1536), "1.50 KiB");
	assert_string_equal(plain_size(to, 5ull << 40), "5.00 TiB");
}

static void test_read_time(void **state)
{
	static const char *const bad[] = { "",
					   "+",
					   "-1",
					   "1x",
					   " 1",
					   "1.5",
					   "1.5ns",
					   "s",
					   "1 s",
					   "1e9",
					   "0x10",
					   "++1",
					   "18446744073709551616",
					   "18446744073709551615s" };
	static const struct {
		const char *text;
		uint64_t ns;
		bool relative;
	} good[] = {
		{ "0", 0, false },
		{ "123456", 123456, false },
		{ "+1.5s", 1500000000, true },
		{ "+20ms", 20000000, true },
		{ "+0.25us", 250, true },
		{ "2.0000000019s", 2000000001, false },
		{ "18446744073709551615", UINT64_MAX, false },
	};
	uint64_t ns;
	bool relative;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(plain_read_time(bad[i], &ns, &relative), -EINVAL);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(plain_read_time(good[i].text, &ns, &relative), 0);
		assert_true(ns == good[i].ns);
		assert_int_equal(relative, good[i].relative);
	}
}

static void test_cut_type(void **state)
{
	char to[64];

	(void)state;
	plain_cut_type(to, sizeof(to), "aaaaaaaaaaaa | bbbbbbbbbbbb", 27, 15);
	assert_string_equal(to, "aa..aa | bb..bb"); /* (15 - 3) / 2 = 6 each, 2 of them in front */
	plain_cut_type(to, sizeof(to), "a | b | c | d", 13, 15);
	assert_string_equal(to, "a or 3 others");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),	  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_duration),  cmocka_unit_test(test_share_and_size),
		cmocka_unit_test(test_read_time), cmocka_unit_test(test_cut_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
