// SPDX-License-Identifier: Apache-2.0
/* Pools of the encoder: each string and stack once a batch, full pools, no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "trace_fixture.h"

static uint8_t buf[4096];

static void strings_and_stacks_are_written_once(void **state)
{
	static const uint64_t frames[] = { 1, 2, 3 };
	uint32_t a, b, c, s, t;
	struct d9_enc enc;
	size_t len;

	fixture_enc(&enc, buf, sizeof(buf), *state);
	assert_int_equal(d9_intern_str(&enc, "abc", 3, &a), 0);
	assert_int_equal(d9_intern_str(&enc, "abd", 3, &b), 0);
	assert_int_equal(d9_intern_str(&enc, "", 0, &c), 0);
	assert_int_equal(d9_intern_stack(&enc, frames, 3, &s), 0);
	assert_true(a != b && b != c && a != c);
	len = enc.len;
	assert_int_equal(d9_intern_str(&enc, "abc", 3, &t), 0);
	assert_int_equal(t, a);
	assert_int_equal(d9_intern_str(&enc, "", 0, &t), 0);
	assert_int_equal(t, c);
	assert_int_equal(d9_intern_stack(&enc, frames, 3, &t), 0);
	assert_int_equal(t, s);
	assert_int_equal(enc.len, len);
	assert_int_equal(d9_intern_stack(&enc, frames, 2, &t), 0);
	assert_int_equal(enc.len, len + 13 + 16);
	/* a new batch knows none of it */
	assert_int_equal(d9_enc_begin(&enc), 0);
	len = enc.len;
	assert_int_equal(d9_intern_str(&enc, "abd", 3, &t), 0);
	assert_int_equal(enc.len, len + 13 + 3);
}

static void full_pool_says_so_and_recovers(void **state)
{
	struct d9_pool *pool = d9_pool_new(4, 3, 64);
	uint64_t frame = 1;
	struct d9_enc enc;
	uint32_t id;
	size_t len;

	(void)state;
	fixture_enc(&enc, buf, sizeof(buf), pool);
	for (int i = 0; i < 4; i++)
		assert_int_equal(d9_intern_str(&enc, &"abcd"[i], 1, &id), 0);
	len = enc.len;
	assert_int_equal(d9_intern_str(&enc, "e", 1, &id), -D9_E_POOL_FULL);
	assert_int_equal(enc.len, len);
	assert_int_equal(d9_intern_str(&enc, "b", 1, &id), 0);
	for (; frame < 4; frame++)
		assert_int_equal(d9_intern_stack(&enc, &frame, 1, &id), 0);
	assert_int_equal(d9_intern_stack(&enc, &frame, 1, &id), -D9_E_POOL_FULL);
	assert_int_equal(d9_enc_begin(&enc), 0);
	assert_int_equal(d9_intern_str(&enc, "e", 1, &id), 0);
	/* the arena is the other limit */
	assert_int_equal(d9_intern_str(&enc, (const char *)buf, 64, &id), -D9_E_POOL_FULL);
	assert_int_equal(d9_intern_str(&enc, (const char *)buf, 63, &id), 0);
	d9_pool_free(pool);
}

static void interning_without_room_leaves_no_trace(void **state)
{
	struct d9_enc enc;
	uint32_t id = 99;
	size_t len;

	fixture_enc(&enc, buf, sizeof(buf), *state);
	len = enc.len;
	enc.cap = len + 13 + 2;
	assert_int_equal(d9_intern_str(&enc, "abc", 3, &id), -D9_E_ROOM);
	assert_int_equal(enc.len, len);
	assert_int_equal(id, 99);
	enc.cap = sizeof(buf);
	assert_int_equal(d9_intern_str(&enc, "abc", 3, &id), 0);
	assert_int_equal(enc.len, len + 13 + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_and_stacks_are_written_once),
		cmocka_unit_test(full_pool_says_so_and_recovers),
		cmocka_unit_test(interning_without_room_leaves_no_trace),
	};

	return cmocka_run_group_tests(tests, fixture_pool, fixture_pool_free);
}
