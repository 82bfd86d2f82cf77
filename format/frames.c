// SPDX-License-Identifier: Apache-2.0
/*
 * frames.c - frames that change the decoder's state: headers, schemas, annotations, pools.
 */
#include <errno.h>
#include <stdlib.h>

#include "decode.h"

int frame_header(struct d9_dec *dec, struct cursor *c)
{
	size_t have = cursor_left(c) < TRACE_MAGIC_SZ ? cursor_left(c) : TRACE_MAGIC_SZ;
	int rc;

	if (memcmp(c->p, TRACE_MAGIC, have))
		return dec->state == DEC_START ? -D9_E_MAGIC : -D9_E_TAG;
	rc = cursor_need(c, D9_HEADER_SZ);
	if (rc)
		return rc;
	if (c->p[TRACE_MAGIC_SZ] != TRACE_VERSION)
		return -D9_E_VERSION;
	c->p += D9_HEADER_SZ;
	for (uint32_t i = 0; i < dec->schema_cnt; i++)
		dec->by_type[dec->schemas[i]->pub.type_id] = 0;
	dec->schema_cnt = 0;
	arena_reset(&dec->arena);
	idmap_reset(&dec->strings);
	idmap_reset(&dec->stacks);
	dec->base_ns = 0;
	dec->state = DEC_FRAME;
	dec->stats.headers++;
	return 0;
}

/* u16 length and a name. */
static int name_read(struct cursor *c, const uint8_t **ret_p, uint16_t *ret_len)
{
	uint16_t len;
	int rc = cursor_need(c, 2);

	if (rc)
		return rc;
	len = load16(c->p);
	if (len > D9_NAME_MAX)
		return -D9_E_LIMIT;
	c->p += 2;
	rc = cursor_need(c, len);
	if (rc)
		return rc;
	*ret_p = c->p;
	*ret_len = len;
	c->p += len;
	return 0;
}

struct schema_head {
	uint16_t type_id;
	const uint8_t *name;
	uint16_t name_len;
	bool has_ts;
	uint16_t field_cnt;
};

static int schema_head_read(struct cursor *c, struct schema_head *h)
{
	int rc = cursor_need(c, 3);

	if (rc)
		return rc;
	h->type_id = load16(c->p + 1);
	c->p += 3;
	rc = name_read(c, &h->name, &h->name_len);
	if (rc)
		return rc;
	rc = cursor_need(c, 3);
	if (rc)
		return rc;
	h->has_ts = c->p[0] != 0;
	h->field_cnt = load16(c->p + 1);
	c->p += 3;
	return h->field_cnt > D9_FIELD_MAX ? -D9_E_LIMIT : 0;
}

static int field_read(struct cursor *c, const uint8_t **ret_name, uint16_t *ret_len,
		      uint8_t *ret_type)
{
	int rc = name_read(c, ret_name, ret_len);

	if (rc)
		return rc;
	rc = cursor_need(c, 1);
	if (rc)
		return rc;
	*ret_type = *c->p++;
	return type_is_known(*ret_type) ? 0 : -D9_E_TYPE;
}

static void slots_fill(struct d9_schema *s)
{
	const struct d9_event_def *def = d9_event_def(s->kind);

	for (int i = 0; i < D9_SLOT_CNT; i++)
		s->slot[i] = -1;
	for (int i = 0; def && i < def->field_cnt; i++)
		for (uint16_t k = 0; k < s->field_cnt; k++)
			if (!strcmp(def->fields[i].name, s->fields[k].name))
				s->slot[i] = (int16_t)k;
}

/* Bytes of a field at most, of the types that fields.c reads without a look at the chunk's end. */
static uint32_t plain_field_sz(uint8_t type, bool *is_plain)
{
	switch (type & ~D9_T_OPTIONAL) {
	case D9_T_VARINT:
		return 1 + VARINT_MAX_SZ;
	case D9_T_U8:
	case D9_T_U32:
	case D9_T_PSTRING:
	case D9_T_PSTACK:
		return 1 + 4;
	default:
		*is_plain = false;
		return 0;
	}
}

