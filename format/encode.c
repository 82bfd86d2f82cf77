// SPDX-License-Identifier: Apache-2.0
/*
 * encode.c - typed encode functions for the events of records.def.
 * This is the recorder's hot path: one bound check, one 8-byte store for the head, then the fields.
 */
#include "encode.h"

#include "pool.h"

void d9_enc_init(struct d9_enc *enc, void *buf, size_t cap, struct d9_pool *pool)
{
	*enc = (struct d9_enc){ .buf = buf, .cap = cap, .pool = pool };
}

int d9_enc_begin(struct d9_enc *enc)
{
	uint8_t *p = enc->buf + enc->len;

	if (!enc_has_room(enc, D9_HEADER_SZ))
		return -D9_E_ROOM;
	memcpy(p, TRACE_MAGIC, TRACE_MAGIC_SZ);
	p[TRACE_MAGIC_SZ] = TRACE_VERSION;
	enc->len += D9_HEADER_SZ;
	enc->base_ns = 0;
	enc->declared = 0;
	enc->batch_no++;
	if (enc->pool)
		pool_reset(enc->pool);
	return 0;
}

/* First use of an event in a batch. The caller's bound covers the schema. */
static __attribute__((noinline)) int enc_declare(struct d9_enc *enc, enum d9_event ev)
{
	const struct d9_event_def *def = d9_event_def(ev);
	uint8_t *p = enc->buf + enc->len;

	if (!enc->batch_no)
		return -D9_E_STATE;
	*p++ = TAG_SCHEMA;
	p = store16(p, (uint16_t)ev);
	p = store_name(p, def->name);
	*p++ = 1; /* events carry a stamp */
	p = store16(p, def->field_cnt);
	for (uint16_t i = 0; i < def->field_cnt; i++) {
		p = store_name(p, def->fields[i].name);
		*p++ = def->fields[i].type;
	}
	enc->len = (size_t)(p - enc->buf);
	enc->declared |= 1ull << ev;
	return 0;
}

static inline int enc_open(struct d9_enc *enc, enum d9_event ev, size_t bound)
{
	if (!enc_has_room(enc, bound))
		return -D9_E_ROOM;
	if (unlikely(!(enc->declared >> ev & 1)))
		return enc_declare(enc, ev);
	return 0;
}

/* All schemas take some 3 KiB; what a single declaration needs at most bounds each step. */
int d9_enc_declare_all(struct d9_enc *enc)
{
	static const uint16_t bounds[] = {
#define D9_EVENT(NAME, name, wire, use, doc) D9_BOUND_##name,
#include "records.def"
	};
	int rc = 0;

	for (unsigned int ev = 0; !rc && ev < D9_EV_CNT; ev++)
		rc = enc_open(enc, (enum d9_event)ev, bounds[ev]);
	return rc;
}

void d9_enc_lane(struct d9_enc *lane, void *buf, size_t cap, const struct d9_enc *main)
{
	d9_enc_init(lane, buf, cap, NULL);
	lane->declared = main->declared;
	lane->batch_no = main->batch_no;
	d9_enc_cut(lane);
}

static uint8_t *store_str(uint8_t *p, struct d9_str s)
{
	return store_bytes(store32(p, s.len), s.p, s.len);
}

static uint8_t *store_map(uint8_t *p, const struct d9_pair *pairs, uint32_t cnt)
{
	p = store32(p, cnt);
	for (uint32_t i = 0; i < cnt; i++)
		p = store_str(store_str(p, pairs[i].key), pairs[i].val);
	return p;
}

/* Bytes of a map beyond its count; more than D9_UNIT_MAX where a reader would refuse it. */
static size_t map_sz(const struct d9_pair *pairs, uint32_t cnt)
{
	size_t sz = 0;

	if (cnt > D9_ITEM_MAX)
		return D9_UNIT_MAX;
	for (uint32_t i = 0; i < cnt; i++)
		sz += 8 + (size_t)pairs[i].key.len + pairs[i].val.len;
	return sz;
}

/* First pass over the list: bytes that depend on the values; a constant 0 for nearly all. */
/* clang-format off */
#define X_V(f)
#define X_U8(f)
#define X_U16(f)
#define X_U32(f)
#define X_BOOL(f)
#define X_F64(f)
#define X_PS(f)
#define X_PK(f)
#define X_STR(f) sz += e->f.len;
#define X_MAP(f) sz += map_sz(e->f, e->f##_cnt);
#define X_oV(f)
#define X_oPS(f)
#define X_oPK(f)
#define D9_EVENT(NAME, name, wire, use, doc) \
	static inline size_t extra_##name(const struct d9_##name *e) \
	{ \
		size_t sz = 0; \
		(void)e;
#define D9_FIELD(name, field, type, doc) X_##type(field)
#define D9_END(name) return sz; }
#include "records.def"
/* clang-format on */

/* Second pass: the functions. */
/* clang-format off */
#define W_V(f) p = store_varint(p, e->f);
#define W_U8(f) *p++ = e->f;
#define W_U16(f) p = store16(p, e->f);
#define W_U32(f) p = store32(p, e->f);
#define W_BOOL(f) *p++ = e->f;
#define W_PS(f) p = store32(p, e->f);
#define W_PK(f) p = store32(p, e->f);
#define W_STR(f) p = store_str(p, e->f);
#define W_MAP(f) p = store_map(p, e->f, e->f##_cnt);
#define W_OPT(f, W) \
	*p++ = e->has_##f; \
	if (e->has_##f) { \
		W(f) \
	}
#define W_oV(f) W_OPT(f, W_V)
#define W_oPS(f) W_OPT(f, W_PS)
#define W_oPK(f) W_OPT(f, W_PK)
#define D9_EVENT(NAME, name, wire, use, doc) \
	int d9_put_##name(struct d9_enc *enc, uint64_t ts_ns, const struct d9_##name *e) \
	{ \
		size_t extra = extra_##name(e); \
		uint8_t *p; \
		int rc; \
\
		if (unlikely(extra > D9_UNIT_MAX / 2)) \
			return -D9_E_TOO_BIG; \
		rc = enc_open(enc, D9_EV_##NAME, D9_BOUND_##name + extra); \
		if (unlikely(rc)) \
			return rc; \
		p = event_head(enc, D9_EV_##NAME, ts_ns);
#define D9_FIELD(name, field, type, doc) W_##type(field)
#define D9_END(name) \
		event_done(enc, p); \
		return 0; \
	}
#include "records.def"
/* clang-format on */
