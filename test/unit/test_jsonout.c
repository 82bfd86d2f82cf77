// SPDX-License-Identifier: Apache-2.0
/* test_jsonout.c - valid JSON whatever goes in. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/jsonout.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t text_sz;

static struct json *begin(FILE **ret_out)
{
	struct json *j;

	*ret_out = open_memstream(&text, &text_sz);
	assert_non_null(*ret_out);
	j = json_open(*ret_out, false);
	assert_non_null(j);
	return j;
}

static void end(struct json *j, FILE *out, const char *want)
{
	assert_int_equal(json_close(j), 0);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void test_values(void **state)
{
	FILE *out;
	struct json *j = begin(&out);

	(void)state;
	json_map(j);
	json_put_u64(j, "max", UINT64_MAX);
	json_key(j, "min");
	json_i64(j, INT64_MIN);
	json_key(j, "list");
	json_list(j);
	json_f64(j, 0.1);
	json_f64(j, NAN);
	json_f64(j, INFINITY);
	json_f64(j, 1e300);
	json_bool(j, true);
	json_null(j);
	json_list_end(j);
	json_map_end(j);
	json_line(j);
	json_text(j, "second document");
	json_line(j);
	end(j, out,
	    "{\"max\":18446744073709551615,\"min\":-9223372036854775808,"
	    "\"list\":[0.1,null,null,1e+300,true,null]}\n\"second document\"\n");
}

static void test_strings(void **state)
{
	FILE *out;
	struct json *j = begin(&out);

	(void)state;
	json_list(j);
	json_bytes(j, "", 0);
	json_bytes(j, NULL, 0);
	json_bytes(j, "a\"b\\c\n\x1b", 7);
	json_bytes(j,
		   "\xff"
		   "a\xe2\x82",
		   4); /* no UTF-8: one U+FFFD for each bad byte */
	json_bytes(j, "nul\0in", 6);
	json_hex(j, (const uint8_t *)"\x00\xff", 2);
	json_list_end(j);
	end(j, out,
	    "[\"\",\"\",\"a\\\"b\\\\c\\n\\u001B\",\"\xef\xbf\xbd"
	    "a\xef\xbf\xbd\xef\xbf\xbd\","
	    "\"nul\\u0000in\",\"00ff\"]");
}

static void test_a_failed_write_is_told(void **state)
{
	FILE *out = fopen("/dev/full", "w");
	struct json *j = json_open(out, true);

	(void)state;
	json_text(j, "x");
	assert_int_equal(json_close(j), -ENOSPC);
	fclose(out);
	assert_int_equal(json_close(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_a_failed_write_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
