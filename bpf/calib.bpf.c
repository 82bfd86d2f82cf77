// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* calib.bpf.c - the emptiest probe: shows what the kernel can attach and what a hit costs. */
#include "kernel.bpf.h"
#include "wire.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 hits;

SEC("uprobe.multi")
int on_calib_multi(struct pt_regs *ctx)
{
	__sync_fetch_and_add(&hits, 1);
	return 0;
}

SEC("uprobe")
int on_calib(struct pt_regs *ctx)
{
	__sync_fetch_and_add(&hits, 1);
	return 0;
}
