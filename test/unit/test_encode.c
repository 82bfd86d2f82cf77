// SPDX-License-Identifier: Apache-2.0
/* Encoder: every event comes back as written; room, reset frames, pools and batches behave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_fixture.h"

static uint8_t buf[64 << 10];

/* The only event in the encoder's bytes. */
static struct d9_dec *decode_one(const struct d9_enc *enc, struct d9_ev *ev)
{
	struct d9_dec *dec;

	assert_int_equal(d9_dec_new(&dec, NULL), 0);
	assert_int_equal(d9_dec_feed(dec, enc->buf, enc->len), 0);
	assert_int_equal(d9_dec_next(dec, ev), 1);
	return dec;
}

static void check_schema(const struct d9_schema *s, enum d9_event kind, const char *wire, int cnt)
{
	assert_int_equal(s->kind, kind);
	assert_string_equal(s->name, wire);
	assert_int_equal(s->field_cnt, cnt);
}

/* Fill every field with a value of its own, encode, decode, compare field by field. */
/* clang-format off */
#define FILL_V(f) e.f = max ? UINT64_MAX : ++n;
#define FILL_U8(f) e.f = (uint8_t)(max ? UINT64_MAX : ++n);
#define FILL_U16(f) e.f = (uint16_t)(max ? UINT64_MAX : ++n);
#define FILL_U32(f) e.f = (uint32_t)(max ? UINT64_MAX : ++n);
#define FILL_BOOL(f) e.f = true;
#define FILL_PS(f) assert_int_equal(d9_intern_str(&enc, #f, sizeof(#f) - 1, &e.f), 0);
#define FILL_PK(f) assert_int_equal(d9_intern_stack(&enc, frames, 2, &e.f), 0);
#define FILL_STR(f) e.f = (struct d9_str){ "addr", 4 };
#define FILL_MAP(f) \
	e.f = map; \
	e.f##_cnt = 1;
#define FILL_oV(f) e.has_##f = has; FILL_V(f)
#define FILL_oPS(f) e.has_##f = has; FILL_PS(f)
#define FILL_oPK(f) e.has_##f = has; FILL_PK(f)

