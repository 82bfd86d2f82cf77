// SPDX-License-Identifier: Apache-2.0
/* batch.c - see batch.h. */
#include "agent/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/addrs.h"

_Static_assert(BATCH_ROOM_SZ > 4 * (NAMES_LEN_MAX + 16) + 8 * D9_STACK_MAX + 2048, "room");

int batch_new(const struct emit_sink *sink, void *ctx, struct batch **ret)
{
	struct batch *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->sink = sink;
	b->ctx = ctx;
	b->pool = d9_pool_new(NAMES_MAX, 0, 0);
	if (!b->pool || names_new(&b->names) || addrs_new(&b->addrs)) {
		batch_free(b);
		return -ENOMEM;
	}
	d9_enc_init(&b->enc, b->buf, sizeof(b->buf), b->pool);
	*ret = b;
	return 0;
}

void batch_free(struct batch *b)
{
	if (!b)
		return;
	names_free(b->names);
	addrs_free(b->addrs);
	d9_pool_free(b->pool);
	free(b);
}

void batch_lost(struct batch *b)
{
	for (size_t i = 0; i < D9_EV_CNT; i++) {
		b->stats.events[i] -= b->cnt[i];
		b->stats.lost[i] += b->cnt[i];
		b->loss_cnt[i] += b->cnt[i];
	}
	b->open = b->open_sent;
	b->stats.write_failures++;
	if (b->has_failed)
		return;
	b->has_failed = true;
	b->loss_from_ns = b->from_ns; /* why, the sink has said */
}

int batch_flush(struct batch *b)
{
	int rc = 0;

	if (b->enc.len) {
		rc = b->sink->write(b->ctx, b->buf, b->enc.len);
		b->stats.batches++;
		b->stats.raw_sz += b->enc.len;
		if (rc)
			batch_lost(b);
		else
			b->open_sent = b->open;
		d9_enc_drain(&b->enc);
	}
	memset(b->cnt, 0, sizeof(b->cnt));
	b->since_ns = 0;
	return rc;
}

static void pool_is_full(struct batch *b)
{
	d9_enc_begin(&b->enc);
	b->stats.pool_resets++;
}

uint32_t batch_new_name(struct batch *b, uint32_t name)
{
	size_t len;
	const char *p;

	if (name >= NAMES_MAX)
		name = NAMES_UNKNOWN;
	p = names_get(b->names, name, &len);
	while (d9_intern_str(&b->enc, p, len, &b->pooled[name].id) == -D9_E_POOL_FULL)
		pool_is_full(b);
	b->pooled[name].batch_no = b->enc.batch_no;
	return b->pooled[name].id;
}

uint32_t batch_stack(struct batch *b)
{
	size_t cnt = b->frames_cnt < D9_STACK_MAX ? b->frames_cnt : D9_STACK_MAX;
	size_t before = b->enc.len;
	uint32_t id = 0;

	while (d9_intern_stack(&b->enc, b->frames, cnt, &id) == -D9_E_POOL_FULL)
		pool_is_full(b);
	if (b->enc.len != before) /* new under this header */
		addrs_add(b->addrs, b->frames, cnt);
	return id;
}