/* Second pass over a frame that is known to be whole and sound. */
static int schema_build(struct d9_dec *dec, const struct schema_head *h, struct cursor *c,
			struct dec_schema *s)
{
	struct d9_field *fields;
	uint32_t fields_sz = 0;
	bool is_plain = true;
	uint8_t *types;
	void *p;
	int rc;

	s->pub.type_id = h->type_id;
	s->pub.name_len = h->name_len;
	s->pub.field_cnt = h->field_cnt;
	s->pub.has_ts = h->has_ts;
	s->pub.kind = d9_event_by_name((const char *)h->name, h->name_len);
	rc = arena_copy(&dec->arena, h->name, h->name_len, &s->pub.name);
	if (rc)
		return rc;
	rc = arena_take(&dec->arena, h->field_cnt * (sizeof(*fields) + 1), &p);
	if (rc)
		return rc;
	s->pub.fields = fields = p;
	s->types = types = (uint8_t *)(fields + h->field_cnt);
	for (uint16_t i = 0; i < h->field_cnt; i++) {
		const uint8_t *name;

		rc = field_read(c, &name, &fields[i].name_len, &types[i]);
		if (rc)
			return rc;
		rc = arena_copy(&dec->arena, name, fields[i].name_len, &fields[i].name);
		if (rc)
			return rc;
		fields[i].type = types[i];
		fields_sz += plain_field_sz(types[i], &is_plain);
		s->has_stack |= (types[i] & ~D9_T_OPTIONAL) == D9_T_STACK;
		s->has_pooled |= (types[i] & ~D9_T_OPTIONAL) == D9_T_PSTRING ||
				 (types[i] & ~D9_T_OPTIONAL) == D9_T_PSTACK;
	}
	s->plain_sz = is_plain ? (uint16_t)fields_sz : 0;
	slots_fill(&s->pub);
	return 0;
}

static int schemas_grow(struct d9_dec *dec)
{
	uint32_t cap = dec->schema_cap ? dec->schema_cap * 2 : 64;
	struct dec_schema **schemas = realloc(dec->schemas, cap * sizeof(*schemas));

	if (!schemas)
		return -ENOMEM;
	dec->schemas = schemas;
	dec->schema_cap = cap;
	return 0;
}

static int schema_add(struct d9_dec *dec, const struct schema_head *h, struct cursor *fields,
		      const uint8_t *raw, size_t raw_sz)
{
	struct dec_schema *s;
	void *p;
	int rc;

	if (dec->schema_cnt >= dec->opt.schema_max)
		return -D9_E_LIMIT;
	if (dec->schema_cnt == dec->schema_cap) {
		rc = schemas_grow(dec);
		if (rc)
			return rc;
	}
	rc = arena_take(&dec->arena, sizeof(*s), &p);
	if (rc)
		return rc;
	s = p;
	*s = (struct dec_schema){ .raw_sz = raw_sz };
	rc = arena_copy(&dec->arena, raw, raw_sz, &s->raw);
	if (rc)
		return rc;
	rc = schema_build(dec, h, fields, s);
	if (rc)
		return rc;
	dec->schemas[dec->schema_cnt++] = s;
	dec->by_type[h->type_id] = (uint16_t)dec->schema_cnt;
	return 0;
}

int frame_schema(struct d9_dec *dec, struct cursor *c)
{
	const uint8_t *raw = c->p, *name;
	struct cursor fields;
	struct schema_head h;
	uint16_t at, len;
	uint8_t type;
	size_t raw_sz;
	int rc;

	rc = schema_head_read(c, &h);
	if (rc)
		return rc;
	fields = *c;
	for (uint16_t i = 0; i < h.field_cnt; i++) {
		rc = field_read(c, &name, &len, &type);
		if (rc)
			return rc;
	}
	raw_sz = (size_t)(c->p - raw);
	at = dec->by_type[h.type_id];
	if (at) {
		const struct dec_schema *old = dec->schemas[at - 1];

		if (old->raw_sz != raw_sz || memcmp(old->raw, raw, raw_sz))
			return -D9_E_REDEFINED;
		rc = 0;
	} else {
		rc = schema_add(dec, &h, &fields, raw, raw_sz);
	}
	dec->stats.schemas += !rc;
	return rc;
}

