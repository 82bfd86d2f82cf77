// SPDX-License-Identifier: Apache-2.0
/* Decoder: any chunk size, any cut, mid-stream headers, caps, and every error where it is due. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_fixture.h"

static uint8_t buf[64 << 10];
static size_t buf_sz;

/* Two batches with every event and type, annotations in the second. */
static int two_batches(void **state)
{
	static const struct d9_annotation notes[] = {
		{ 0, { "unit", 4 }, { "ns", 2 } },
		{ 2, { "kind", 4 }, { "", 0 } },
	};
	struct d9_pool *pool = d9_pool_new(0, 0, 0);
	struct d9_enc enc;
	int rc;

	(void)state;
	d9_enc_init(&enc, buf, sizeof(buf), pool);
	rc = fixture_batch(&enc, 3);
	rc = rc ? rc : fixture_batch(&enc, 8);
	rc = rc ? rc : d9_put_annotations(&enc, fixture_any.type_id, notes, 2);
	rc = rc ? rc : d9_put_poll_end(&enc, 1, &(struct d9_poll_end){ 1 });
	buf_sz = enc.len;
	d9_pool_free(pool);
	return rc;
}

static size_t lines(const char *text)
{
	size_t n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

static void any_chunk_size_gives_the_same(void **state)
{
	char *want = fixture_text(buf, buf_sz, 0);

	(void)state;
	assert_int_equal(lines(want), 2 * FIXTURE_SEGMENT_EVENTS + 2);
	assert_non_null(strstr(want, "end: no error"));
	for (size_t chunk = 1; chunk < 600; chunk++) {
		char *got = fixture_text(buf, buf_sz, chunk);

		assert_string_equal(got, want);
		free(got);
	}
	free(want);
}

/* A stream cut anywhere gives the events before the cut and says that it was cut, nothing worse. */
static void cut_anywhere_keeps_what_came_before(void **state)
{
	char *want = fixture_text(buf, buf_sz, 0);
	size_t whole = 0;

	(void)state;
	for (size_t sz = 0; sz < buf_sz; sz++) {
		void *p = fixture_guard(buf, sz);
		char *got = fixture_text(p, sz, sz & 1 ? 7 : 0);
		char *end = strstr(got, "end: ");

		assert_memory_equal(got, want, (size_t)(end - got));
		if (strstr(end, "no error"))
			whole++;
		else
			assert_non_null(strstr(end, d9_strerror(-D9_E_TRUNCATED)));
		free(got);
		fixture_unguard(p, sz);
	}
	/* between frames a cut cannot be seen; there are more frames than events */
	assert_in_range(whole, 2 * FIXTURE_SEGMENT_EVENTS, 6 * FIXTURE_SEGMENT_EVENTS);
	free(want);
}

static void all_field_types_print_as_written(void **state)
{
	char *got = fixture_text(buf, buf_sz, 0);

	(void)state;
	assert_non_null(strstr(
		got,
		"all types i64=-5 f64=1.5 bool=1 string=\"h\\x00llo\" bytes=\"\\xff\\xfe\\x00\" "
		"pstack=@1,ffffffffffffffff,3 pstring=\"a \\\"quoted\\\" name\" "
		"stack=@1,ffffffffffffffff,3 varint=18446744073709551615 map={\"k\":\"vv\";} "
		"u8=255 "
		"u16=65535 u32=4294967295 list=[5;[1;];\"hi\";] dynmap=[\"a\";67305985;] "
		"o_i64=-5 o_f64=1.5 o_bool=none "));
	assert_non_null(strstr(got, " NoStamp\n"));
	free(got);
}

/* Ids are per batch, may be any number, may be redefined and may lack an entry. */
static void pool_ids_resolve_per_batch(void **state)
{
	static const char bytes[] = "TRC\0\x01" FIXTURE_SCHEMA(
		"\x07") "\x03\x02\0\0\0\xff\xff\xff\xff\x02\0\0\0hi\x07\0\0\0\0\0\0\0" FIXTURE_EVENT
			"\xff\xff\xff\xff" FIXTURE_EVENT "\x07\0\0\0" FIXTURE_EVENT "\x08\0\0\0"
			"\x03\x01\0\0\0\x07\0\0\0\x03\0\0\0new" FIXTURE_EVENT "\x07\0\0\0"
			"TRC\0\x01" FIXTURE_SCHEMA("\x07") FIXTURE_EVENT "\x07\0\0\0";
	static const char *const want[] = { "hi", "", NULL, "new", NULL };
	struct d9_dec *dec;
	struct d9_ev ev;

	(void)state;
	assert_int_equal(d9_dec_new(&dec, NULL), 0);
	assert_int_equal(d9_dec_feed(dec, bytes, sizeof(bytes) - 1), 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(d9_dec_next(dec, &ev), 1);
		assert_int_equal(ev.batch, i < 4 ? 1 : 2);
		assert_int_equal(ev.values[0].type, D9_T_PSTRING);
		if (want[i])
			assert_string_equal(ev.values[0].str, want[i]);
		else
			assert_null(ev.values[0].str);
		assert_int_equal(ev.values[0].cnt, want[i] ? strlen(want[i]) : 0);
	}
	assert_int_equal(d9_dec_next(dec, &ev), 0);
	assert_int_equal(d9_dec_stats(dec)->unresolved, 2);
	assert_int_equal(d9_dec_stats(dec)->headers, 2);
	assert_int_equal(d9_dec_stats(dec)->strings, 3);
	d9_dec_free(dec);
}

/* Fields are found by name, so another writer may order, add and leave out fields as it likes. */
static void fields_are_found_by_name(void **state)
{
	static const char bytes[] =
		"TRC\0\x01"
		"\x01\x09\0\x0e\0PollStartEvent\x01\x03\0\x07\0task_"
		"id\x0d\x05\0extra\x01\x09\0worker_id\x0b"
		"\x02\x09\0\0\0\0\x2a\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x03";
	struct d9_dec *dec;
	struct d9_ev ev;
	int64_t i64;

	(void)state;
	assert_int_equal(d9_dec_new(&dec, NULL), 0);
	assert_int_equal(d9_dec_feed(dec, bytes, sizeof(bytes) - 1), 0);
	assert_int_equal(d9_dec_next(dec, &ev), 1);
	assert_int_equal(ev.schema->kind, D9_EV_POLL_START);
	assert_int_equal(d9_u64(&ev, D9F_poll_start_task_id, 0), 42);
	assert_int_equal(d9_u64(&ev, D9F_poll_start_worker_id, 0), 3);
	assert_int_equal(d9_u64(&ev, D9F_poll_start_local_queue, 77), 77);
	assert_null(d9_val(&ev, D9F_poll_start_spawn_loc));
	assert_true(d9_value_i64(d9_val_named(&ev, "extra"), &i64));
	assert_int_equal(i64, -1);
	assert_null(d9_val_named(&ev, "extr"));
	assert_ptr_equal(d9_dec_schema(dec, 0), ev.schema);
	assert_null(d9_dec_schema(dec, 1));
	d9_dec_free(dec);
}

static void feeding_twice_is_refused(void **state)
{
	struct d9_dec *dec;
	struct d9_ev ev;

	(void)state;
	assert_int_equal(d9_dec_new(&dec, NULL), 0);
	assert_int_equal(d9_dec_feed(dec, buf, 100), 0);
	assert_int_equal(d9_dec_feed(dec, buf, 100), -D9_E_STATE);
	assert_int_equal(d9_dec_end(dec), -D9_E_STATE);
	while (d9_dec_next(dec, &ev) == 1)
		;
	assert_int_equal(d9_dec_feed(dec, buf + 100, 1), 0);
	d9_dec_free(dec);
	d9_dec_free(NULL);
}

/* Many headers with pools between must not cost more than their bytes, in time or memory. */
static void headers_are_cheap(void **state)
{
	static const char batch[] = "TRC\0\x01\x03\x01\0\0\0\x01\0\0\0\x01\0\0\0a";
	struct d9_dec_opt opt = { .pool_sz_max = 1 << 20 };
	struct d9_dec *dec;
	struct d9_ev ev;

	(void)state;
	assert_int_equal(d9_dec_new(&dec, &opt), 0);
	for (int i = 0; i < 300000; i++) {
		assert_int_equal(d9_dec_feed(dec, batch, sizeof(batch) - 1), 0);
		assert_int_equal(d9_dec_next(dec, &ev), 0);
	}
	assert_int_equal(d9_dec_end(dec), 0);
	d9_dec_free(dec);
}

/* Enough entries that the tables grow several times, with ids as another writer may choose them. */
static void large_pools_resolve(void **state)
{
	static const struct d9_any_field field = { "f", D9_T_PSTRING };
	static const struct d9_any_def def = {
		.type_id = 70, .name = "E", .field_cnt = 1, .fields = &field
	};
	static uint8_t bytes[1 << 20];
	struct d9_enc enc;
	struct d9_dec *dec;
	struct d9_ev ev;
	char str[16];

	(void)state;
	d9_enc_init(&enc, bytes, sizeof(bytes), NULL);
	for (uint32_t batch = 0; batch < 2; batch++) {
		assert_int_equal(d9_enc_begin(&enc), 0);
		assert_int_equal(d9_put_any_schema(&enc, &def), 0);
		for (uint32_t i = 0; i < 5000; i++) {
			int len = snprintf(str, sizeof(str), "%u.%u", batch, i);

			assert_int_equal(d9_put_pool_str(&enc, i * 2654435761u, str, (size_t)len),
					 0);
		}
		for (uint32_t i = 0; i < 5000; i++)
			assert_int_equal(
				d9_put_any(&enc, i, &def,
					   &(struct d9_value){ .type = D9_T_PSTRING,
							       .pool_id = i * 2654435761u }),
				0);
	}
	assert_int_equal(d9_dec_new(&dec, NULL), 0);
	assert_int_equal(d9_dec_feed(dec, bytes, enc.len), 0);
	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(d9_dec_next(dec, &ev), 1);
		snprintf(str, sizeof(str), "%u.%u", i / 5000, i % 5000);
		assert_string_equal(ev.values[0].str, str);
	}
	assert_int_equal(d9_dec_next(dec, &ev), 0);
	assert_int_equal(d9_dec_stats(dec)->unresolved, 0);
	d9_dec_free(dec);
}

