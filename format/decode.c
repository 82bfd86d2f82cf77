// SPDX-License-Identifier: Apache-2.0
/*
 * decode.c - bytes in chunks of any size to events. Units are read in place from the caller's
 * chunk; only a unit cut by the end of a chunk is gathered in a buffer of our own.
 */
#include "decode.h"

#include <errno.h>
#include <stdlib.h>

#define UNIT_EVENT 2 /* unit_read: an event is in dec->values */
#define CARRY_STEP 256u /* gather at least so much: a few events in one copy */

int d9_dec_new(struct d9_dec **ret, const struct d9_dec_opt *opt)
{
	struct d9_dec *dec = calloc(1, sizeof(*dec));

	if (!dec)
		return -ENOMEM;
	if (opt)
		dec->opt = *opt;
	if (!dec->opt.pool_cnt_max)
		dec->opt.pool_cnt_max = D9_POOL_CNT_MAX;
	if (!dec->opt.pool_sz_max)
		dec->opt.pool_sz_max = D9_POOL_SZ_MAX;
	if (!dec->opt.unit_sz_max || dec->opt.unit_sz_max > D9_UNIT_MAX)
		dec->opt.unit_sz_max = D9_UNIT_MAX;
	if (!dec->opt.schema_max || dec->opt.schema_max > D9_SCHEMA_MAX)
		dec->opt.schema_max = D9_SCHEMA_MAX;
	arena_init(&dec->arena, dec->opt.pool_sz_max);
	idmap_init(&dec->strings, dec->opt.pool_cnt_max);
	idmap_init(&dec->stacks, dec->opt.pool_cnt_max);
	*ret = dec;
	return 0;
}

void d9_dec_free(struct d9_dec *dec)
{
	if (!dec)
		return;
	arena_done(&dec->arena);
	idmap_done(&dec->strings);
	idmap_done(&dec->stacks);
	free(dec->schemas);
	free(dec->carry);
	free(dec->frames);
	free(dec);
}

static inline int event_read(struct d9_dec *dec, struct cursor *c, struct d9_ev *ev)
{
	const struct dec_schema *s;
	uint64_t ts_ns = dec->base_ns;
	uint16_t at;
	int rc;

	rc = cursor_need(c, 3);
	if (rc)
		return rc;
	at = dec->by_type[load16(c->p + 1)];
	c->p += 3;
	if (unlikely(!at))
		return -D9_E_NO_SCHEMA;
	s = dec->schemas[at - 1];
	if (likely(s->pub.has_ts)) {
		rc = cursor_need(c, 3);
		if (rc)
			return rc;
		ts_ns += load16(c->p) | (uint32_t)c->p[2] << 16;
		if (unlikely(ts_ns < dec->base_ns))
			return -D9_E_TIME;
		c->p += 3;
	}
	rc = fields_read(dec, s, c);
	if (rc)
		return rc;
	dec->base_ns = ts_ns;
	*ev = (struct d9_ev){
		.schema = &s->pub,
		.values = dec->values,
		.ts_ns = ts_ns,
		.batch = dec->stats.headers,
		.off = dec->off,
	};
	return UNIT_EVENT;
}

static int pool_head_read(struct d9_dec *dec, struct cursor *c, enum dec_state state)
{
	int rc = cursor_need(c, 5);

	if (rc)
		return rc;
	dec->entries_left = load32(c->p + 1);
	if (dec->entries_left)
		dec->state = state;
	c->p += 5;
	return 0;
}

static int reset_read(struct d9_dec *dec, struct cursor *c)
{
	int rc = cursor_need(c, 9);

	if (rc)
		return rc;
	dec->base_ns = load64(c->p + 1);
	dec->stats.resets++;
	c->p += 9;
	return 0;
}

/* One unit at c->p, of which at least one byte is there. 0, UNIT_EVENT, READ_MORE or an error. */
static int unit_read_any(struct d9_dec *dec, struct cursor *c, struct d9_ev *ev)
{
	if (dec->state == DEC_STRINGS || dec->state == DEC_STACKS)
		return frame_pool_entry(dec, c);
	if (unlikely(dec->state == DEC_START))
		return frame_header(dec, c);
	switch (*c->p) {
	case TAG_EVENT:
		return event_read(dec, c, ev);
	case TAG_RESET:
		return reset_read(dec, c);
	case TAG_STRINGS:
		return pool_head_read(dec, c, DEC_STRINGS);
	case TAG_STACKS:
		return pool_head_read(dec, c, DEC_STACKS);
	case TAG_SCHEMA:
		return frame_schema(dec, c);
	case TAG_ANNOTATIONS:
		return frame_annotations(dec, c);
	case TAG_HEADER:
		return frame_header(dec, c);
	default:
		return -D9_E_TAG;
	}
}

