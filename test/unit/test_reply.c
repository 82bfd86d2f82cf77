// SPDX-License-Identifier: Apache-2.0
/* test_reply.c - which coding a client gets, and that it decodes to the same. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/reply.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

static void test_choose(void **state)
{
	static const struct {
		const char *accept;
		enum reply_coding coding;
	} cases[] = {
		{ NULL, REPLY_IDENTITY },
		{ "", REPLY_IDENTITY },
		{ "br, deflate", REPLY_IDENTITY },
		{ "gzip", REPLY_GZIP },
		{ "gzip, deflate, br, zstd", REPLY_ZSTD },
		{ " ZSTD ;q=0.1 ", REPLY_ZSTD },
		{ "zstd;q=0, gzip", REPLY_GZIP },
		{ "zstd;q=0.000,gzip; q=0.0", REPLY_IDENTITY },
		{ "zstd; q=0.001", REPLY_ZSTD },
		{ "xzstd, zstdx, gzipped", REPLY_IDENTITY },
		{ ",,,zstd", REPLY_ZSTD },
		{ ";;;", REPLY_IDENTITY },
		{ "zstd;", REPLY_ZSTD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(reply_choose(cases[i].accept), cases[i].coding);
}

static void test_encode(void **state)
{
	static char body[100000], back[sizeof(body)];
	size_t sz;
	uLongf back_sz = sizeof(back);
	z_stream z = { 0 };
	char *packed;

	(void)state;
	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = (char)('a' + i * i % 7);
	assert_null(reply_encode(REPLY_IDENTITY, body, sizeof(body), &sz));
	packed = reply_encode(REPLY_ZSTD, body, sizeof(body), &sz);
	assert_non_null(packed);
	assert_true(sz < sizeof(body));
	assert_int_equal(ZSTD_decompress(back, sizeof(back), packed, sz), sizeof(body));
	assert_memory_equal(back, body, sizeof(body));
	free(packed);
	packed = reply_encode(REPLY_GZIP, body, sizeof(body), &sz);
	assert_non_null(packed);
	memset(back, 0, sizeof(back));
	z.next_in = (Bytef *)packed;
	z.avail_in = (uInt)sz;
	z.next_out = (Bytef *)back;
	z.avail_out = (uInt)back_sz;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, sizeof(body));
	inflateEnd(&z);
	assert_memory_equal(back, body, sizeof(body));
	free(packed);
}

static void test_what_does_not_shrink_goes_as_it_is(void **state)
{
	static char noise[4096];
	uint64_t x = 88172645463325252u;
	size_t sz = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(noise); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		noise[i] = (char)x;
	}
	assert_null(reply_encode(REPLY_ZSTD, noise, sizeof(noise), &sz));
	assert_null(reply_encode(REPLY_GZIP, noise, sizeof(noise), &sz));
	assert_null(reply_encode(REPLY_ZSTD, "aaaaaaaaaaaaaaaa", 16, &sz));
	assert_int_equal(sz, 7);
}

static void test_error_is_json_whatever_it_says(void **state)
{
	struct reply r = { .status = 200, .type = "x", .body = strdup("old"), .body_sz = 3 };

	(void)state;
	reply_error(&r, 404, "no \"such\" \x01\xff thing");
	assert_int_equal(r.status, 404);
	assert_string_equal(r.type, "application/json");
	assert_int_equal(r.body_sz, strlen(r.body));
	assert_string_equal(r.body, "{\"error\":\"no \\\"such\\\" \\u0001\xef\xbf\xbd thing\"}\n");
	free(r.body);
	/* what is nobody's is not freed */
	r = (struct reply){ .body = (char[]){ "static" }, .body_sz = 6, .is_static = true };
	reply_error(&r, 500, "x");
	assert_string_equal(r.body, "{\"error\":\"x\"}\n");
	assert_false(r.is_static);
	free(r.body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_encode),
		cmocka_unit_test(test_what_does_not_shrink_goes_as_it_is),
		cmocka_unit_test(test_error_is_json_whatever_it_says),
	};

	return cmocka_run_group_tests_name("reply", tests, NULL, NULL);
}
