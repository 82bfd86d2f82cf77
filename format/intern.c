// SPDX-License-Identifier: Apache-2.0
/*
 * intern.c - pool frames: each new string or stack is written as a frame of one entry, before its
 * first use. One entry a frame costs 5 bytes more than a gathered frame and keeps order simple;
 * compression takes most of it back.
 */
#include "encode.h"
#include "pool.h"

#define POOL_FRAME_SZ 13u /* tag, entries, id, length */

static uint8_t *pool_frame_head(uint8_t *p, enum frame_tag tag, uint32_t id, size_t cnt)
{
	*p++ = (uint8_t)tag;
	p = store32(p, 1);
	p = store32(p, id);
	return store32(p, (uint32_t)cnt);
}

int d9_put_pool_str(struct d9_enc *enc, uint32_t id, const char *str, size_t len)
{
	uint8_t *p = enc->buf + enc->len;

	if (!enc->batch_no)
		return -D9_E_STATE;
	if (len > D9_UNIT_MAX / 2)
		return -D9_E_TOO_BIG;
	if (!enc_has_room(enc, POOL_FRAME_SZ + len))
		return -D9_E_ROOM;
	p = pool_frame_head(p, TAG_STRINGS, id, len);
	p = store_bytes(p, str, len);
	enc->len = (size_t)(p - enc->buf);
	return 0;
}

int d9_put_pool_stack(struct d9_enc *enc, uint32_t id, const uint64_t *frames, size_t cnt)
{
	uint8_t *p = enc->buf + enc->len;

	if (!enc->batch_no)
		return -D9_E_STATE;
	if (cnt > D9_UNIT_MAX / 16)
		return -D9_E_TOO_BIG;
	if (!enc_has_room(enc, POOL_FRAME_SZ + cnt * sizeof(*frames)))
		return -D9_E_ROOM;
	p = pool_frame_head(p, TAG_STACKS, id, cnt);
	for (size_t i = 0; i < cnt; i++)
		p = store64(p, frames[i]);
	enc->len = (size_t)(p - enc->buf);
	return 0;
}

int d9_intern_str(struct d9_enc *enc, const char *str, size_t len, uint32_t *ret_id)
{
	uint32_t id, at, hash;
	int rc;

	if (!enc->pool || !enc->batch_no)
		return -D9_E_STATE;
	if (len > D9_STR_MAX)
		return -D9_E_TOO_BIG;
	rc = pool_find(enc->pool, POOL_STR, str, len, &id, &at, &hash);
	if (rc < 0)
		return rc;
	if (rc == 1) {
		rc = d9_put_pool_str(enc, id, str, len);
		if (rc)
			return rc;
		pool_add(enc->pool, POOL_STR, str, len, at, hash);
	}
	*ret_id = id;
	return 0;
}

int d9_intern_stack(struct d9_enc *enc, const uint64_t *frames, size_t cnt, uint32_t *ret_id)
{
	size_t len = cnt * sizeof(*frames);
	uint32_t id, at, hash;
	int rc;

	if (!enc->pool || !enc->batch_no)
		return -D9_E_STATE;
	if (cnt > D9_STACK_MAX)
		return -D9_E_TOO_BIG;
	rc = pool_find(enc->pool, POOL_STACK, frames, len, &id, &at, &hash);
	if (rc < 0)
		return rc;
	if (rc == 1) {
		rc = d9_put_pool_stack(enc, id, frames, cnt);
		if (rc)
			return rc;
		pool_add(enc->pool, POOL_STACK, frames, len, at, hash);
	}
	*ret_id = id;
	return 0;
}
