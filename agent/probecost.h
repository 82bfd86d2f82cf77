/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probecost.h - how long our BPF programs run, as the kernel itself measures it.
 *
 * Its run-time statistics cost each program two looks at the clock, so they are on for a short window
 * now and then; what lies between is taken to be the same. Where they may not be switched on
 * (CAP_SYS_ADMIN), the values stay what they were estimated to be. Private to probe.c.
 */
#ifndef DIAL9_PROBECOST_H
#define DIAL9_PROBECOST_H

#include <stdbool.h>
#include <stdint.h>

#define PROBECOST_FIRST_NS 50000000ull /* the first window begins so long after the start, */
#define PROBECOST_EACH_NS 2000000000ull /* then one so often, */
#define PROBECOST_WINDOW_NS 30000000ull /* which lasts so long */
/* Before the first window, and what the kernel does around a program. */
#define PROBECOST_SITE_NS 150
#define PROBECOST_SWITCH_NS 500
#define PROBECOST_SAMPLE_NS 4000
#define PROBECOST_DISPATCH_NS 50 /* a tracepoint's way to a program */
#define PROBECOST_TICK_NS 1500 /* the interrupt of a CPU sample */
#define PROBECOST_STATS_NS 50 /* of the measuring itself: in each run's time */
#define PROBECOST_MISS_NS 10 /* a look at a thread that is no target's */
#define PROBECOST_RUNS_MIN 20 /* fewer in a window say nothing */

enum probecost_prog {
	PROBECOST_SITE,
	PROBECOST_SWITCH,
	PROBECOST_WAKEUP,
	PROBECOST_SAMPLE,
	PROBECOST_PROG_CNT
};

struct probecost_runs { /* so far, of all targets and all others; what differs counts */
	struct {
		uint64_t cnt, ns;
	} progs[PROBECOST_PROG_CNT];
	uint64_t switches, samples; /* of targets' threads */
};

struct probecost { /* zero but for prog_fds: begin with PROBECOST_INIT */
	int prog_fds[PROBECOST_PROG_CNT]; /* borrowed; -1 = it does not run */
	int stats_fd; /* >= 0: a window is open */
	bool is_refused;
	uint64_t due_ns; /* of its end, or of the next one's begin; 0 = not yet set */
	struct probecost_runs from;
	/* results: ns of the target's CPU time, without the trap of a probe itself */
	uint32_t site_ns; /* one hit */
	uint32_t switch_ns; /* a thread of the target leaves a CPU, or comes to one; wakeups are in it */
	uint32_t sample_ns;
};

#define PROBECOST_INIT                                                                             \
	{ .prog_fds = { -1, -1, -1, -1 }, .stats_fd = -1, .site_ns = PROBECOST_SITE_NS,            \
	  .switch_ns = PROBECOST_SWITCH_NS, .sample_ns = PROBECOST_SAMPLE_NS }

/* Every tick. `counts` is asked, at the edges of windows only, for switches and samples so far. */
void probecost_tick(struct probecost *c, uint64_t now_ns,
		    void (*counts)(void *ctx, struct probecost_runs *ret), void *ctx);
void probecost_close(struct probecost *c);

/* What the runs between two moments say; a pure function. */
void probecost_learn(struct probecost *c, const struct probecost_runs *from,
		     const struct probecost_runs *to);

#endif /* DIAL9_PROBECOST_H */
