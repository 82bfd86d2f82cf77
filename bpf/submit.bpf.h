/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * submit.bpf.h - a record goes into this CPU's ring, or is counted as lost. Never in between.
 *
 * Wake-ups are off: the agent drains on a timer. A wake-up costs the target three times what the
 * probe itself does (measured: 2,969 ns against 884 ns a hit).
 */
#ifndef DIAL9_SUBMIT_BPF_H
#define DIAL9_SUBMIT_BPF_H

/* What the count of this CPU is now; 0 = it could not be counted. */
static __always_inline __u64 count_more(__u32 slot, __u32 which, __u64 more)
{
	struct wire_counts *c = bpf_map_lookup_elem(&counts, &slot);

	if (!c || which >= WIRE_COUNT_CNT)
		return 0;
	return c->v[which] += more;
}

static __always_inline __u64 count(__u32 slot, __u32 which)
{
	return count_more(slot, which, 1);
}

static __always_inline void *submit_ring(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/* Samples have a ring of their own, and so has what is seen on the way to one. */
static __always_inline void *submit_ring_of(__u32 scratch)
{
	__u32 ring = rings_cnt;

	return scratch == SCRATCH_SAMPLE ? bpf_map_lookup_elem(&rings, &ring) : submit_ring();
}

static __always_inline void submit_head(struct wire_head *head, const struct thread *t, __u8 kind,
					__u8 flags, __u64 now_ns)
{
	head->ts_ns = now_ns;
	head->tid = t->tid;
	head->kind = kind;
	head->flags = flags;
	head->target = t->slot;
}

/*
 * Declares `rec`, a zero-cost pointer into the ring with its head filled, and runs the block that
 * follows only if there was room; the block ends with submit_commit(rec).
 */
#define submit_reserve(rec, t, wire_kind_, flags_, now_ns_)                                        \
	({                                                                                         \
		void *ring_ = submit_ring();                                                       \
		(rec) = ring_ ? bpf_ringbuf_reserve(ring_, sizeof(*(rec)), 0) : NULL;              \
		if (rec)                                                                           \
			submit_head(&(rec)->head, t, wire_kind_, flags_, now_ns_);                 \
		else                                                                               \
			count((t)->slot, WIRE_LOST_FIRST + (wire_kind_));                          \
		(rec) != NULL;                                                                     \
	})

#define submit_commit(rec) bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP)

/* A record with a tail, already built in scratch. */
static __always_inline void submit_copy(void *ring, void *rec, __u32 sz, __u32 slot, __u8 kind)
{
	if (!ring || bpf_ringbuf_output(ring, rec, sz, BPF_RB_NO_WAKEUP))
		count(slot, WIRE_LOST_FIRST + kind);
}

#endif /* DIAL9_SUBMIT_BPF_H */
