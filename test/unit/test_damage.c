// SPDX-License-Identifier: Apache-2.0
/* Decoder on bytes that are no trace, or no longer one: each error is named, at its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_fixture.h"

/* Feed bytes written out by hand behind a header; what is the end, after how many events? */
static int end_of(const void *bytes, size_t sz, const struct d9_dec_opt *opt, uint64_t *ret_off,
		  uint64_t *ret_events)
{
	void *p = fixture_guard(bytes, sz);
	struct d9_dec *dec;
	struct d9_ev ev;
	int rc;

	assert_int_equal(d9_dec_new(&dec, opt), 0);
	assert_int_equal(d9_dec_feed(dec, "TRC\0\x01", 5), 0);
	assert_int_equal(d9_dec_next(dec, &ev), 0);
	assert_int_equal(d9_dec_feed(dec, p, sz), 0);
	while ((rc = d9_dec_next(dec, &ev)) == 1)
		;
	if (!rc)
		rc = d9_dec_end(dec);
	assert_int_equal(d9_dec_end(dec), rc);
	if (rc && rc != -D9_E_TRUNCATED) {
		assert_int_equal(d9_dec_next(dec, &ev), rc);
		assert_int_equal(d9_dec_feed(dec, "x", 1), rc);
	}
	if (ret_off)
		*ret_off = d9_dec_off(dec);
	if (ret_events)
		*ret_events = d9_dec_stats(dec)->events;
	d9_dec_free(dec);
	fixture_unguard(p, sz);
	return rc;
}

#define END(bytes) end_of(bytes, sizeof(bytes) - 1, NULL, NULL, NULL)

