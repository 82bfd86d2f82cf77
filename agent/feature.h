/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature.h - what this kernel can do, asked once by trying it, never by its version.
 */
#ifndef DIAL9_FEATURE_H
#define DIAL9_FEATURE_H

#include <stdbool.h>

struct features {
	bool has_btf; /* /sys/kernel/btf/vmlinux is readable */
	bool has_ringbuf; /* BPF_MAP_TYPE_RINGBUF can be made (5.8) */
	bool has_uprobe; /* the uprobe PMU exists */
	bool has_uprobe_multi; /* one link for many sites (6.6) */
	bool has_multi_pid_filter; /* its pid filter hits the whole process (6.10) */
	bool emulates_nop5; /* 6.18 rewrites five-byte nops: never a site */
	int cpus_cnt; /* possible CPUs */
};

/* Fills *ret. 0, or -EPERM when this process may not load BPF (logged with the mend). */
int features_probe(struct features *ret);

/* 0 when recording is possible; else logs what is missing and the mend, -EOPNOTSUPP. */
int features_check(const struct features *f);

#endif /* DIAL9_FEATURE_H */
