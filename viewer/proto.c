// SPDX-License-Identifier: Apache-2.0
/* proto.c - tags, varints and lengths. */
#include "proto.h"

#include "plain.h"

#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static bool proto_room(struct proto *m, size_t len)
{
	size_t cap = 2 * (m->len + len) + 64;
	uint8_t *p;

	if (m->len + len <= m->cap)
		return true;
	p = m->failed ? NULL : realloc(m->p, cap);
	if (!p) {
		m->failed = true;
		return false;
	}
	m->p = p;
	m->cap = cap;
	return true;
}

void proto_free(struct proto *m)
{
	free(m->p);
	*m = (struct proto){ 0 };
}

void proto_varint(struct proto *m, uint64_t value)
{
	if (!proto_room(m, 10))
		return;
	for (; value > 0x7f; value >>= 7)
		m->p[m->len++] = (uint8_t)(value | 0x80);
	m->p[m->len++] = (uint8_t)value;
}

static void proto_tag(struct proto *m, uint32_t field, uint32_t wire)
{
	proto_varint(m, (uint64_t)field << 3 | wire);
}

void proto_u64(struct proto *m, uint32_t field, uint64_t value)
{
	proto_tag(m, field, WIRE_VARINT);
	proto_varint(m, value);
}

void proto_fixed64(struct proto *m, uint32_t field, uint64_t value)
{
	proto_tag(m, field, WIRE_FIXED64);
	if (!proto_room(m, 8))
		return;
	for (int i = 0; i < 8; i++)
		m->p[m->len++] = (uint8_t)(value >> 8 * i);
}

void proto_bytes(struct proto *m, uint32_t field, const void *p, size_t len)
{
	proto_tag(m, field, WIRE_BYTES);
	proto_varint(m, len);
	if (len == 0 || !proto_room(m, len))
		return;
	memcpy(m->p + m->len, p, len);
	m->len += len;
}

void proto_message(struct proto *m, uint32_t field, struct proto *inner)
{
	m->failed |= inner->failed;
	proto_bytes(m, field, inner->p, inner->len);
	inner->len = 0;
}

void proto_text(struct proto *m, uint32_t field, const char *p, size_t len)
{
	size_t from;

	proto_bytes(m, field, p, len);
	if (m->failed)
		return;
	for (from = m->len - len; from < m->len;) {
		size_t n = plain_char((const char *)m->p + from, m->len - from, NULL);

		if (n == 0)
			m->p[from] = '?';
		from += n ? n : 1;
	}
}
