// SPDX-License-Identifier: Apache-2.0
/*
 * ring.c - one libbpf ring manager over all rings; each record is checked, then copied to its lane.
 *
 * A lane twice as large as its ring takes a whole ring on top of what still waits in the window.
 * If it fills all the same (producers faster than the copy), the drain of that ring stops and goes
 * on after the flush; the kernel then counts what finds no room.
 */
#include "ring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <bpf/libbpf.h>
#include <linux/types.h>

#include "event.h"
#include "probe.h"

#define RING_SAMPLE_LANE_SZ (4u << 20)

struct ring_lane {
	struct rings *rings;
	unsigned no;
	bool is_full; /* the drain stopped for want of room */
};

struct rings {
	struct ring_buffer *manager;
	struct order *order;
	struct ring_lane *lanes;
	unsigned cnt;
	uint64_t bad_cnt;
};

static int ring_on_record(void *ctx, void *data, size_t sz)
{
	struct ring_lane *lane = ctx;
	const struct wire_head *rec = event_check(data, sz);
	int err;

	if (!rec) {
		lane->rings->bad_cnt++;
		return 0;
	}
	err = order_add(lane->rings->order, lane->no, rec, sz);
	if (err < 0) {
		lane->rings->bad_cnt++;
		return err;
	}
	lane->is_full = err;
	return err ? -ENOSPC : 0;
}

int rings_open(const struct probe *p, size_t ring_sz, struct rings **ret)
{
	size_t lane_sz = 2 * ring_sz > RING_SAMPLE_LANE_SZ ? 2 * ring_sz : RING_SAMPLE_LANE_SZ;
	struct rings *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return err;
	r->cnt = probe_rings_cnt(p);
	r->lanes = calloc(r->cnt, sizeof(*r->lanes));
	if (!r->lanes)
		goto out;
	err = order_new(r->cnt, lane_sz, &r->order);
	for (unsigned i = 0; !err && i < r->cnt; i++) {
		int fd = probe_ring_fd(p, i);

		r->lanes[i] = (struct ring_lane){ .rings = r, .no = i };
		if (i > 0) {
			err = ring_buffer__add(r->manager, fd, ring_on_record, &r->lanes[i]);
			continue;
		}
		r->manager = ring_buffer__new(fd, ring_on_record, &r->lanes[i], NULL);
		err = r->manager ? 0 : -errno;
	}
out:
	if (err)
		rings_close(r);
	else
		*ret = r;
	return err;
}

void rings_close(struct rings *r)
{
	if (!r)
		return;
	ring_buffer__free(r->manager);
	order_free(r->order);
	free(r->lanes);
	free(r);
}

/*
 * A record that was reserved but not yet committed hides all behind it: nothing younger than the
 * last one seen of that ring may leave, for as long as it is reasonable to wait.
 */
static uint64_t ring_limit(struct rings *r, unsigned no, uint64_t now_ns, uint64_t upto_ns)
{
	const struct ring *ring = ring_buffer__ring(r->manager, no);
	uint64_t last_ns = order_lane_last(r->order, no);

	if (ring && ring__avail_data_size(ring) && last_ns < upto_ns &&
	    last_ns + RING_STALL_NS > now_ns)
		return last_ns;
	return upto_ns;
}

uint64_t rings_drain(struct rings *r, uint64_t now_ns, int is_last, order_cb cb, void *ctx)
{
	uint64_t upto_ns = is_last ? UINT64_MAX : now_ns - RING_WINDOW_NS;
	bool again;

	do {
		uint64_t limit_ns = upto_ns;

		again = false;
		for (unsigned i = 0; i < r->cnt; i++) {
			struct ring *ring = ring_buffer__ring(r->manager, i);

			r->lanes[i].is_full = false;
			if (ring && ring__avail_data_size(ring))
				ring__consume(ring);
			again |= r->lanes[i].is_full;
		}
		/* a full lane gives way at once, before its window is over */
		if (again)
			limit_ns = now_ns;
		for (unsigned i = 0; !is_last && i < r->cnt; i++)
			limit_ns = ring_limit(r, i, now_ns, limit_ns);
		order_flush(r->order, limit_ns, cb, ctx);
		if (!again)
			return limit_ns == UINT64_MAX ? now_ns : limit_ns;
	} while (again);
	return now_ns;
}

uint64_t rings_bad(const struct rings *r)
{
	return r->bad_cnt;
}

uint64_t rings_late(const struct rings *r)
{
	return order_late(r->order);
}