static void damage_is_named(void **state)
{
	(void)state;
	assert_int_equal(END(""), 0);
	assert_int_equal(END("\x07"), -D9_E_TAG);
	assert_int_equal(END("\0"), -D9_E_TAG);
	assert_int_equal(END("TRX"), -D9_E_TAG);
	assert_int_equal(END("TRC"), -D9_E_TRUNCATED);
	assert_int_equal(END("TRC\0\x02"), -D9_E_VERSION);
	assert_int_equal(END(FIXTURE_EVENT), -D9_E_NO_SCHEMA);
	assert_int_equal(END(FIXTURE_SCHEMA("\x10")), -D9_E_TYPE);
	assert_int_equal(END(FIXTURE_SCHEMA("\0")), -D9_E_TYPE);
	assert_int_equal(END(FIXTURE_SCHEMA("\x80")), -D9_E_TYPE);
	assert_int_equal(END(FIXTURE_SCHEMA("\x09") FIXTURE_SCHEMA("\x09")), 0);
	assert_int_equal(END(FIXTURE_SCHEMA("\x09") FIXTURE_SCHEMA("\x0b")), -D9_E_REDEFINED);
	assert_int_equal(END(FIXTURE_SCHEMA("\x09") "TRC\0\x01" FIXTURE_SCHEMA("\x0b")), 0);
	assert_int_equal(END(FIXTURE_SCHEMA("\x09") "TRC\0\x01" FIXTURE_EVENT "\x01"), -D9_E_NO_SCHEMA);
	assert_int_equal(END(FIXTURE_SCHEMA("\x09") FIXTURE_EVENT), -D9_E_TRUNCATED);
	assert_int_equal(END(FIXTURE_SCHEMA("\x09") FIXTURE_EVENT "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0);
	assert_int_equal(END(FIXTURE_SCHEMA("\x09") FIXTURE_EVENT "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
			 -D9_E_VARINT);
	assert_int_equal(END(FIXTURE_SCHEMA("\x09") FIXTURE_EVENT "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80"),
			 -D9_E_VARINT);
	assert_int_equal(END(FIXTURE_SCHEMA("\x04") FIXTURE_EVENT "\xff\xff\xff\xff"), -D9_E_LIMIT);
	assert_int_equal(END(FIXTURE_SCHEMA("\x04") FIXTURE_EVENT "\x02\0\0\0x"), -D9_E_TRUNCATED);
	assert_int_equal(END(FIXTURE_SCHEMA("\x08") FIXTURE_EVENT "\xff\xff\xff\x1f"), -D9_E_LIMIT);
	assert_int_equal(END(FIXTURE_SCHEMA("\x0a") FIXTURE_EVENT "\xff\xff\xff\xff"), -D9_E_LENGTH);
	assert_int_equal(END(FIXTURE_SCHEMA("\x0e") FIXTURE_EVENT "\x01\0\0\0\x89\0"), -D9_E_TYPE);
	assert_int_equal(END("\x05\xff\xff\xff\xff\xff\xff\xff\xff" FIXTURE_SCHEMA("\x09") FIXTURE_EVENT "\x01"),
			 -D9_E_TIME);
	assert_int_equal(END("\x03\x01\0\0\0\x01\0\0\0\xff\xff\xff\xff"), -D9_E_LIMIT);
	assert_int_equal(END("\x03\x02\0\0\0\x01\0\0\0\0\0\0\0"), -D9_E_TRUNCATED);
	assert_int_equal(END("\x04\xff\xff\xff\xff"), -D9_E_TRUNCATED);
	assert_int_equal(END("\x04\0\0\0\0\x03\0\0\0\0"), 0);
	assert_int_equal(END("\x06\x63\x01\0\0\0\x01\0k\x01\0\0\0v"), 0);
	assert_int_equal(END("\x06\x63\x01\0\0\0\x01\0k\xff\xff\xff\xff"), -D9_E_LIMIT);
}

static void damage_has_its_place(void **state)
{
	static const char bytes[] = FIXTURE_SCHEMA("\x09") FIXTURE_EVENT "\x01" FIXTURE_EVENT "\x02"
							 "\x09" FIXTURE_EVENT "\x03";
	uint64_t off, events;

	(void)state;
	assert_int_equal(end_of(bytes, sizeof(bytes) - 1, NULL, &off, &events), -D9_E_TAG);
	assert_int_equal(events, 2);
	assert_int_equal(off, 5 + sizeof(FIXTURE_SCHEMA("\x09")) - 1 + 14);
}

static void other_files_are_no_traces(void **state)
{
	char *got;

	(void)state;
	got = fixture_text("PK\x03\x04", 4, 0);
	assert_non_null(strstr(got, d9_strerror(-D9_E_MAGIC)));
	free(got);
	got = fixture_text("", 0, 0);
	assert_non_null(strstr(got, d9_strerror(-D9_E_TRUNCATED)));
	free(got);
}

static void deep_nesting_is_refused(void **state)
{
	uint8_t bytes[512], *p = bytes;
	size_t head = sizeof(FIXTURE_SCHEMA("\x0e") FIXTURE_EVENT) - 1;

	(void)state;
	memcpy(p, FIXTURE_SCHEMA("\x0e") FIXTURE_EVENT, head);
	for (unsigned int depth = 1; depth < D9_NEST_MAX + 4; depth++) {
		int want = depth > D9_NEST_MAX + 1 ? -D9_E_DEPTH : 0;

		p = bytes + head;
		for (unsigned int i = 1; i < depth; i++, p += 5)
			memcpy(p, "\x01\0\0\0\x0e", 5);
		memcpy(p, "\0\0\0\0", 4);
		assert_int_equal(end_of(bytes, (size_t)(p + 4 - bytes), NULL, NULL, NULL), want);
	}
}

static void caps_hold(void **state)
{
	static const char three[] = "\x03\x03\0\0\0\x01\0\0\0\x01\0\0\0a\x02\0\0\0\x01\0\0\0b"
				    "\x03\0\0\0\x01\0\0\0c";
	struct d9_dec_opt opt = { .pool_cnt_max = 3 };

	(void)state;
	assert_int_equal(end_of(three, sizeof(three) - 1, &opt, NULL, NULL), 0);
	opt.pool_cnt_max = 2;
	assert_int_equal(end_of(three, sizeof(three) - 1, &opt, NULL, NULL), -D9_E_LIMIT);
	opt = (struct d9_dec_opt){ .pool_sz_max = 24 };
	assert_int_equal(end_of(three, sizeof(three) - 1, &opt, NULL, NULL), 0);
	opt.pool_sz_max = 23;
	assert_int_equal(end_of(three, sizeof(three) - 1, &opt, NULL, NULL), -D9_E_LIMIT);
	opt = (struct d9_dec_opt){ .unit_sz_max = 9 };
	assert_int_equal(end_of(three, sizeof(three) - 1, &opt, NULL, NULL), 0);
	opt.unit_sz_max = 8;
	assert_int_equal(end_of(three, sizeof(three) - 1, &opt, NULL, NULL), -D9_E_LIMIT);
	opt = (struct d9_dec_opt){ .schema_max = 1 };
	assert_int_equal(end_of(FIXTURE_SCHEMA("\x09"), 13, &opt, NULL, NULL), 0);
	assert_int_equal(end_of(FIXTURE_SCHEMA("\x09") "\x01\x06\0\x01\0E\x01\x01\0\x01\0f\x09", 26, &opt,
				NULL, NULL),
			 -D9_E_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_is_named),
		cmocka_unit_test(damage_has_its_place),
		cmocka_unit_test(other_files_are_no_traces),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(caps_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
