// SPDX-License-Identifier: Apache-2.0
/* test_html.c - no byte of a name is markup. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/html.h"

#include <stdlib.h>
#include <string.h>

static char *escaped(const char *p, size_t len)
{
	char *text = NULL;
	size_t sz = 0;
	FILE *f = open_memstream(&text, &sz);

	assert_non_null(f);
	html_bytes(f, p, len);
	fclose(f);
	return text;
}

static void test_markup_is_text(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "a b", "a b" },
		{ "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;" },
		{ "\"><img src=x onerror='y'>", "&quot;&gt;&lt;img src=x onerror=&#39;y&#39;&gt;" },
		{ "&lt;", "&amp;lt;" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\x1b[31m", "\\x1b[31m" },
		{ "\xe2\x80\xae", "\\u{202e}" },
		{ "\xff<", "\\xff&lt;" },
		{ "a\\b", "a\\\\b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = escaped(cases[i].in, strlen(cases[i].in));

		assert_string_equal(got, cases[i].out);
		free(got);
	}
}

static void test_every_byte(void **state)
{
	(void)state;
	for (int c = 0; c < 256; c++) {
		char byte = (char)c, *got = escaped(&byte, 1);

		assert_null(strpbrk(got, "<>\"'"));
		assert_true(*got);
		for (const char *p = got; *p; p++)
			assert_true((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markup_is_text),
		cmocka_unit_test(test_every_byte),
	};

	return cmocka_run_group_tests_name("html", tests, NULL, NULL);
}
