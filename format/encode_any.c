// SPDX-License-Identifier: Apache-2.0
/*
 * encode_any.c - schemas and events that are not in records.def, and annotations: for converters,
 * tests and whoever writes events of their own. Slower than encode.c and checked more.
 */
#include "encode.h"
#include "value.h"

static int schema_sz(const struct d9_any_def *def, size_t *ret)
{
	size_t sz = 8 + strlen(def->name);

	if (def->field_cnt > D9_FIELD_MAX || strlen(def->name) > D9_NAME_MAX)
		return -D9_E_TOO_BIG;
	for (uint16_t i = 0; i < def->field_cnt; i++) {
		size_t len = strlen(def->fields[i].name);

		if (len > D9_NAME_MAX)
			return -D9_E_TOO_BIG;
		if (!type_is_known(def->fields[i].type))
			return -D9_E_TYPE;
		sz += 3 + len;
	}
	*ret = sz;
	return 0;
}

int d9_put_any_schema(struct d9_enc *enc, const struct d9_any_def *def)
{
	uint8_t *p = enc->buf + enc->len;
	size_t sz;
	int rc;

	if (!enc->batch_no)
		return -D9_E_STATE;
	if (def->type_id < D9_TYPE_ANY_MIN)
		return -D9_E_BAD_VALUE;
	rc = schema_sz(def, &sz);
	if (rc)
		return rc;
	if (!enc_has_room(enc, sz))
		return -D9_E_ROOM;
	*p++ = TAG_SCHEMA;
	p = store16(p, def->type_id);
	p = store_name(p, def->name);
	*p++ = !def->has_no_ts;
	p = store16(p, def->field_cnt);
	for (uint16_t i = 0; i < def->field_cnt; i++) {
		p = store_name(p, def->fields[i].name);
		*p++ = def->fields[i].type;
	}
	enc->len = (size_t)(p - enc->buf);
	return 0;
}

/* Would a reader find exactly v->cnt sound entries in v->sz bytes? */
static bool items_are_sound(const struct d9_value *v)
{
	struct d9_iter it = { 0 };
	struct d9_pair pair;
	struct d9_value item;
	uint64_t cnt = 0;

	if (v->sz > D9_UNIT_MAX / 2 || v->cnt > D9_ITEM_MAX)
		return false;
	if (v->type == D9_T_MAP)
		while (d9_map_next(v, &it, &pair))
			cnt++;
	else
		while (d9_dyn_next(v, &it, &item))
			cnt++;
	return cnt == (uint64_t)v->cnt * (v->type == D9_T_DYN_MAP ? 2 : 1) && it.off == v->sz;
}

/* Bytes of one value, presence byte included; 0 if it does not fit its field. */
static size_t value_sz(uint8_t type, const struct d9_value *v)
{
	size_t opt = type & D9_T_OPTIONAL ? 1 : 0;

	if (v->type == D9_T_NONE)
		return opt;
	if (v->type != (type & ~D9_T_OPTIONAL))
		return 0;
	switch (v->type) {
	case D9_T_I64:
	case D9_T_F64:
		return opt + 8;
	case D9_T_BOOL:
		return v->u <= 1 ? opt + 1 : 0;
	case D9_T_U8:
		return v->u <= UINT8_MAX ? opt + 1 : 0;
	case D9_T_U16:
		return v->u <= UINT16_MAX ? opt + 2 : 0;
	case D9_T_U32:
		return v->u <= UINT32_MAX ? opt + 4 : 0;
	case D9_T_VARINT:
		return opt + varint_sz(v->u);
	case D9_T_STRING:
	case D9_T_BYTES:
		return v->cnt <= D9_UNIT_MAX / 2 ? opt + 4 + v->cnt : 0;
	case D9_T_STACK:
		return v->cnt <= D9_UNIT_MAX / 16 ? opt + 4 + (size_t)v->cnt * 8 : 0;
	case D9_T_MAP:
	case D9_T_DYN_LIST:
	case D9_T_DYN_MAP:
		return items_are_sound(v) ? opt + 4 + v->sz : 0;
	default: /* PSTRING, PSTACK */
		return opt + 4;
	}
}

