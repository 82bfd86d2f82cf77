// SPDX-License-Identifier: Apache-2.0
/*
 * fields.c - the fields of an event. Most events are of few plain types and stand whole in the
 * chunk: these are read without a look at its end.
 */
#include "decode.h"

#include <errno.h>
#include <stdlib.h>

static void pool_resolve(struct d9_dec *dec, const struct idmap *pool, struct d9_value *v)
{
	const struct idmap_entry *e = idmap_get(pool, v->pool_id);

	v->bytes = e ? e->p : NULL;
	v->cnt = e ? e->cnt : 0;
	dec->stats.unresolved += !e;
}

/* Inline stacks may lie unaligned in the chunk: copy all of the event's to one aligned place. */
static int stacks_align(struct d9_dec *dec, const struct dec_schema *s)
{
	size_t cnt = 0;
	uint64_t *to;

	for (uint16_t i = 0; i < s->pub.field_cnt; i++)
		cnt += dec->values[i].type == D9_T_STACK ? dec->values[i].cnt : 0;
	if (cnt >= dec->frames_cap) {
		free(dec->frames);
		dec->frames_cap = 0;
		/* one more, so that an empty stack too has a place to point to */
		dec->frames = malloc((cnt + 1) * sizeof(*to));
		if (!dec->frames)
			return -ENOMEM;
		dec->frames_cap = cnt + 1;
	}
	to = dec->frames;
	for (uint16_t i = 0; i < s->pub.field_cnt; i++) {
		struct d9_value *v = &dec->values[i];

		if (v->type != D9_T_STACK)
			continue;
		for (uint32_t k = 0; k < v->cnt; k++)
			to[k] = load64(v->bytes + (size_t)k * 8);
		v->frames = to;
		to += v->cnt;
	}
	return 0;
}

/* After the fields of an event were read whole: ids to contents. */
static int values_resolve(struct d9_dec *dec, const struct dec_schema *s)
{
	for (uint16_t i = 0; i < s->pub.field_cnt; i++) {
		struct d9_value *v = &dec->values[i];

		if (v->type == D9_T_PSTRING)
			pool_resolve(dec, &dec->strings, v);
		else if (v->type == D9_T_PSTACK)
			pool_resolve(dec, &dec->stacks, v);
	}
	return s->has_stack ? stacks_align(dec, s) : 0;
}

/* The fields of an event of which more bytes are at hand than it can have, all of plain types.
 * Where they end; NULL: a varint is none, as fields_read_any will find. */
static const uint8_t *fields_read_plain(struct d9_dec *dec, const struct dec_schema *s,
					const uint8_t *p)
{
	for (uint16_t i = 0; i < s->pub.field_cnt; i++) {
		struct d9_value *v = &dec->values[i];
		uint8_t type = s->types[i];

		if (type & D9_T_OPTIONAL) {
			v->type = D9_T_NONE;
			if (!*p++)
				continue;
			type &= (uint8_t)~D9_T_OPTIONAL;
		}
		v->type = type;
		if (type == D9_T_VARINT) {
			uint64_t u = *p & 0x7f;

			for (unsigned int shift = 7; *p++ & 0x80; shift += 7) {
				if (unlikely(shift == 63 && *p > 1))
					return NULL;
				u |= (uint64_t)(*p & 0x7f) << shift;
			}
			v->u = u;
		} else if (type == D9_T_U8) {
			v->u = *p++;
		} else {
			v->u = load32(p);
			if (type != D9_T_U32)
				v->pool_id = load32(p);
			p += 4;
		}
	}
	return p;
}

static int fields_read_any(struct d9_dec *dec, const struct dec_schema *s, struct cursor *c)
{
	int rc;

	for (uint16_t i = 0; i < s->pub.field_cnt; i++) {
		uint8_t type = s->types[i];

		if (type & D9_T_OPTIONAL) {
			rc = cursor_need(c, 1);
			if (rc)
				return rc;
			if (!*c->p++) {
				dec->values[i].type = D9_T_NONE;
				continue;
			}
			type &= (uint8_t)~D9_T_OPTIONAL;
		}
		rc = value_read(c, type, &dec->values[i]);
		if (unlikely(rc))
			return rc;
	}
	return 0;
}

int fields_read(struct d9_dec *dec, const struct dec_schema *s, struct cursor *c)
{
	const uint8_t *end = NULL;
	int rc;

	if (likely(s->plain_sz && cursor_left(c) >= s->plain_sz))
		end = fields_read_plain(dec, s, c->p);
	if (likely(end)) {
		c->p = end;
	} else {
		rc = fields_read_any(dec, s, c);
		if (rc)
			return rc;
	}
	return s->has_pooled || s->has_stack ? values_resolve(dec, s) : 0;
}