/* As above. Lengths inside a unit are bounded one by one; this bounds their sum. */
static int unit_read(struct d9_dec *dec, struct cursor *c, struct d9_ev *ev)
{
	const uint8_t *start = c->p;
	int rc = unit_read_any(dec, c, ev);
	size_t sz = (size_t)((rc == READ_MORE ? c->end : c->p) - start);

	if (unlikely(rc == READ_MORE))
		sz += c->want;
	return unlikely(rc >= 0 && sz > c->unit_max) ? -D9_E_LIMIT : rc;
}

/* Move up to want bytes of the chunk behind what is gathered. */
static int carry_fill(struct d9_dec *dec, size_t want)
{
	size_t have = (size_t)(dec->in_end - dec->in);
	size_t sz = want < have ? want : have;

	if (dec->carry_len + sz > dec->carry_cap) {
		size_t cap = dec->carry_cap ? dec->carry_cap : 4 * CARRY_STEP;
		uint8_t *carry;

		while (cap < dec->carry_len + sz)
			cap *= 2;
		carry = realloc(dec->carry, cap);
		if (!carry)
			return -ENOMEM;
		dec->carry = carry;
		dec->carry_cap = cap;
	}
	memcpy(dec->carry + dec->carry_len, dec->in, sz);
	dec->carry_len += sz;
	dec->in += sz;
	return 0;
}

/* As unit_read, for a unit whose beginning is in the carry buffer. */
static int carry_read(struct d9_dec *dec, struct d9_ev *ev)
{
	struct cursor c = { .unit_max = dec->opt.unit_sz_max };
	size_t want = dec->carry_want > CARRY_STEP ? dec->carry_want : CARRY_STEP;
	size_t used;
	int rc;

	rc = carry_fill(dec, want);
	if (rc)
		return rc;
	c.p = dec->carry;
	c.end = dec->carry + dec->carry_len;
	rc = unit_read(dec, &c, ev);
	if (rc == READ_MORE) {
		dec->carry_want = c.want;
		return READ_MORE;
	}
	if (rc < 0)
		return rc;
	/* The unit ends in what was copied last; the rest is read again in place. */
	used = (size_t)(c.p - dec->carry);
	dec->in -= dec->carry_len - used;
	dec->carry_len = 0;
	dec->off += used;
	return rc;
}

static int chunk_read(struct d9_dec *dec, struct d9_ev *ev)
{
	struct cursor c = { .p = dec->in, .end = dec->in_end, .unit_max = dec->opt.unit_sz_max };
	int rc = unit_read(dec, &c, ev);

	if (rc == READ_MORE) {
		dec->carry_want = c.want;
		rc = carry_fill(dec, (size_t)(dec->in_end - dec->in));
		return rc ? rc : READ_MORE;
	}
	if (rc < 0)
		return rc;
	dec->off += (uint64_t)(c.p - dec->in);
	dec->in = c.p;
	return rc;
}

int d9_dec_feed(struct d9_dec *dec, const void *bytes, size_t len)
{
	if (dec->state == DEC_FAILED)
		return dec->rc;
	if (dec->in != dec->in_end)
		return -D9_E_STATE;
	dec->in = bytes;
	dec->in_end = dec->in + len;
	dec->stats.bytes += len;
	return 0;
}

int d9_dec_next(struct d9_dec *dec, struct d9_ev *ret)
{
	int rc = 0;

	if (unlikely(dec->state == DEC_FAILED))
		return dec->rc;
	while (dec->in != dec->in_end) {
		rc = unlikely(dec->carry_len) ? carry_read(dec, ret) : chunk_read(dec, ret);
		if (likely(rc == UNIT_EVENT)) {
			dec->stats.events++;
			return 1;
		}
		if (rc < 0) {
			dec->state = DEC_FAILED;
			dec->rc = rc;
			return rc;
		}
	}
	return 0;
}

int d9_dec_end(struct d9_dec *dec)
{
	if (dec->state == DEC_FAILED)
		return dec->rc;
	if (dec->in != dec->in_end)
		return -D9_E_STATE;
	return dec->state == DEC_FRAME && !dec->carry_len ? 0 : -D9_E_TRUNCATED;
}

uint64_t d9_dec_off(const struct d9_dec *dec)
{
	return dec->off;
}

const struct d9_dec_stats *d9_dec_stats(const struct d9_dec *dec)
{
	return &dec->stats;
}

const struct d9_schema *d9_dec_schema(const struct d9_dec *dec, uint32_t i)
{
	return i < dec->schema_cnt ? &dec->schemas[i]->pub : NULL;
}
