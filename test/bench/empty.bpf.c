// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* empty.bpf.c - a probe that does nothing: the floor that the recorder's probes are held against. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("uprobe.multi")
int empty_hit(void *ctx)
{
	(void)ctx;
	return 0;
}
