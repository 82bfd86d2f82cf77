/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel.bpf.h - only the kernel types and fields we read, relocated by CO-RE at load.
 *
 * Written by hand so that building needs no kernel BTF. Register files handed to programs
 * (uapi struct pt_regs) are fixed ABI and are not relocated.
 */
#ifndef DIAL9_KERNEL_BPF_H
#define DIAL9_KERNEL_BPF_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <asm/ptrace.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_struct {
	unsigned long fsbase;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct task_struct {
	int pid;
	int tgid;
	unsigned int __state; /* "state" before 5.14 (2f064a59a11f) */
	char comm[16];
	struct sched_entity se;
	struct thread_struct thread;
	struct bpf_local_storage *bpf_storage; /* 5.11 (a10787e6d58c) */
};

struct vm_area_struct;
struct linux_binprm;
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

struct bpf_perf_event_data;

#endif /* DIAL9_KERNEL_BPF_H */
