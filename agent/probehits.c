// SPDX-License-Identifier: Apache-2.0
#include "probehits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

uint32_t probehits_take(struct probehits *h, unsigned slot, size_t cnt)
{
	uint32_t base = 0;

	for (unsigned i = 0; i < WIRE_TARGETS_MAX; i++) {
		const struct probehits_run *r = &h->runs[i];

		if (i == slot || !r->cnt || base + cnt <= r->base || base >= r->base + r->cnt)
			continue;
		base = r->base + r->cnt;
		i = UINT32_MAX; /* it may lie on one that was passed already */
	}
	if (!cnt || cnt > WIRE_SITE_HITS_MAX || base > WIRE_SITE_HITS_MAX - cnt)
		return WIRE_SITE_HITS_MAX;
	h->runs[slot] = (struct probehits_run){ base, (uint32_t)cnt };
	return base;
}

void probehits_leave(struct probehits *h, unsigned slot)
{
	h->runs[slot].cnt = 0;
}

int probehits_read(const struct probehits *h, unsigned slot, uint64_t *ret, size_t cnt)
{
	const struct probehits_run *r = &h->runs[slot];
	uint32_t before = r->base - 1, last, got = (uint32_t)cnt;
	__u64 *values;
	__u32 *keys;
	int err = -ENOMEM;

	if (!r->cnt || cnt != r->cnt)
		return -ENOENT;
	values = calloc(cnt * h->cpus_cnt, sizeof(*values));
	keys = calloc(cnt, sizeof(*keys));
	if (!values || !keys)
		goto out;
	err = bpf_map_lookup_batch(h->map_fd, r->base ? &before : NULL, &last, keys, values, &got,
				   NULL);
	if (err && err != -ENOENT) /* that: the end of the table */
		goto out;
	err = got == cnt ? 0 : -EIO;
	memset(ret, 0, cnt * sizeof(*ret));
	for (size_t i = 0; !err && i < cnt; i++)
		for (unsigned cpu = 0; cpu < h->cpus_cnt; cpu++)
			ret[i] += values[i * h->cpus_cnt + cpu];
out:
	free(keys);
	free(values);
	return err;
}
