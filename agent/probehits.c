// SPDX-License-Identifier: Apache-2.0
#include "probehits.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static size_t probehits_sz(unsigned cpus_cnt)
{
	return (size_t)cpus_cnt * WIRE_SITE_HITS_MAX * sizeof(__u64);
}

int probehits_map(struct probehits *h, int map_fd, unsigned cpus_cnt)
{
	void *p = mmap(NULL, probehits_sz(cpus_cnt), PROT_READ, MAP_SHARED, map_fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*h = (struct probehits){ .counts = p, .cpus_cnt = cpus_cnt };
	return 0;
}

void probehits_unmap(struct probehits *h)
{
	if (h->counts)
		munmap((void *)(uintptr_t)h->counts, probehits_sz(h->cpus_cnt));
	h->counts = NULL;
}

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

	if (!r->cnt || cnt != r->cnt || !h->counts)
		return -ENOENT;
	memset(ret, 0, cnt * sizeof(*ret));
	for (unsigned cpu = 0; cpu < h->cpus_cnt; cpu++) {
		const volatile __u64 *at = h->counts + (size_t)cpu * WIRE_SITE_HITS_MAX + r->base;

		for (size_t i = 0; i < cnt; i++)
			ret[i] += at[i];
	}
	return 0;
}
