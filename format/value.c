// SPDX-License-Identifier: Apache-2.0
/*
 * value.c - field values: reading, walking maps and lists, converting numbers.
 */
#include "value.h"

#include <string.h>

int varint_read_slow(struct cursor *c, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < VARINT_MAX_SZ; i++) {
		uint8_t b;

		if (c->p + i >= c->end) {
			c->want = 1;
			return READ_MORE;
		}
		b = c->p[i];
		v |= (uint64_t)(b & 0x7f) << (7 * i);
		if (b < 0x80) {
			if (i == VARINT_MAX_SZ - 1 && b > 1)
				return -D9_E_VARINT;
			c->p += i + 1;
			*ret = v;
			return 0;
		}
	}
	return -D9_E_VARINT;
}

int span_read(struct cursor *c, uint32_t item_sz, const uint8_t **ret_p, uint32_t *ret_cnt)
{
	uint32_t cnt;
	int rc = cursor_need(c, 4);

	if (rc)
		return rc;
	cnt = load32(c->p);
	c->p += 4;
	if (cnt > c->unit_max / item_sz)
		return -D9_E_LIMIT;
	rc = cursor_need(c, (size_t)cnt * item_sz);
	if (rc)
		return rc;
	*ret_p = c->p;
	*ret_cnt = cnt;
	c->p += (size_t)cnt * item_sz;
	return 0;
}

static int items_read(struct cursor *c, uint8_t type, struct d9_value *v, unsigned int depth);

static int value_read_deep(struct cursor *c, uint8_t type, struct d9_value *v, unsigned int depth)
{
	/* Bytes of the fixed-size types, 0 for the others. */
	static const uint8_t fixed_sz[D9_T_MAX + 1] = {
		[D9_T_I64] = 8, [D9_T_F64] = 8, [D9_T_BOOL] = 1,    [D9_T_PSTACK] = 4,
		[D9_T_U8] = 1,	[D9_T_U16] = 2, [D9_T_PSTRING] = 4, [D9_T_U32] = 4,
	};
	const uint8_t *p = c->p;
	int rc;

	if (!type_is_known(type) || type & D9_T_OPTIONAL)
		return -D9_E_TYPE;
	rc = cursor_need(c, fixed_sz[type]);
	if (rc)
		return rc;
	c->p += fixed_sz[type];
	*v = (struct d9_value){ .type = type };
	switch (type) {
	case D9_T_I64:
	case D9_T_F64:
		v->u = load64(p);
		return 0;
	case D9_T_BOOL:
		v->u = *p != 0;
		return 0;
	case D9_T_U8:
		v->u = *p;
		return 0;
	case D9_T_U16:
		v->u = load16(p);
		return 0;
	case D9_T_U32:
		v->u = load32(p);
		return 0;
	case D9_T_PSTRING:
	case D9_T_PSTACK:
		v->pool_id = load32(p);
		return 0;
	case D9_T_VARINT:
		return varint_read(c, &v->u);
	case D9_T_STRING:
	case D9_T_BYTES:
		return span_read(c, 1, &v->bytes, &v->cnt);
	case D9_T_STACK:
		return span_read(c, 8, &v->bytes, &v->cnt);
	default:
		return items_read(c, type, v, depth);
	}
}

/* MAP, DYN_LIST, DYN_MAP: walk the entries to find the end; they are read again by the iterators. */
static int items_read(struct cursor *c, uint8_t type, struct d9_value *v, unsigned int depth)
{
	int rc = cursor_need(c, 4);
	uint64_t left;

	if (rc)
		return rc;
	if (depth > D9_NEST_MAX)
		return -D9_E_DEPTH;
	v->cnt = load32(c->p);
	if (v->cnt > D9_ITEM_MAX)
		return -D9_E_LENGTH;
	c->p += 4;
	v->bytes = c->p;
	for (left = (uint64_t)v->cnt * (type == D9_T_DYN_LIST ? 1 : 2); left; left--) {
		struct d9_value item;
		uint8_t item_type = D9_T_STRING;

		if (type != D9_T_MAP) {
			rc = cursor_need(c, 1);
			if (rc)
				return rc;
			item_type = *c->p++;
		}
		rc = value_read_deep(c, item_type, &item, depth + 1);
		if (rc)
			return rc;
	}
	if ((size_t)(c->p - v->bytes) > c->unit_max)
		return -D9_E_LIMIT;
	v->sz = (uint32_t)(c->p - v->bytes);
	return 0;
}

