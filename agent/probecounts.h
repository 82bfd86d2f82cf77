/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probecounts.h - what BPF counted instead of recording it, over all CPUs. Private to probe.c.
 */
#ifndef DIAL9_PROBECOUNTS_H
#define DIAL9_PROBECOUNTS_H

#include <linux/types.h>

#include "bpf/wire.h"

/* Of the slot's present target; `map_fd`: bpf/maps.bpf.h, counts. 0 or -ENOMEM, -errno. */
int probecounts_read(int map_fd, unsigned cpus_cnt, unsigned slot, struct wire_counts *ret);

#endif /* DIAL9_PROBECOUNTS_H */