static uint8_t *value_store(uint8_t *p, uint8_t type, const struct d9_value *v)
{
	if (type & D9_T_OPTIONAL)
		*p++ = v->type != D9_T_NONE;
	switch (v->type) {
	case D9_T_NONE:
		return p;
	case D9_T_I64:
	case D9_T_F64:
		return store64(p, v->u);
	case D9_T_BOOL:
	case D9_T_U8:
		*p++ = (uint8_t)v->u;
		return p;
	case D9_T_U16:
		return store16(p, (uint16_t)v->u);
	case D9_T_U32:
		return store32(p, (uint32_t)v->u);
	case D9_T_VARINT:
		return store_varint(p, v->u);
	case D9_T_STRING:
	case D9_T_BYTES:
		return store_bytes(store32(p, v->cnt), v->bytes, v->cnt);
	case D9_T_STACK:
		p = store32(p, v->cnt);
		for (uint32_t i = 0; i < v->cnt; i++)
			p = store64(p, v->frames[i]);
		return p;
	case D9_T_MAP:
	case D9_T_DYN_LIST:
	case D9_T_DYN_MAP:
		return store_bytes(store32(p, v->cnt), v->bytes, v->sz);
	default:
		return store32(p, v->pool_id);
	}
}

int d9_put_any(struct d9_enc *enc, uint64_t ts_ns, const struct d9_any_def *def,
	       const struct d9_value *values)
{
	size_t sz = D9_EVENT_BOUND;
	uint8_t *p;

	if (!enc->batch_no)
		return -D9_E_STATE;
	for (uint16_t i = 0; i < def->field_cnt; i++) {
		size_t one = value_sz(def->fields[i].type, &values[i]);

		if (!one)
			return -D9_E_BAD_VALUE;
		sz += one;
	}
	if (sz > D9_UNIT_MAX)
		return -D9_E_TOO_BIG;
	if (!enc_has_room(enc, sz))
		return -D9_E_ROOM;
	if (def->has_no_ts) {
		p = enc->buf + enc->len;
		*p++ = TAG_EVENT;
		p = store16(p, def->type_id);
	} else {
		p = event_head(enc, def->type_id, ts_ns);
	}
	for (uint16_t i = 0; i < def->field_cnt; i++)
		p = value_store(p, def->fields[i].type, &values[i]);
	event_done(enc, p);
	return 0;
}

int d9_put_annotations(struct d9_enc *enc, uint16_t type_id, const struct d9_annotation *a,
		       size_t cnt)
{
	size_t sz = 1 + VARINT_MAX_SZ + 2;
	uint8_t *p = enc->buf + enc->len;

	if (!enc->batch_no)
		return -D9_E_STATE;
	if (cnt > UINT16_MAX)
		return -D9_E_TOO_BIG;
	for (size_t i = 0; i < cnt; i++) {
		if (a[i].key.len > D9_NAME_MAX)
			return -D9_E_TOO_BIG;
		sz += 8 + (size_t)a[i].key.len + a[i].val.len;
	}
	if (sz > D9_UNIT_MAX)
		return -D9_E_TOO_BIG;
	if (!enc_has_room(enc, sz))
		return -D9_E_ROOM;
	*p++ = TAG_ANNOTATIONS;
	p = store_varint(p, type_id);
	p = store16(p, (uint16_t)cnt);
	for (size_t i = 0; i < cnt; i++) {
		p = store16(p, a[i].field_idx);
		p = store_bytes(store16(p, (uint16_t)a[i].key.len), a[i].key.p, a[i].key.len);
		p = store_bytes(store32(p, a[i].val.len), a[i].val.p, a[i].val.len);
	}
	enc->len = (size_t)(p - enc->buf);
	return 0;
}
