// SPDX-License-Identifier: Apache-2.0
/* trace_fixture.c - see trace_fixture.h. */
#include "trace_fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static void print_bytes(FILE *to, const void *p, uint32_t len)
{
	const unsigned char *s = p;

	fputc('"', to);
	for (uint32_t i = 0; i < len; i++) {
		if (s[i] == '"' || s[i] == '\\')
			fprintf(to, "\\%c", s[i]);
		else if (s[i] < 0x20 || s[i] >= 0x7f)
			fprintf(to, "\\x%02x", s[i]);
		else
			fputc(s[i], to);
	}
	fputc('"', to);
}

static void print_value(FILE *to, const struct d9_value *v)
{
	struct d9_iter it = { 0 };
	struct d9_pair pair;
	struct d9_value item;

	switch (v->type) {
	case D9_T_NONE:
		fputs("none", to);
		break;
	case D9_T_I64:
		fprintf(to, "%" PRId64, v->i);
		break;
	case D9_T_F64:
		fprintf(to, "%.17g", v->f);
		break;
	case D9_T_PSTRING:
	case D9_T_STRING:
	case D9_T_BYTES:
		if (v->str)
			print_bytes(to, v->str, v->cnt);
		else
			fprintf(to, "unresolved#%u", v->pool_id);
		break;
	case D9_T_PSTACK:
	case D9_T_STACK:
		if (!v->frames)
			fprintf(to, "unresolved#%u", v->pool_id);
		for (uint32_t i = 0; i < v->cnt; i++)
			fprintf(to, "%s%" PRIx64, i ? "," : "@", v->frames[i]);
		break;
	case D9_T_MAP:
		fputc('{', to);
		while (d9_map_next(v, &it, &pair)) {
			print_bytes(to, pair.key.p, pair.key.len);
			fputc(':', to);
			print_bytes(to, pair.val.p, pair.val.len);
			fputc(';', to);
		}
		fputc('}', to);
		break;
	case D9_T_DYN_LIST:
	case D9_T_DYN_MAP:
		fputc('[', to);
		while (d9_dyn_next(v, &it, &item)) {
			if (item.type == D9_T_STACK || item.type == D9_T_PSTACK ||
			    item.type == D9_T_PSTRING)
				fputs(d9_type_name(item.type), to);
			else
				print_value(to, &item);
			fputc(';', to);
		}
		fputc(']', to);
		break;
	default:
		fprintf(to, "%" PRIu64, v->u);
	}
}

void fixture_print(FILE *to, const struct d9_ev *ev)
{
	fprintf(to, "%" PRIu64 " %" PRIu64 " %s", ev->off, ev->ts_ns, ev->schema->name);
	for (uint16_t i = 0; i < ev->schema->field_cnt; i++) {
		fprintf(to, " %s=", ev->schema->fields[i].name);
		print_value(to, &ev->values[i]);
	}
	for (uint32_t i = 0; i < ev->schema->annotation_cnt; i++) {
		fprintf(to, " note%u=", ev->schema->annotations[i].field_idx);
		print_bytes(to, ev->schema->annotations[i].key.p,
			    ev->schema->annotations[i].key.len);
		print_bytes(to, ev->schema->annotations[i].val.p,
			    ev->schema->annotations[i].val.len);
	}
	fputc('\n', to);
}

/* Next number: spread so that varints of all lengths occur, the extremes included. */
static uint64_t number_next(uint64_t *n)
{
	uint64_t v = (*n)++;

	return v % 11 == 10 ? UINT64_MAX : v * v * v * v;
}

static int str_next(struct d9_enc *enc, uint64_t *n, uint32_t *ret)
{
	char s[64];
	int len = snprintf(s, sizeof(s), "src/main.rs:%" PRIu64 ":7", (*n)++ % 5);

	return d9_intern_str(enc, s, (size_t)len, ret);
}

static int stack_next(struct d9_enc *enc, uint64_t *n, uint32_t *ret)
{
	uint64_t frames[8], cnt = (*n)++ % 8;

	for (uint64_t i = 0; i < cnt; i++)
		frames[i] = 0x555500000000u + i * 0x1234 + cnt;
	return d9_intern_stack(enc, frames, cnt, ret);
}

/* clang-format off */
#define F_V(f) e.f = number_next(&n);
#define F_U8(f) e.f = (uint8_t)number_next(&n);
#define F_U16(f) e.f = (uint16_t)number_next(&n);
#define F_U32(f) e.f = (uint32_t)number_next(&n);
#define F_BOOL(f) e.f = n++ & 1;
#define F_PS(f) rc = rc ? rc : str_next(enc, &n, &e.f);
#define F_PK(f) rc = rc ? rc : stack_next(enc, &n, &e.f);
#define F_STR(f) e.f = (struct d9_str){ "127.0.0.1", 9 };
#define F_MAP(f) \
	e.f = pairs; \
	e.f##_cnt = 2;
