// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * empty.bpf.c - what the recorder's probes are held against: one that does nothing, and one that
 * does the least with which a poll or a wake could be recorded at all. That is the time, the storage
 * of the thread, one look at user memory (48 bytes, as much as a task's header) and one record.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>

#define STACK_POINTER(regs) ((regs)->rsp)

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} ring SEC(".maps");

struct record {
	__u64 ts_ns, hits, words[2];
};

SEC("uprobe.multi")
int empty_hit(void *ctx)
{
	(void)ctx;
	return 0;
}

static __noinline int look(__u64 addr, __u64 *ret)
{
	__u64 words[6] = { 0 };
	int err = bpf_probe_read_user(words, sizeof(words), (void *)addr);

	ret[0] = words[0];
	ret[1] = words[5];
	return err;
}

SEC("uprobe.multi")
int least_hit(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 *hits = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL,
					   BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct record *rec;
	__u64 words[2];

	if (!hits || look(STACK_POINTER(ctx), words))
		return 0;
	++*hits;
	rec = bpf_ringbuf_reserve(&ring, sizeof(*rec), 0);
	if (!rec)
		return 0;
	rec->ts_ns = now;
	rec->hits = *hits;
	rec->words[0] = words[0];
	rec->words[1] = words[1];
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}
