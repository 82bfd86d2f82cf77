// SPDX-License-Identifier: Apache-2.0
/* event: bytes from a ring are a record only if kind and size agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include <linux/types.h>

#include "agent/event.h"
#include "bpf/wire.h"

static void every_kind_has_a_name_and_a_size(void **state)
{
	__u64 bytes[sizeof(struct wire_tls) / 8 + 8] = { 0 };
	struct wire_head *head = (struct wire_head *)bytes;

	(void)state;
	for (int kind = 1; kind < WIRE_KIND_CNT; kind++) {
		size_t fitting = 0;

		head->kind = (__u8)kind;
		assert_string_not_equal(event_name(kind), "?");
		for (size_t sz = 0; sz <= sizeof(bytes); sz++)
			fitting += event_check(bytes, sz) != NULL;
		assert_int_equal(fitting, 1);
	}
}

static void unknown_kinds_are_refused(void **state)
{
	__u64 bytes[64] = { 0 };
	struct wire_head *head = (struct wire_head *)bytes;

	(void)state;
	for (int kind = 0; kind < 256; kind++) {
		if (kind >= 1 && kind < WIRE_KIND_CNT)
			continue;
		head->kind = (__u8)kind;
		for (size_t sz = 0; sz <= sizeof(bytes); sz += 8)
			assert_null(event_check(bytes, sz));
		assert_string_equal(event_name(kind), "?");
	}
}

static void the_frame_count_must_match_the_size(void **state)
{
	__u64 bytes[6 + WIRE_FRAMES_MAX + 2] = { 0 };
	struct wire_switch_out *out = (struct wire_switch_out *)bytes;
	struct wire_cpu_sample *sample = (struct wire_cpu_sample *)bytes;

	(void)state;
	out->head.kind = WIRE_SWITCH_OUT;
	out->frames_cnt = 3;
	assert_non_null(event_check(bytes, sizeof(*out) + 24));
	assert_null(event_check(bytes, sizeof(*out) + 16));
	assert_null(event_check(bytes, sizeof(*out) + 32));
	out->frames_cnt = WIRE_FRAMES_MAX;
	assert_non_null(event_check(bytes, sizeof(*out) + WIRE_FRAMES_MAX * 8));
	out->frames_cnt = WIRE_FRAMES_MAX + 1;
	assert_null(event_check(bytes, sizeof(*out) + (WIRE_FRAMES_MAX + 1) * 8));
	out->frames_cnt = 0xffff;
	assert_null(event_check(bytes, sizeof(bytes)));
	memset(bytes, 0, sizeof(bytes));
	sample->head.kind = WIRE_CPU_SAMPLE;
	sample->frames_cnt = 1;
	assert_non_null(event_check(bytes, sizeof(*sample) + 8));
	assert_null(event_check(bytes, sizeof(*sample)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_a_name_and_a_size),
		cmocka_unit_test(unknown_kinds_are_refused),
		cmocka_unit_test(the_frame_count_must_match_the_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
