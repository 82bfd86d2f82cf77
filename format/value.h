/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - reading one field value from a cursor.
 */
#ifndef DIAL9_VALUE_H
#define DIAL9_VALUE_H

#include "bytes.h"
#include "schema.h"

/* Bytes [p, end) of a unit (event, schema, pool entry) of which more may come. */
struct cursor {
	const uint8_t *p, *end;
	size_t want; /* after READ_MORE: at least so many bytes beyond end are missing */
	uint32_t unit_max; /* lengths above this are refused at once */
};

/* Readers return 0, READ_MORE or -D9_E_*; the cursor is left anywhere unless 0 came back. */
#define READ_MORE 1

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

static inline int cursor_need(struct cursor *c, size_t sz)
{
	if (likely(cursor_left(c) >= sz))
		return 0;
	c->want = sz - cursor_left(c);
	return READ_MORE;
}

/* Varint of more than one byte, or at the very end. */
int varint_read_slow(struct cursor *c, uint64_t *ret);

static inline int varint_read(struct cursor *c, uint64_t *ret)
{
	if (likely(c->p < c->end && *c->p < 0x80)) {
		*ret = *c->p++;
		return 0;
	}
	return varint_read_slow(c, ret);
}

/*
 * u32 length, then so many bytes (or items of item_sz): *ret_p at the first, c->p behind the last.
 */
int span_read(struct cursor *c, uint32_t item_sz, const uint8_t **ret_p, uint32_t *ret_cnt);

/*
 * A value of any type. STACK comes back as raw bytes (.bytes, possibly unaligned); pools unresolved.
 */
int value_read(struct cursor *c, uint8_t type, struct d9_value *v);

#endif
