/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overhead.h - what recording costs one target, and the level that keeps it within its budget.
 *
 * Every 20 ms the hits of each probed site, times what a hit costs on this machine, are held
 * against the target's CPU time; budget.h decides, ladder.h does it. A closer look (trigger.h)
 * sets the budget aside for its time.
 */
#ifndef DIAL9_OVERHEAD_H
#define DIAL9_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trigger.h"

struct features;
struct ladder;
struct overhead;
struct plan;
struct polltypes;
struct probe;
struct wire_counts;
struct wire_cpu_sample;
struct wire_parks;
struct wire_switch_in;

#define OVERHEAD_INTERVAL_NS 20000000ull
/* What a hit adds to a program at work, over what trap and BPF program take in a loop of nothing else:
 * both leave cold caches behind. Measured by `make bench` (messages). */
#define OVERHEAD_WORK_FACTOR 1.45

struct overhead_options { /* all borrowed */
	struct probe *probe;
	unsigned slot;
	pid_t pid;
	const struct plan *plan;
	const struct polltypes *types; /* of that plan */
	const struct features *features;
	struct ladder *ladder;
	double share; /* of the target's CPU time, 0 = no limit: the level is fixed */
	int level; /* the one that is fixed, or the highest that the budget may take */
	struct trigger_options on_demand;
	uint32_t cpu_hz; /* CPU samples, 0 = none */
};

int overhead_open(const struct overhead_options *o, uint64_t now_ns, struct overhead **ret);
void overhead_close(struct overhead *ov);

/* At each tick (pace.h), with the target's counts so far. Changes the level if need be. */
void overhead_tick(struct overhead *ov, const struct wire_counts *counts, uint64_t now_ns);

/* What may be worth a closer look, whatever the level. */
void overhead_switch_in(struct overhead *ov, const struct wire_switch_in *in);
void overhead_sample(struct overhead *ov, const struct wire_cpu_sample *sample);
/* The same of threads whose switches are added up. */
void overhead_parks(struct overhead *ov, const struct wire_parks *rec);

/* A closer look from now on: as --on-demand says, if it is given; or as asked for, which may be
 * impossible: then returns why, a literal, else NULL. `reason` is a literal. */
void overhead_pull(struct overhead *ov, const char *reason);
const char *overhead_ask(struct overhead *ov, const struct trigger_options *look,
			 const char *reason);

struct overhead_sums { /* since overhead_open, up to the last interval; false: hits are not counted */
	bool is_known;
	uint64_t hits; /* of all probes */
	uint64_t cost_ns; /* what they cost the target, and its switches and CPU samples with them */
	uint64_t base_ns; /* ... of that these two */
	uint64_t cpu_ns; /* of the target, that cost included */
	uint64_t changes_cnt; /* of level */
};
void overhead_sums(const struct overhead *ov, struct overhead_sums *ret);

#endif /* DIAL9_OVERHEAD_H */
