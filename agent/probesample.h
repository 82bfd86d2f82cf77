/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probesample.h - CPU samples: one software clock a CPU, each tick runs a BPF program.
 *
 * perf's cpu-clock, since a machine may have no PMU (most virtual ones). It ticks on every CPU for
 * whatever runs there; BPF picks the targets' threads.
 */
#ifndef DIAL9_PROBESAMPLE_H
#define DIAL9_PROBESAMPLE_H

#include <stdint.h>

struct bpf_program;
struct probesample;

/* `hz` ticks a second on each of `cpus_cnt` possible CPUs that is online. Logs the mend on failure;
 * nothing stays open then. */
int probesample_open(struct bpf_program *prog, unsigned cpus_cnt, uint64_t hz,
		     struct probesample **ret);
void probesample_close(struct probesample *s);

#endif /* DIAL9_PROBESAMPLE_H */
