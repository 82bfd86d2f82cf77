/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode.h - what the encoder's files share: room, event heads, schema frames.
 */
#ifndef DIAL9_ENCODE_H
#define DIAL9_ENCODE_H

#include "bytes.h"
#include "schema.h"

/* event_head() stores 8 bytes for its 6, so a bound counts two more; D9_EVENT_BOUND does. */
#define HEAD_SZ 6u
#define RESET_SZ 9u
_Static_assert(D9_EVENT_BOUND >= HEAD_SZ + RESET_SZ + 2, "head, reset and the wide store");

static inline bool enc_has_room(const struct d9_enc *enc, size_t sz)
{
	return likely(enc->cap - enc->len >= sz);
}

/* Reset frame if the step does not fit, then tag, type and delta. Returns where the fields go. */
static inline uint8_t *event_head(struct d9_enc *enc, uint16_t type_id, uint64_t ts_ns)
{
	uint8_t *p = enc->buf + enc->len;
	uint64_t delta = ts_ns - enc->base_ns;

	if (unlikely(ts_ns < enc->base_ns || delta > D9_DELTA_MAX_NS)) {
		*p++ = TAG_RESET;
		p = store64(p, ts_ns);
		delta = 0;
	}
	enc->base_ns = ts_ns;
	store64(p, TAG_EVENT | (uint64_t)type_id << 8 | delta << 24);
	return p + HEAD_SZ;
}

static inline void event_done(struct d9_enc *enc, const uint8_t *end)
{
	enc->len = (size_t)(end - enc->buf);
	enc->event_cnt++;
}

/* Name with its u16 length; the caller has checked room and D9_NAME_MAX. */
static inline uint8_t *store_name(uint8_t *p, const char *name)
{
	size_t len = strlen(name);

	return store_bytes(store16(p, (uint16_t)len), name, len);
}

#endif