#define SAME_V(f) assert_int_equal(v->u, e.f);
#define SAME_U8(f) SAME_V(f)
#define SAME_U16(f) SAME_V(f)
#define SAME_U32(f) SAME_V(f)
#define SAME_BOOL(f) SAME_V(f)
#define SAME_PS(f) \
	assert_int_equal(v->cnt, sizeof(#f) - 1); \
	assert_string_equal(v->str, #f);
#define SAME_PK(f) \
	assert_int_equal(v->cnt, 2); \
	assert_memory_equal(v->frames, frames, sizeof(frames));
#define SAME_STR(f) \
	assert_int_equal(v->cnt, e.f.len); \
	assert_memory_equal(v->str, e.f.p, e.f.len);
#define SAME_MAP(f) \
	assert_true(d9_map_next(v, &it, &got)); \
	assert_memory_equal(got.key.p, "key", 3); \
	assert_memory_equal(got.val.p, "value", 5); \
	assert_false(d9_map_next(v, &it, &got));
#define SAME_oV(f) if (has) { SAME_V(f) } else { assert_null(v); }
#define SAME_oPS(f) if (has) { SAME_PS(f) } else { assert_null(v); }
#define SAME_oPK(f) if (has) { SAME_PK(f) } else { assert_null(v); }
/* clang-format on */

/* clang-format off */
#define D9_EVENT(NAME, name, wire, use, doc) \
	static struct d9_##name fill_##name(struct d9_enc *to, bool max, bool has, \
					    const struct d9_pair *map) \
	{ \
		static const uint64_t frames[] = { 0x1111, 0x2222 }; \
		struct d9_enc enc = *to; \
		struct d9_##name e = { 0 }; \
		uint64_t n = 0; \
		(void)n; (void)max; (void)has; (void)frames; (void)map;
#define D9_FIELD(name, field, type, doc) FILL_##type(field)
#define D9_END(name) \
		*to = enc; \
		return e; \
	}
#include "format/records.def"
/* clang-format on */

/* clang-format off */
#define D9_EVENT(NAME, name, wire, use, doc) \
	static void check_##name(struct d9_pool *pool, bool max, bool has) \
	{ \
		static const uint64_t frames[] = { 0x1111, 0x2222 }; \
		static const struct d9_pair map = { { "key", 3 }, { "value", 5 } }; \
		uint64_t ts_ns = max ? UINT64_MAX : 5; \
		const struct d9_value *v; \
		struct d9_enc enc, before; \
		struct d9_iter it = { 0 }; \
		struct d9_##name e; \
		struct d9_pair got; \
		struct d9_dec *dec; \
		struct d9_ev ev; \
		size_t full; \
		(void)frames; (void)it; (void)got; (void)v; \
		fixture_enc(&enc, buf, sizeof(buf), pool); \
		e = fill_##name(&enc, max, has, &map); \
		before = enc; \
		assert_int_equal(d9_put_##name(&enc, ts_ns, &e), 0); \
		assert_true(enc.len - before.len + 2 <= D9_BOUND_##name + 16); \
		full = enc.len; \
		enc = before; \
		for (enc.cap = enc.len; enc.cap < full; enc.cap++) { \
			assert_int_equal(d9_put_##name(&enc, ts_ns, &e), -D9_E_ROOM); \
			assert_int_equal(enc.len, before.len); \
			assert_int_equal(enc.declared, before.declared); \
		} \
		enc.cap = enc.len + D9_BOUND_##name + 16; \
		assert_int_equal(d9_put_##name(&enc, ts_ns, &e), 0); \
		assert_int_equal(enc.len, full); \
		dec = decode_one(&enc, &ev); \
		assert_int_equal(ev.ts_ns, ts_ns); \
		check_schema(ev.schema, D9_EV_##NAME, wire, D9F_##name##_cnt);
#define D9_FIELD(name, field, type, doc) \
		v = d9_val(&ev, D9F_##name##_##field); \
		SAME_##type(field) \
		assert_ptr_equal(v, d9_val_named(&ev, #field));
#define D9_END(name) \
		assert_int_equal(d9_dec_next(dec, &ev), 0); \
		assert_int_equal(d9_dec_end(dec), 0); \
		d9_dec_free(dec); \
	}
#include "format/records.def"
/* clang-format on */

static void every_event_round_trips(void **state)
{
	for (int i = 0; i < 4; i++) {
		bool max = i & 1, has = i & 2;
#define D9_EVENT(NAME, name, wire, use, doc) check_##name(*state, max, has);
#include "format/records.def"
	}
}

static void wire_bytes_are_as_specified(void **state)
{
	static const uint8_t want[] =
		"TRC\0\x01"
		"\x01\x01\0\x0c\0PollEndEvent\x01\x01\0\x09\0worker_id\x09"
		"\x02\x01\0\x34\x12\0\x05" /* delta 0x1234, worker 5 */
		"\x02\x01\0\0\0\0\x81\x01" /* delta 0, worker 129 */
		"\x05\x33\x12\0\0\0\0\0\0\x02\x01\0\0\0\0\0" /* 1 ns back */
		"\x05\x34\x12\0\x01\0\0\0\0\x02\x01\0\0\0\0\0"; /* a step of 0x1000001 */
	struct d9_poll_end e = { 5 };
	struct d9_enc enc;

	fixture_enc(&enc, buf, sizeof(buf), *state);
	assert_int_equal(d9_put_poll_end(&enc, 0x1234, &e), 0);
	e.worker_id = 129;
	assert_int_equal(d9_put_poll_end(&enc, 0x1234, &e), 0);
	e.worker_id = 0;
	assert_int_equal(d9_put_poll_end(&enc, 0x1233, &e), 0);
	assert_int_equal(d9_put_poll_end(&enc, 0x1001234, &e), 0);
	assert_int_equal(enc.len, sizeof(want) - 1);
	assert_memory_equal(enc.buf, want, enc.len);
	assert_int_equal(enc.event_cnt, 4);
}

static void largest_step_needs_no_reset(void **state)
{
	struct d9_poll_end e = { 0 };
	struct d9_enc enc;
	size_t len;

	fixture_enc(&enc, buf, sizeof(buf), *state);
	assert_int_equal(d9_put_poll_end(&enc, 0, &e), 0);
	len = enc.len;
	assert_int_equal(d9_put_poll_end(&enc, D9_DELTA_MAX_NS, &e), 0);
	assert_int_equal(enc.len, len + 7);
	assert_int_equal(d9_put_poll_end(&enc, 2ull * D9_DELTA_MAX_NS + 1, &e), 0);
	assert_int_equal(enc.len, len + 7 + 9 + 7);
}

static void time_may_wrap_around_without_a_lie(void **state)
{
	struct d9_poll_end e = { 0 };
	struct d9_enc enc;
	struct d9_dec *dec;
	struct d9_ev ev;

	fixture_enc(&enc, buf, sizeof(buf), *state);
	assert_int_equal(d9_put_poll_end(&enc, UINT64_MAX, &e), 0);
	assert_int_equal(d9_put_poll_end(&enc, 5, &e), 0);
	dec = decode_one(&enc, &ev);
	assert_int_equal(ev.ts_ns, UINT64_MAX);
	assert_int_equal(d9_dec_next(dec, &ev), 1);
	assert_int_equal(ev.ts_ns, 5);
	d9_dec_free(dec);
}

static void same_input_gives_same_bytes(void **state)
{
	static uint8_t other[sizeof(buf)];
	struct d9_enc enc;
	size_t len;

	d9_enc_init(&enc, buf, sizeof(buf), *state);
	assert_int_equal(fixture_batch(&enc, 1), 0);
	assert_int_equal(fixture_batch(&enc, 2), 0);
	len = enc.len;
	memcpy(other, buf, len);
	memset(buf, 0xee, sizeof(buf));
	d9_enc_init(&enc, buf, sizeof(buf), *state);
	assert_int_equal(fixture_batch(&enc, 1), 0);
	assert_int_equal(fixture_batch(&enc, 2), 0);
	assert_int_equal(enc.len, len);
	assert_memory_equal(buf, other, len);
}

/* A batch written through a small buffer that is drained equals the same written in one go. */
static void batch_goes_on_across_drains(void **state)
{
	static uint8_t small[D9_ENC_BUF_MIN], joined[sizeof(buf)];
	struct d9_poll_start e = { .worker_id = 1, .task_id = 77 };
	struct d9_enc whole, cut;
	size_t joined_len = 0;

	fixture_enc(&whole, buf, sizeof(buf), *state);
	for (uint64_t i = 0; i < 2000; i++)
		assert_int_equal(d9_put_poll_start(&whole, i * 99, &e), 0);
	d9_enc_init(&cut, small, sizeof(small), *state);
	assert_int_equal(d9_enc_begin(&cut), 0);
	for (uint64_t i = 0; i < 2000; i++) {
		int rc = d9_put_poll_start(&cut, i * 99, &e);

		if (rc == -D9_E_ROOM) {
			memcpy(joined + joined_len, small, cut.len);
			joined_len += cut.len;
			d9_enc_drain(&cut);
			rc = d9_put_poll_start(&cut, i * 99, &e);
		}
		assert_int_equal(rc, 0);
	}
	memcpy(joined + joined_len, small, cut.len);
	joined_len += cut.len;
	assert_int_equal(joined_len, whole.len);
	assert_memory_equal(joined, buf, joined_len);
}

static void misuse_is_refused(void **state)
{
	struct d9_segment_metadata huge = { .entries = NULL, .entries_cnt = D9_ITEM_MAX + 1 };
	static const struct d9_any_def low = { .type_id = 3, .name = "x" };
	struct d9_poll_end e = { 0 };
	struct d9_enc enc;
	uint32_t id;

	d9_enc_init(&enc, buf, sizeof(buf), *state);
	assert_int_equal(d9_put_poll_end(&enc, 1, &e), -D9_E_STATE);
	assert_int_equal(d9_intern_str(&enc, "a", 1, &id), -D9_E_STATE);
	assert_int_equal(d9_put_any_schema(&enc, &fixture_any), -D9_E_STATE);
	assert_int_equal(d9_enc_begin(&enc), 0);
	assert_int_equal(d9_put_segment_metadata(&enc, 1, &huge), -D9_E_TOO_BIG);
	assert_int_equal(d9_put_any_schema(&enc, &low), -D9_E_BAD_VALUE);
	assert_int_equal(d9_intern_str(&enc, "a", D9_STR_MAX + 1, &id), -D9_E_TOO_BIG);
	enc.pool = NULL;
	assert_int_equal(d9_intern_str(&enc, "a", 1, &id), -D9_E_STATE);
	enc.cap = enc.len + 4;
	assert_int_equal(d9_enc_begin(&enc), -D9_E_ROOM);
}

/* Lanes write one batch: nothing is declared twice, and all stamps are right in any order. */
static void lanes_share_a_batch(void **state)
{
	static uint8_t lane_buf[3][512], joined[sizeof(buf)];
	uint64_t cnt[3] = { 0 }, last[3] = { 0 };
	struct d9_enc enc, lane[3];
	struct d9_dec *dec;
	struct d9_ev ev;
	size_t sz = 0;
	uint32_t loc;

	d9_enc_init(&enc, buf, 2 * D9_ENC_BUF_MIN, *state);
	assert_int_equal(d9_enc_begin(&enc), 0);
	assert_int_equal(d9_enc_declare_all(&enc), 0);
	for (int w = 0; w < 3; w++)
		d9_enc_lane(&lane[w], lane_buf[w], sizeof(lane_buf[w]), &enc);
	for (uint64_t round = 0; round < 5; round++) {
		assert_int_equal(d9_intern_str(&enc, &"abcde"[round], 1, &loc), 0);
		for (uint64_t i = 0; i < 30; i++) {
			uint64_t w = i % 3;
			struct d9_poll_start e = { .worker_id = w, .task_id = i, .spawn_loc = loc };

			assert_int_equal(d9_put_poll_start(&lane[w], 1000 + round * 100 + i, &e),
					 0);
		}
		memcpy(joined + sz, buf, enc.len);
		sz += enc.len;
		d9_enc_cut(&enc);
		for (int w = 0; w < 3; w++) {
			memcpy(joined + sz, lane_buf[w], lane[w].len);
			sz += lane[w].len;
			d9_enc_cut(&lane[w]);
		}
	}
	assert_int_equal(d9_dec_new(&dec, NULL), 0);
	assert_int_equal(d9_dec_feed(dec, joined, sz), 0);
	while (d9_dec_next(dec, &ev) == 1) {
		uint64_t w = d9_u64(&ev, D9F_poll_start_worker_id, 9);
		uint64_t i = d9_u64(&ev, D9F_poll_start_task_id, 99);

		assert_true(w < 3);
		assert_true(ev.ts_ns > last[w]);
		last[w] = ev.ts_ns;
		assert_int_equal(ev.ts_ns, 1000 + cnt[w]++ / 10 * 100 + i);
		assert_int_equal(d9_val(&ev, D9F_poll_start_spawn_loc)->cnt, 1);
	}
	assert_int_equal(d9_dec_end(dec), 0);
	assert_int_equal(cnt[0] + cnt[1] + cnt[2], 150);
	assert_int_equal(d9_dec_stats(dec)->schemas, D9_EV_CNT);
	assert_int_equal(d9_dec_stats(dec)->resets, 15);
	assert_int_equal(d9_dec_stats(dec)->headers, 1);
	d9_dec_free(dec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_round_trips),
		cmocka_unit_test(wire_bytes_are_as_specified),
		cmocka_unit_test(largest_step_needs_no_reset),
		cmocka_unit_test(time_may_wrap_around_without_a_lie),
		cmocka_unit_test(same_input_gives_same_bytes),
		cmocka_unit_test(batch_goes_on_across_drains),
		cmocka_unit_test(misuse_is_refused),
		cmocka_unit_test(lanes_share_a_batch),
	};

	return cmocka_run_group_tests(tests, fixture_pool, fixture_pool_free);
}