#define F_oV(f) e.has_##f = has; F_V(f)
#define F_oPS(f) e.has_##f = has; F_PS(f)
#define F_oPK(f) e.has_##f = has; F_PK(f)
#define D9_EVENT(NAME, name, wire, use, doc) \
	static int put_##name(struct d9_enc *enc, uint64_t ts_ns, uint64_t n) \
	{ \
		static const struct d9_pair pairs[] = { \
			{ { "agent.has", 9 }, { "polls", 5 } }, { { "", 0 }, { "x\0y", 3 } } \
		}; \
		bool has = n & 1; \
		struct d9_##name e = { 0 }; \
		int rc = 0; \
		(void)pairs; \
		(void)has;
#define D9_FIELD(name, field, type, doc) F_##type(field)
#define D9_END(name) \
		return rc ? rc : d9_put_##name(enc, ts_ns, &e); \
	}
#include "format/records.def"
/* clang-format on */

static int (*const puts_by_event[])(struct d9_enc *, uint64_t, uint64_t) = {
#define D9_EVENT(NAME, name, wire, use, doc) put_##name,
#include "format/records.def"
};

#define O D9_T_OPTIONAL
static const struct d9_any_field any_fields[] = {
	{ "i64", D9_T_I64 },
	{ "f64", D9_T_F64 },
	{ "bool", D9_T_BOOL },
	{ "string", D9_T_STRING },
	{ "bytes", D9_T_BYTES },
	{ "pstack", D9_T_PSTACK },
	{ "pstring", D9_T_PSTRING },
	{ "stack", D9_T_STACK },
	{ "varint", D9_T_VARINT },
	{ "map", D9_T_MAP },
	{ "u8", D9_T_U8 },
	{ "u16", D9_T_U16 },
	{ "u32", D9_T_U32 },
	{ "list", D9_T_DYN_LIST },
	{ "dynmap", D9_T_DYN_MAP },
	{ "o_i64", O | D9_T_I64 },
	{ "o_f64", O | D9_T_F64 },
	{ "o_bool", O | D9_T_BOOL },
	{ "o_string", O | D9_T_STRING },
	{ "o_bytes", O | D9_T_BYTES },
	{ "o_pstack", O | D9_T_PSTACK },
	{ "o_pstring", O | D9_T_PSTRING },
	{ "o_stack", O | D9_T_STACK },
	{ "o_varint", O | D9_T_VARINT },
	{ "o_map", O | D9_T_MAP },
	{ "o_u8", O | D9_T_U8 },
	{ "o_u16", O | D9_T_U16 },
	{ "o_u32", O | D9_T_U32 },
	{ "o_list", O | D9_T_DYN_LIST },
	{ "o_dynmap", O | D9_T_DYN_MAP },
};
#undef O
#define ANY_CNT (sizeof(any_fields) / sizeof(any_fields[0]))

const struct d9_any_def fixture_any = {
	.type_id = 300,
	.name = "all types",
	.field_cnt = ANY_CNT,
	.fields = any_fields,
};

static int put_any_all(struct d9_enc *enc, uint64_t ts_ns, uint64_t seed)
{
	static const char map[] = "\x01\0\0\0k\x02\0\0\0vv";
	static const char list[] = "\x09\x05\x0e\x01\0\0\0\x03\x01\x04\x02\0\0\0hi";
	static const char dynmap[] = "\x04\x01\0\0\0a\x0d\x01\x02\x03\x04";
	static const uint64_t frames[] = { 1, 0xffffffffffffffffu, 3 };
	struct d9_value v[ANY_CNT] = {
		{ .type = D9_T_I64, .i = -5 },
		{ .type = D9_T_F64, .f = 1.5 },
		{ .type = D9_T_BOOL, .u = 1 },
		{ .type = D9_T_STRING, .cnt = 5, .str = "h\0llo" },
		{ .type = D9_T_BYTES, .cnt = 3, .str = "\xff\xfe\x00" },
		{ .type = D9_T_PSTACK },
		{ .type = D9_T_PSTRING, .pool_id = 0xfffffff0u },
		{ .type = D9_T_STACK, .cnt = 3, .frames = frames },
		{ .type = D9_T_VARINT, .u = UINT64_MAX },
		{ .type = D9_T_MAP,
		  .cnt = 1,
		  .sz = sizeof(map) - 1,
		  .bytes = (const uint8_t *)map },
		{ .type = D9_T_U8, .u = 255 },
		{ .type = D9_T_U16, .u = 65535 },
		{ .type = D9_T_U32, .u = UINT32_MAX },
		{ .type = D9_T_DYN_LIST,
		  .cnt = 3,
		  .sz = sizeof(list) - 1,
		  .bytes = (const uint8_t *)list },
		{ .type = D9_T_DYN_MAP,
		  .cnt = 1,
		  .sz = sizeof(dynmap) - 1,
		  .bytes = (const uint8_t *)dynmap },
	};
	int rc;

	rc = d9_put_pool_str(enc, 0xfffffff0u, "a \"quoted\" name", 15);
	if (!rc)
		rc = d9_intern_stack(enc, frames, 3, &v[5].pool_id);
	if (!rc)
		rc = d9_put_any_schema(enc, &fixture_any);
	for (size_t i = 0; i < ANY_CNT / 2; i++)
		if ((seed >> (i % 8)) & 1)
			v[ANY_CNT / 2 + i] = v[i];
	return rc ? rc : d9_put_any(enc, ts_ns, &fixture_any, v);
}

