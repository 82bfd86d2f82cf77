/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* maps.bpf.h - every map, with who fills it and what happens at its cap. */
#ifndef DIAL9_MAPS_BPF_H
#define DIAL9_MAPS_BPF_H

/* tgid -> slot. Filled by the agent before attach. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_TARGETS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

/* tid -> seat. Filled by the agent; full: that thread's queue depth stays unknown. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, WIRE_THREADS_MAX);
	__type(key, __u32);
	__type(value, struct wire_thread);
} worker_threads SEC(".maps");

/* Where polls return to that have a return site, as addresses in the target: (slot, address). Filled
 * by the agent before attach; full: the ends of further ones count as inferred. */
struct return_key {
	__u64 addr;
	__u64 slot;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct return_key);
	__type(value, __u8);
} return_addrs SEC(".maps");

/* (vtable, slot) -> its type. Filled by the agent before attach; full: tasks of further ones are not
 * found on the stack, and counted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct return_key);
	__type(value, struct wire_task_type);
} task_types SEC(".maps");

/* Ring c belongs to CPU c; the last one to CPU samples. Sizes are set before load. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* slot -> counters of what did not become a record. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_TARGETS_MAX);
	__type(key, __u32);
	__type(value, struct wire_counts);
} counts SEC(".maps");

/* Hits of each site, one CPU after the other: wire_target_state.hits_base + the site's number. A
 * target that found no room in it has its base behind the end of a CPU's part, and is not counted by
 * site. Userspace has it mapped: reading a per-CPU array took it 0.5 us a site, fifty times a second. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WIRE_SITE_HITS_MAX); /* times the CPUs: resized before load */
	__type(key, __u32);
	__type(value, __u64);
} site_hits SEC(".maps");

/* Room for records with a stack; two per CPU, as a sample may interrupt a switch. */
#define SCRATCH_FRAMES (WIRE_FRAMES_MAX + 1) /* one more: taskfind.bpf.h reads by the KiB */

struct scratch {
	__u64 fixed[6]; /* struct wire_switch_out or wire_cpu_sample: both 48 bytes */
	__u64 frames[SCRATCH_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

#define SCRATCH_SWITCH 0
#define SCRATCH_SAMPLE 1

#endif /* DIAL9_MAPS_BPF_H */
