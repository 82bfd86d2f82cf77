/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature.h - what this kernel can do, asked once by trying it, never by its version; and what a probe
 * costs here, of each kind: emulated or single-stepped, by one link for many sites or one event each.
 *
 * Two functions of this program are probed for it, which nothing else calls, and a thread calls them;
 * not a child. What a trap costs is the kernel's and the CPU's affair, the same in each process. A child
 * would be this very program, and need a second thread all the same (the pid filter of old kernels);
 * it would have to be waited for, and killed if we die meanwhile. It would spare us a breakpoint in our
 * own code, on instructions that only these calls run, gone with us whatever ends us.
 */
#ifndef DIAL9_FEATURE_H
#define DIAL9_FEATURE_H

#include <stdbool.h>
#include <stdint.h>

struct features {
	bool is_privileged; /* this process may load BPF and trace (CAP_BPF + CAP_PERFMON, or root) */
	bool has_btf; /* /sys/kernel/btf/vmlinux is readable */
	bool has_ringbuf; /* BPF_MAP_TYPE_RINGBUF can be made (5.8) */
	bool has_task_storage; /* BPF_MAP_TYPE_TASK_STORAGE can be made (5.11) */
	bool has_uprobe; /* a uprobe on this very program was hit, by either way below */
	bool has_uprobe_multi; /* one link for many sites (6.6) */
	bool has_multi_pid_filter; /* its pid filter hits all threads of the process (6.10) */
	bool has_perf_uprobe; /* one perf event a site: the older way, perhaps not tried */
	int cpus_cnt; /* possible CPUs */
	uint32_t hit_cost_ns; /* of one emulated, empty probe here and now; 0 = not measured */
	uint32_t perf_cost_ns; /* the same by one perf event a site; 0 = not measured */
	uint32_t step_cost_ns; /* of one at an instruction that the kernel must single-step; 0 = ... */
};

/* Asks the kernel; what cannot be asked stays false. Never fails: see features_check.
 * Probes only a function of this program, by a link that is closed again: 60 ms. The older way is
 * tried when `want_perf`, or nothing else works; closing that one takes 100 ms more. */
void features_probe(struct features *ret, bool want_perf);

/* 0 when recording is possible; else logs what is missing and what mends it: -EPERM, or
 * -EOPNOTSUPP for a kernel that lacks it. */
int features_check(const struct features *f);

#endif /* DIAL9_FEATURE_H */
