// SPDX-License-Identifier: Apache-2.0
/* Generic encoder: values that do not fit their field, names and counts beyond the caps, no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/trace.h"

static uint8_t buf[8192];

static struct d9_enc enc_new(void)
{
	struct d9_enc enc;

	d9_enc_init(&enc, buf, sizeof(buf), NULL);
	assert_int_equal(d9_enc_begin(&enc), 0);
	return enc;
}

static int put_one(uint8_t type, struct d9_value v)
{
	struct d9_any_field field = { "f", type };
	struct d9_any_def def = { .type_id = 64, .name = "E", .field_cnt = 1, .fields = &field };
	struct d9_enc enc = enc_new();
	size_t len;
	int rc;

	assert_int_equal(d9_put_any_schema(&enc, &def), 0);
	len = enc.len;
	rc = d9_put_any(&enc, 5, &def, &v);
	assert_int_equal(enc.len > len, rc == 0);
	return rc;
}

static void values_must_fit(void **state)
{
	static const uint8_t map[] = "\x01\0\0\0k\x02\0\0\0vv";

	(void)state;
	assert_int_equal(put_one(D9_T_U8, (struct d9_value){ .type = D9_T_U8, .u = 255 }), 0);
	assert_int_equal(put_one(D9_T_U8, (struct d9_value){ .type = D9_T_U8, .u = 256 }),
			 -D9_E_BAD_VALUE);
	assert_int_equal(put_one(D9_T_U16, (struct d9_value){ .type = D9_T_U16, .u = 65536 }),
			 -D9_E_BAD_VALUE);
	assert_int_equal(put_one(D9_T_U32, (struct d9_value){ .type = D9_T_U32, .u = 1ull << 32 }),
			 -D9_E_BAD_VALUE);
	assert_int_equal(put_one(D9_T_BOOL, (struct d9_value){ .type = D9_T_BOOL, .u = 2 }),
			 -D9_E_BAD_VALUE);
	assert_int_equal(put_one(D9_T_U8, (struct d9_value){ .type = D9_T_VARINT, .u = 1 }),
			 -D9_E_BAD_VALUE);
	assert_int_equal(put_one(D9_T_VARINT, (struct d9_value){ .type = D9_T_NONE }),
			 -D9_E_BAD_VALUE);
	assert_int_equal(
		put_one(D9_T_VARINT | D9_T_OPTIONAL, (struct d9_value){ .type = D9_T_NONE }), 0);
	for (uint32_t sz = 0; sz < sizeof(map); sz++)
		assert_int_equal(put_one(D9_T_MAP, (struct d9_value){ .type = D9_T_MAP,
								      .cnt = 1,
								      .sz = sz,
								      .bytes = map }),
				 sz == sizeof(map) - 1 ? 0 : -D9_E_BAD_VALUE);
	assert_int_equal(put_one(D9_T_MAP, (struct d9_value){ .type = D9_T_MAP,
							      .cnt = 2,
							      .sz = sizeof(map) - 1,
							      .bytes = map }),
			 -D9_E_BAD_VALUE);
	assert_int_equal(
		put_one(D9_T_DYN_LIST, (struct d9_value){ .type = D9_T_DYN_LIST,
							  .cnt = 1,
							  .sz = 2,
							  .bytes = (const uint8_t *)"\x10\x01" }),
		-D9_E_BAD_VALUE);
}

static void definitions_must_fit(void **state)
{
	struct d9_any_field fields[D9_FIELD_MAX + 1];
	struct d9_any_def def = { .type_id = 64, .name = "E", .field_cnt = 1, .fields = fields };
	struct d9_enc enc = enc_new();
	size_t len = enc.len;
	char *name = malloc(D9_NAME_MAX + 2);

	(void)state;
	memset(name, 'n', D9_NAME_MAX + 1);
	name[D9_NAME_MAX + 1] = '\0';
	for (int i = 0; i < (int)D9_FIELD_MAX + 1; i++)
		fields[i] = (struct d9_any_field){ "f", D9_T_U8 };
	def.field_cnt = D9_FIELD_MAX + 1;
	assert_int_equal(d9_put_any_schema(&enc, &def), -D9_E_TOO_BIG);
	def.field_cnt = 1;
	def.name = name;
	assert_int_equal(d9_put_any_schema(&enc, &def), -D9_E_TOO_BIG);
	def.name = name + 1;
	assert_int_equal(d9_put_any_schema(&enc, &def), 0);
	enc.len = len;
	def.name = "E";
	fields[0].name = name;
	assert_int_equal(d9_put_any_schema(&enc, &def), -D9_E_TOO_BIG);
	fields[0] = (struct d9_any_field){ "f", D9_T_MAX + 1 };
	assert_int_equal(d9_put_any_schema(&enc, &def), -D9_E_TYPE);
	assert_int_equal(enc.len, len);
	free(name);
}

static void without_room_nothing_is_written(void **state)
{
	struct d9_any_field field = { "f", D9_T_U32 };
	struct d9_any_def def = { .type_id = 64, .name = "E", .field_cnt = 1, .fields = &field };
	struct d9_value v = { .type = D9_T_U32, .u = 7 };
	struct d9_annotation a = { 0, { "k", 1 }, { "v", 1 } };
	struct d9_enc enc = enc_new();
	uint64_t frame = 1;
	size_t len = enc.len;

	(void)state;
	enc.cap = len + 12;
	assert_int_equal(d9_put_any_schema(&enc, &def), -D9_E_ROOM);
	assert_int_equal(d9_put_any(&enc, 1, &def, &v), -D9_E_ROOM);
	assert_int_equal(d9_put_annotations(&enc, 64, &a, 1), -D9_E_ROOM);
	assert_int_equal(d9_put_pool_str(&enc, 1, "x", 1), -D9_E_ROOM);
	assert_int_equal(d9_put_pool_stack(&enc, 1, &frame, 1), -D9_E_ROOM);
	assert_int_equal(enc.len, len);
	assert_int_equal(enc.event_cnt, 0);
	enc.cap = len + 13;
	assert_int_equal(d9_put_any_schema(&enc, &def), 0);
	assert_int_equal(enc.len, enc.cap);
}

static void sizes_beyond_a_reader_are_refused(void **state)
{
	struct d9_annotation a = { 0, { "k", D9_NAME_MAX + 1 }, { "v", 1 } };
	struct d9_enc enc = enc_new();
	uint64_t frame = 1;

	(void)state;
	assert_int_equal(d9_put_annotations(&enc, 64, &a, 1), -D9_E_TOO_BIG);
	a = (struct d9_annotation){ 0, { "k", 1 }, { "v", D9_UNIT_MAX } };
	assert_int_equal(d9_put_annotations(&enc, 64, &a, 1), -D9_E_TOO_BIG);
	assert_int_equal(d9_put_annotations(&enc, 64, &a, UINT16_MAX + 1), -D9_E_TOO_BIG);
	assert_int_equal(d9_put_pool_str(&enc, 1, "x", D9_UNIT_MAX), -D9_E_TOO_BIG);
	assert_int_equal(d9_put_pool_stack(&enc, 1, &frame, D9_UNIT_MAX / 8), -D9_E_TOO_BIG);
	d9_enc_init(&enc, buf, sizeof(buf), NULL);
	assert_int_equal(d9_put_annotations(&enc, 64, &a, 0), -D9_E_STATE);
	assert_int_equal(d9_put_pool_str(&enc, 1, "x", 1), -D9_E_STATE);
	assert_int_equal(d9_put_pool_stack(&enc, 1, &frame, 1), -D9_E_STATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_must_fit),
		cmocka_unit_test(definitions_must_fit),
		cmocka_unit_test(without_room_nothing_is_written),
		cmocka_unit_test(sizes_beyond_a_reader_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
