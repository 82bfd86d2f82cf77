// SPDX-License-Identifier: Apache-2.0
#include "probecounts.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>

int probecounts_read(int map_fd, unsigned cpus_cnt, unsigned slot, struct wire_counts *ret)
{
	struct wire_counts *per_cpu = calloc(cpus_cnt, sizeof(*per_cpu));
	__u32 key = slot;
	int err;

	if (!per_cpu)
		return -ENOMEM;
	err = bpf_map_lookup_elem(map_fd, &key, per_cpu);
	*ret = (struct wire_counts){};
	for (unsigned cpu = 0; !err && cpu < cpus_cnt; cpu++)
		for (unsigned i = 0; i < WIRE_COUNT_CNT; i++)
			ret->v[i] += per_cpu[cpu].v[i];
	free(per_cpu);
	return err;
}
