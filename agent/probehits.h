/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probehits.h - how often each probed site was hit, by its number in the plan.
 *
 * BPF counts in one table for all targets, which is mapped here, one part for each CPU; each target
 * has a run of it. Reading costs no system call. Private to probe.c.
 */
#ifndef DIAL9_PROBEHITS_H
#define DIAL9_PROBEHITS_H

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/wire.h"

struct probehits { /* zeroed at first: nothing is counted */
	const volatile __u64 *counts; /* [cpus_cnt][WIRE_SITE_HITS_MAX] */
	unsigned cpus_cnt;
	struct probehits_run {
		uint32_t base, cnt; /* cnt 0 = free */
	} runs[WIRE_TARGETS_MAX]; /* by slot */
};

/* Maps BPF's table. 0 or a negative errno. */
int probehits_map(struct probehits *h, int map_fd, unsigned cpus_cnt);
void probehits_unmap(struct probehits *h);

/* Finds room for `cnt` sites. Returns where it begins (wire_target_state.hits_base); with no room
 * WIRE_SITE_HITS_MAX: this target's hits are not counted. */
uint32_t probehits_take(struct probehits *h, unsigned slot, size_t cnt);
void probehits_leave(struct probehits *h, unsigned slot);

/* Hits so far of the slot's sites, since some moment in the past: differences count. `ret` has room
 * for `cnt`. 0, or -ENOENT: not counted. */
int probehits_read(const struct probehits *h, unsigned slot, uint64_t *ret, size_t cnt);

#endif /* DIAL9_PROBEHITS_H */
