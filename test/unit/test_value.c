// SPDX-License-Identifier: Apache-2.0
/* Values: numbers convert where they fit and only there; maps and lists walk; names have words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "format/trace.h"

static struct d9_value u64_of(uint64_t u)
{
	return (struct d9_value){ .type = D9_T_VARINT, .u = u };
}

static struct d9_value i64_of(int64_t i)
{
	return (struct d9_value){ .type = D9_T_I64, .i = i };
}

static struct d9_value f64_of(double f)
{
	return (struct d9_value){ .type = D9_T_F64, .f = f };
}

static void numbers_convert_where_they_fit(void **state)
{
	struct d9_value v;
	uint64_t u = 77;
	int64_t i = 77;
	double f = 77;

	(void)state;
	v = u64_of(UINT64_MAX);
	assert_true(d9_value_u64(&v, &u));
	assert_int_equal(u, UINT64_MAX);
	assert_false(d9_value_i64(&v, &i));
	assert_int_equal(i, 77);
	assert_true(d9_value_f64(&v, &f));
	assert_true(f == 18446744073709551615.0);

	v = i64_of(-1);
	assert_false(d9_value_u64(&v, &u));
	assert_true(d9_value_i64(&v, &i));
	assert_int_equal(i, -1);
	v = i64_of(INT64_MAX);
	assert_true(d9_value_u64(&v, &u));
	assert_int_equal(u, INT64_MAX);

	v = f64_of(3);
	assert_true(d9_value_u64(&v, &u));
	assert_int_equal(u, 3);
	for (int k = 0; k < 5; k++) {
		static const double odd[] = { 3.5, 1e300, NAN, INFINITY, -INFINITY };

		v = f64_of(odd[k]);
		assert_false(d9_value_u64(&v, &u));
		assert_false(d9_value_i64(&v, &i));
		assert_true(d9_value_f64(&v, &f));
	}
	v = f64_of(-2);
	assert_false(d9_value_u64(&v, &u));
	assert_true(d9_value_i64(&v, &i));
	assert_int_equal(i, -2);
}

static void other_values_are_no_numbers(void **state)
{
	struct d9_value v = { .type = D9_T_STRING, .str = "5", .cnt = 1 };
	uint64_t u;
	double f;

	(void)state;
	assert_false(d9_value_u64(&v, &u));
	assert_false(d9_value_f64(&v, &f));
	assert_false(d9_value_u64(NULL, &u));
	assert_false(d9_value_f64(NULL, &f));
	assert_int_equal(d9_value_str(&v).len, 1);
	assert_null(d9_value_str(NULL).p);
	v = u64_of(5);
	assert_null(d9_value_str(&v).p);
}

static void iterators_stop_at_what_is_there(void **state)
{
	static const uint8_t map[] = "\x01\0\0\0k\x02\0\0\0vv\x05\0\0\0cut";
	struct d9_value v = { .type = D9_T_MAP, .cnt = 9, .sz = sizeof(map) - 1, .bytes = map };
	struct d9_iter it = { 0 };
	struct d9_value item;
	struct d9_pair pair;

	(void)state;
	assert_true(d9_map_next(&v, &it, &pair));
	assert_int_equal(pair.val.len, 2);
	assert_false(d9_map_next(&v, &it, &pair));
	assert_false(d9_dyn_next(&v, &it, &item));
	assert_false(d9_map_next(NULL, &it, &pair));
	it = (struct d9_iter){ .off = UINT32_MAX };
	assert_false(d9_map_next(&v, &it, &pair));
	v.type = D9_T_DYN_LIST;
	assert_false(d9_map_next(&v, &it, &pair));
}

static void names_have_words(void **state)
{
	(void)state;
	assert_string_equal(d9_type_name(D9_T_VARINT), "Varint");
	assert_string_equal(d9_type_name(D9_T_VARINT | D9_T_OPTIONAL), "optional Varint");
	for (uint8_t t = 1; t <= D9_T_MAX; t++) {
		assert_string_not_equal(d9_type_name(t), "?");
		assert_non_null(strstr(d9_type_name(t | D9_T_OPTIONAL), d9_type_name(t)));
	}
	assert_string_equal(d9_type_name(0), "?");
	assert_string_equal(d9_type_name(D9_T_MAX + 1), "?");
	assert_string_equal(d9_type_name(D9_T_OPTIONAL), "?");
	assert_string_equal(d9_strerror(-D9_E_TAG), "unknown frame tag");
	assert_string_equal(d9_strerror(-28), "No space left on device");
	assert_string_equal(d9_strerror(0), "no error");
}

static void events_are_found_by_name(void **state)
{
	(void)state;
	for (unsigned int ev = 0; ev < D9_EV_CNT; ev++) {
		const char *name = d9_event_def((enum d9_event)ev)->name;

		assert_int_equal(d9_event_by_name(name, strlen(name)), ev);
		assert_int_equal(d9_event_by_name(name, strlen(name) - 1), D9_EV_OTHER);
	}
	assert_null(d9_event_def(D9_EV_OTHER));
	assert_null(d9_event_def((enum d9_event) - 1));
	assert_int_equal(d9_event_by_name("", 0), D9_EV_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_convert_where_they_fit),
		cmocka_unit_test(other_values_are_no_numbers),
		cmocka_unit_test(iterators_stop_at_what_is_there),
		cmocka_unit_test(names_have_words),
		cmocka_unit_test(events_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