static int put_no_stamp(struct d9_enc *enc)
{
	static const struct d9_any_def def = { .type_id = 301,
					       .name = "NoStamp",
					       .has_no_ts = true };
	int rc = d9_put_any_schema(enc, &def);

	return rc ? rc : d9_put_any(enc, 0, &def, NULL);
}

int fixture_batch(struct d9_enc *enc, uint64_t seed)
{
	uint64_t ts_ns = 1000000000 + seed;
	int rc = d9_enc_begin(enc);

	for (unsigned int ev = 0; !rc && ev < D9_EV_CNT; ev++)
		rc = puts_by_event[ev](enc, ts_ns += 700 * ev, seed + ev);
	rc = rc ? rc : put_poll_end(enc, ts_ns - 1, seed);
	rc = rc ? rc : put_poll_end(enc, ts_ns + D9_DELTA_MAX_NS, seed);
	rc = rc ? rc : put_any_all(enc, ts_ns, seed);
	return rc ? rc : put_no_stamp(enc);
}

char *fixture_text(const void *bytes, size_t sz, size_t chunk_sz)
{
	const char *p = bytes;
	struct d9_dec *dec = NULL;
	struct d9_ev ev;
	char *text = NULL;
	size_t text_sz;
	FILE *to = open_memstream(&text, &text_sz);
	int rc = d9_dec_new(&dec, NULL);

	while (!rc && sz) {
		size_t n = chunk_sz && chunk_sz < sz ? chunk_sz : sz;
		/* A copy that is freed at once shows reads of a chunk after its time. */
		void *chunk = malloc(n);

		memcpy(chunk, p, n);
		rc = d9_dec_feed(dec, chunk, n);
		while (!rc && (rc = d9_dec_next(dec, &ev)) == 1) {
			fixture_print(to, &ev);
			rc = 0;
		}
		free(chunk);
		p += n;
		sz -= n;
	}
	if (!rc)
		rc = d9_dec_end(dec);
	fprintf(to, "end: %s at %" PRIu64 "\n", d9_strerror(rc), d9_dec_off(dec));
	d9_dec_free(dec);
	fclose(to);
	return text;
}

#define PAGE_SZ 4096u

static size_t guard_map_sz(size_t sz)
{
	return (sz + PAGE_SZ - 1) / PAGE_SZ * PAGE_SZ + PAGE_SZ;
}

void *fixture_guard(const void *bytes, size_t sz)
{
	size_t map_sz = guard_map_sz(sz);
	char *map = mmap(NULL, map_sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *p;

	if (map == MAP_FAILED || mprotect(map + map_sz - PAGE_SZ, PAGE_SZ, PROT_NONE))
		abort();
	p = map + map_sz - PAGE_SZ - sz;
	if (sz)
		memcpy(p, bytes, sz);
	return p;
}

void fixture_unguard(void *p, size_t sz)
{
	size_t map_sz = guard_map_sz(sz);

	munmap((char *)p + sz + PAGE_SZ - map_sz, map_sz);
}

void fixture_enc(struct d9_enc *enc, uint8_t *buf, size_t sz, struct d9_pool *pool)
{
	d9_enc_init(enc, buf, sz, pool);
	assert_int_equal(d9_enc_begin(enc), 0);
}

int fixture_pool(void **state)
{
	*state = d9_pool_new(0, 0, 0);
	return !*state;
}

int fixture_pool_free(void **state)
{
	d9_pool_free(*state);
	return 0;
}