static int annotation_read(struct cursor *c, struct d9_annotation *a)
{
	const uint8_t *key, *val;
	uint16_t key_len;
	int rc = cursor_need(c, 2);

	if (rc)
		return rc;
	a->field_idx = load16(c->p);
	c->p += 2;
	rc = name_read(c, &key, &key_len);
	if (rc)
		return rc;
	rc = span_read(c, 1, &val, &a->val.len);
	if (rc)
		return rc;
	a->key = (struct d9_str){ (const char *)key, key_len };
	a->val.p = (const char *)val;
	return 0;
}

static int annotation_add(struct d9_dec *dec, struct dec_schema *s, struct d9_annotation a)
{
	uint32_t cap = s->annotation_cap;
	void *p;
	int rc;

	if (s->pub.annotation_cnt == cap) {
		cap = cap ? cap * 2 : 4;
		rc = arena_take(&dec->arena, cap * sizeof(a), &p);
		if (rc)
			return rc;
		if (s->annotations)
			memcpy(p, s->annotations, s->pub.annotation_cnt * sizeof(a));
		s->pub.annotations = s->annotations = p;
		s->annotation_cap = cap;
	}
	rc = arena_copy(&dec->arena, a.key.p, a.key.len, &a.key.p);
	if (!rc)
		rc = arena_copy(&dec->arena, a.val.p, a.val.len, &a.val.p);
	if (rc)
		return rc;
	s->annotations[s->pub.annotation_cnt++] = a;
	return 0;
}

/* Annotations of an undeclared type have nowhere to go and are skipped, as dial9 does. */
int frame_annotations(struct d9_dec *dec, struct cursor *c)
{
	struct d9_annotation a;
	struct cursor entries;
	uint64_t type_id;
	uint16_t cnt, at;
	int rc;

	c->p++;
	rc = varint_read(c, &type_id);
	if (rc)
		return rc;
	rc = cursor_need(c, 2);
	if (rc)
		return rc;
	cnt = load16(c->p);
	c->p += 2;
	entries = *c;
	for (uint16_t i = 0; i < cnt; i++) {
		rc = annotation_read(c, &a);
		if (rc)
			return rc;
	}
	at = type_id < TYPE_CNT ? dec->by_type[type_id] : 0;
	for (uint16_t i = 0; at && i < cnt; i++) {
		rc = annotation_read(&entries, &a);
		if (!rc)
			rc = annotation_add(dec, dec->schemas[at - 1], a);
		if (rc)
			return rc;
	}
	dec->stats.annotations += cnt;
	return 0;
}

int frame_pool_entry(struct d9_dec *dec, struct cursor *c)
{
	bool is_stack = dec->state == DEC_STACKS;
	const uint8_t *p;
	const char *str;
	uint64_t *frames;
	uint32_t id, cnt;
	void *to;
	int rc = cursor_need(c, 8);

	if (rc)
		return rc;
	id = load32(c->p);
	c->p += 4;
	rc = span_read(c, is_stack ? 8 : 1, &p, &cnt);
	if (rc)
		return rc;
	if (is_stack) {
		rc = arena_take(&dec->arena, (size_t)cnt * 8, &to);
		if (rc)
			return rc;
		frames = to;
		for (uint32_t i = 0; i < cnt; i++)
			frames[i] = load64(p + (size_t)i * 8);
		rc = idmap_put(&dec->stacks, id, frames, cnt);
		dec->stats.stacks += !rc;
	} else {
		rc = arena_copy(&dec->arena, p, cnt, &str);
		if (rc)
			return rc;
		rc = idmap_put(&dec->strings, id, str, cnt);
		dec->stats.strings += !rc;
	}
	if (!rc && !--dec->entries_left)
		dec->state = DEC_FRAME;
	return rc;
}