int value_read(struct cursor *c, uint8_t type, struct d9_value *v)
{
	return value_read_deep(c, type, v, 0);
}

static struct cursor items_cursor(const struct d9_value *v, uint32_t off)
{
	off = off > v->sz ? v->sz : off;
	return (struct cursor){
		.p = v->bytes + off,
		.end = v->bytes + v->sz,
		.unit_max = D9_UNIT_MAX,
	};
}

bool d9_map_next(const struct d9_value *map, struct d9_iter *it, struct d9_pair *ret)
{
	struct d9_value key, val;
	struct cursor c;

	if (!map || map->type != D9_T_MAP || it->done >= map->cnt)
		return false;
	c = items_cursor(map, it->off);
	if (value_read(&c, D9_T_STRING, &key) || value_read(&c, D9_T_STRING, &val))
		return false;
	*ret = (struct d9_pair){ { key.str, key.cnt }, { val.str, val.cnt } };
	it->off = (uint32_t)(c.p - map->bytes);
	it->done++;
	return true;
}

bool d9_dyn_next(const struct d9_value *dyn, struct d9_iter *it, struct d9_value *ret)
{
	struct cursor c;

	if (!dyn || (dyn->type != D9_T_DYN_LIST && dyn->type != D9_T_DYN_MAP))
		return false;
	if (it->done / (dyn->type == D9_T_DYN_MAP ? 2 : 1) >= dyn->cnt)
		return false;
	c = items_cursor(dyn, it->off);
	if (cursor_need(&c, 1))
		return false;
	c.p++;
	if (value_read(&c, c.p[-1], ret))
		return false;
	it->off = (uint32_t)(c.p - dyn->bytes);
	it->done++;
	return true;
}

bool d9_value_u64(const struct d9_value *v, uint64_t *ret)
{
	int64_t i;

	switch (v ? v->type : D9_T_NONE) {
	case D9_T_VARINT:
	case D9_T_U8:
	case D9_T_U16:
	case D9_T_U32:
	case D9_T_BOOL:
		*ret = v->u;
		return true;
	case D9_T_I64:
	case D9_T_F64:
		if (!d9_value_i64(v, &i) || i < 0)
			return false;
		*ret = (uint64_t)i;
		return true;
	default:
		return false;
	}
}

bool d9_value_i64(const struct d9_value *v, int64_t *ret)
{
	uint64_t u;

	switch (v ? v->type : D9_T_NONE) {
	case D9_T_I64:
		*ret = v->i;
		return true;
	case D9_T_F64:
		/* Whole numbers only, and only where a double tells them apart. */
		if (!(v->f > -9007199254740992.0 && v->f < 9007199254740992.0) ||
		    (double)(int64_t)v->f != v->f)
			return false;
		*ret = (int64_t)v->f;
		return true;
	default:
		if (!d9_value_u64(v, &u) || u > INT64_MAX)
			return false;
		*ret = (int64_t)u;
		return true;
	}
}

bool d9_value_f64(const struct d9_value *v, double *ret)
{
	uint64_t u;

	if (v && v->type == D9_T_F64) {
		*ret = v->f;
		return true;
	}
	if (v && v->type == D9_T_I64) {
		*ret = (double)v->i;
		return true;
	}
	if (!d9_value_u64(v, &u))
		return false;
	*ret = (double)u;
	return true;
}

struct d9_str d9_value_str(const struct d9_value *v)
{
	if (!v || (v->type != D9_T_STRING && v->type != D9_T_PSTRING))
		return (struct d9_str){ NULL, 0 };
	return (struct d9_str){ v->str, v->cnt };
}

const struct d9_value *d9_val_named(const struct d9_ev *ev, const char *name)
{
	size_t len = strlen(name);

	for (uint16_t i = 0; i < ev->schema->field_cnt; i++)
		if (ev->schema->fields[i].name_len == len &&
		    !memcmp(ev->schema->fields[i].name, name, len))
			return ev->values[i].type ? &ev->values[i] : NULL;
	return NULL;
}
