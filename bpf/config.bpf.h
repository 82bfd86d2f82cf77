/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config.bpf.h - what the agent tells the programs: settings fixed at load, switches while running.
 */
#ifndef DIAL9_CONFIG_BPF_H
#define DIAL9_CONFIG_BPF_H

/* Number of per-CPU rings; ring `rings_cnt` (one more) takes CPU samples. Set before load. */
const volatile __u32 rings_cnt = 1;

/* Per target slot: the ready gate and the wanted records. Written by the agent at any time. */
struct wire_target_state target_states[WIRE_TARGETS_MAX];

/* Per target slot. Written by the agent as soon as it has learnt it; gen last. */
struct wire_seat_layout seat_layouts[WIRE_TARGETS_MAX];

/* Per target slot. learn_left is counted down here; the rest is the agent's. */
struct wire_task_word task_words[WIRE_TARGETS_MAX];

/* Bumped by the agent after each change of worker_threads: threads re-read their entry. */
__u32 threads_gen;

/* The process whose threads the iterator lists. Written by the agent before each walk. */
__u32 iter_tgid;

#endif /* DIAL9_CONFIG_BPF_H */