static void annotations_gather(void **state)
{
	uint8_t bytes[1024];
	struct d9_enc enc;
	struct d9_dec *dec;
	struct d9_ev ev;

	(void)state;
	d9_enc_init(&enc, bytes, sizeof(bytes), NULL);
	assert_int_equal(d9_enc_begin(&enc), 0);
	assert_int_equal(d9_put_poll_end(&enc, 1, &(struct d9_poll_end){ 1 }), 0);
	for (uint16_t i = 0; i < 9; i++) {
		struct d9_annotation a = { i, { "key", 3 }, { &"abcdefghi"[i], 1 } };

		assert_int_equal(d9_put_annotations(&enc, D9_EV_POLL_END, &a, 1), 0);
	}
	assert_int_equal(d9_put_poll_end(&enc, 2, &(struct d9_poll_end){ 1 }), 0);
	assert_int_equal(d9_dec_new(&dec, NULL), 0);
	assert_int_equal(d9_dec_feed(dec, bytes, enc.len), 0);
	assert_int_equal(d9_dec_next(dec, &ev), 1);
	assert_int_equal(ev.schema->annotation_cnt, 0);
	assert_int_equal(d9_dec_next(dec, &ev), 1);
	assert_int_equal(ev.schema->annotation_cnt, 9);
	for (uint16_t i = 0; i < 9; i++) {
		assert_int_equal(ev.schema->annotations[i].field_idx, i);
		assert_int_equal(ev.schema->annotations[i].key.len, 3);
		assert_int_equal(ev.schema->annotations[i].val.p[0], 'a' + i);
	}
	d9_dec_free(dec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_chunk_size_gives_the_same),
		cmocka_unit_test(cut_anywhere_keeps_what_came_before),
		cmocka_unit_test(all_field_types_print_as_written),
		cmocka_unit_test(pool_ids_resolve_per_batch),
		cmocka_unit_test(fields_are_found_by_name),
		cmocka_unit_test(feeding_twice_is_refused),
		cmocka_unit_test(headers_are_cheap),
		cmocka_unit_test(large_pools_resolve),
		cmocka_unit_test(annotations_gather),
	};

	return cmocka_run_group_tests(tests, two_batches, NULL);
}
