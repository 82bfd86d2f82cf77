/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clocked.bpf.h - how long our programs run, by one run in so many.
 *
 * The kernel's own statistics would clock each run, of all BPF programs of the machine, and to switch
 * them on and off it rewrites its code on all CPUs. Here the other runs pay for one comparison.
 */
#ifndef DIAL9_CLOCKED_BPF_H
#define DIAL9_CLOCKED_BPF_H

#define CLOCKED_EACH 61 /* odd: of what alternates, as leaving a CPU and coming to one, both are met */
#define CLOCKED_MOST_NS 100000 /* longer: it was stopped in its middle, which is not its cost */

/* `run`: a number that goes up by one with each run on this CPU, from 1 on; 0 = not known. */
static __always_inline bool clocked_is_due(__u64 run)
{
	return (__u32)run % CLOCKED_EACH == 1; /* to divide 64 bits takes far longer */
}

/* `which`: WIRE_CLOCKED_SITES, _SWITCHES or _SAMPLES. */
static __always_inline void clocked_end(__u32 slot, __u32 which, __u64 begin_ns)
{
	__u64 ns = bpf_ktime_get_ns() - begin_ns;

	if (ns >= CLOCKED_MOST_NS)
		return;
	count(slot, which);
	count_more(slot, which + 1, ns);
}

#endif /* DIAL9_CLOCKED_BPF_H */
