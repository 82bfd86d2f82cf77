/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - the BPF object: loaded once, attached per target, activated, detached.
 *
 * Phases: probe_open loads; probe_begin takes a target on; probe_add and probe_remove put sites in and
 * take them out, probe_set_want says which count; probe_activate opens the gate of all; probe_detach
 * closes it and takes every site out again. All links are file
 * descriptors of this process: however it dies, the kernel removes them. Knows sites, slots and
 * tids, nothing of Tokio.
 */
#ifndef DIAL9_PROBE_H
#define DIAL9_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probegroup.h"

struct features;
struct plan;
struct probe;
struct target;
struct wire_counts;
struct wire_seat_layout;
struct wire_task_word;
struct wire_thread;
struct wire_thread_info;

struct probe_options {
	size_t ring_sz; /* bytes of each CPU's ring, a power of two of pages */
	uint64_t cpu_hz; /* CPU samples a second on each CPU, 0 = none */
	bool has_sched; /* scheduler tracepoints */
};

/* Loads the object and attaches what is not per target. Logs the verifier's words on failure. */
int probe_open(const struct probe_options *o, const struct features *f, struct probe **ret);
void probe_close(struct probe *p);

/*
 * Takes process `t` on under number `slot` (< 256, stamped on its records), with no site in it yet
 * and nothing wanted. Nothing is recorded before probe_activate. On failure (logged) nothing stays.
 */
int probe_begin(struct probe *p, unsigned slot, const struct target *t, const struct plan *plan);

#define PROBE_GROUPS_MAX 64

/* Puts some sites in, while nothing or while everything is recorded: group `group` (empty so far)
 * of this slot. `kept_set`: as in probegroup.h. On failure (logged) none of them stays. */
int probe_add(struct probe *p, unsigned slot, unsigned group, unsigned kept_set,
	      const struct target *t, const struct plan *plan, probegroup_pick pick, void *ctx);
/* Takes the group's sites out, in the background: they may be hit for some ms more. */
void probe_remove(struct probe *p, unsigned slot, unsigned group);

/*
 * Which records are made from now on, a set of WIRE_WANT_*: hits of other sites are ignored at once,
 * so that sites can come and go behind it. More is wanted only after its sites are in.
 */
void probe_set_want(struct probe *p, unsigned slot, unsigned want);

void probe_activate(struct probe *p, unsigned slot);
void probe_deactivate(struct probe *p, unsigned slot);
/* Closes the gate, then removes the sites. */
void probe_detach(struct probe *p, unsigned slot);

/* Sites in place for the slot. */
size_t probe_sites(const struct probe *p, unsigned slot);

/* File descriptors of the rings: one per CPU, then the one for CPU samples. */
int probe_ring_fd(const struct probe *p, unsigned ring);
unsigned probe_rings_cnt(const struct probe *p);

/* What did not become a record for this slot so far, summed over the CPUs. */
int probe_counts(const struct probe *p, unsigned slot, struct wire_counts *ret);

struct probe_costs { /* ns of the target's CPU time, as last measured, or estimated at first */
	uint32_t site_ns; /* of a hit, beside what an empty probe costs */
	uint32_t switch_ns; /* a thread of the target leaves a CPU, or comes to one (WIRE_SWITCHES) */
	uint32_t sample_ns; /* a CPU sample (WIRE_SAMPLES) */
};
void probe_costs(const struct probe *p, struct probe_costs *ret);
/* Every tick: measures them, in a short window each two seconds. */
void probe_weigh(struct probe *p, uint64_t now_ns);

/* Hits of each of the plan's `cnt` sites, counted from some moment on: differences tell. 0, -ENOENT
 * when this target's are not counted one by one (too many sites of too many targets). */
int probe_hits(const struct probe *p, unsigned slot, uint64_t *ret, size_t cnt);

/* Tells BPF what is known of a worker thread; NULL takes it back. */
int probe_set_thread(struct probe *p, pid_t tid, const struct wire_thread *seat);

/* Tells BPF where this target's threads keep their seats; `gen` is set here. */
void probe_set_layout(struct probe *p, unsigned slot, const struct wire_seat_layout *layout);

/* Tells BPF where this target's threads keep the id of the task they poll: it is then compared with
 * what the probes know (WIRE_WORD_* in probe_counts). Or, with off 0, how much of their thread-local
 * storage to show (WIRE_TLS). `gen` is set here, header_bits is left to BPF. */
void probe_set_task_word(struct probe *p, unsigned slot, const struct wire_task_word *word);

/* Walks the threads of a process; `cb` gets each. Also makes them known to the scheduler hooks. */
int probe_threads(struct probe *p, pid_t pid,
		  void (*cb)(void *ctx, const struct wire_thread_info *info), void *ctx);

#endif /* DIAL9_PROBE_H */
