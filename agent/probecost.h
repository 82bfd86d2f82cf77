/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probecost.h - how long our BPF programs run, by the runs that they clock themselves.
 *
 * Some of the runs look at the clock twice (bpf/clocked.bpf.h); the others are taken to be like them.
 * Until enough were clocked, the values stay what they were estimated to be. Private to probe.c.
 */
#ifndef DIAL9_PROBECOST_H
#define DIAL9_PROBECOST_H

#include <stdbool.h>
#include <stdint.h>

#define PROBECOST_EACH_NS 500000000ull /* the sums are looked at so often */
#define PROBECOST_RUNS_MIN 20 /* fewer clocked runs say nothing: they wait for more */

/* Before that; and what the clocked part of a run leaves out. */
#define PROBECOST_SITE_NS 150
#define PROBECOST_SWITCH_NS 500
#define PROBECOST_SAMPLE_NS 4000
#define PROBECOST_CLOCK_NS 25 /* the look at the clock itself: in each clocked time, and only there */
#define PROBECOST_DISPATCH_NS 110 /* of a switch: the tracepoint's way to us, whose thread, its wakeup */
#define PROBECOST_TICK_NS 1500 /* the interrupt of a CPU sample */

enum probecost_kind { PROBECOST_SITE, PROBECOST_SWITCH, PROBECOST_SAMPLE, PROBECOST_KIND_CNT };

struct probecost_runs { /* clocked so far, over all targets */
	struct {
		uint64_t cnt, ns;
	} of[PROBECOST_KIND_CNT];
};

struct probecost { /* begin with PROBECOST_INIT */
	uint64_t due_ns; /* of the next look; 0 = at once */
	struct probecost_runs seen; /* what the values below already know */
	/* results: ns of the target's CPU time, without the trap of a probe itself */
	uint32_t site_ns; /* one hit */
	uint32_t switch_ns; /* a thread of the target leaves a CPU, or comes to one; wakeups are in it */
	uint32_t sample_ns;
};

#define PROBECOST_INIT                                                                             \
	{ .site_ns = PROBECOST_SITE_NS, .switch_ns = PROBECOST_SWITCH_NS,                          \
	  .sample_ns = PROBECOST_SAMPLE_NS }

/* Is it time for a look? True once per PROBECOST_EACH_NS. */
bool probecost_is_due(struct probecost *c, uint64_t now_ns);

/* Takes in what was clocked up to now. Counts that went back (a target has gone) begin anew. */
void probecost_learn(struct probecost *c, const struct probecost_runs *now);

#endif /* DIAL9_PROBECOST_H */
