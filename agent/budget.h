/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - which level of detail a target can afford: the governor of `--max-overhead`.
 *
 * A pure function of what it is told, once an interval (20 ms or so): no clock, no probe, no log. A
 * recording costs the target what its probe hits cost, and a hit costs the same whatever is done
 * with it; so the budget is kept by having fewer sites probed: the rungs of a ladder. What is paid on
 * every rung, for switches and CPU samples, is taken off the budget first.
 *
 * Where the polls of all types are too dear, the hottest types are dropped until the rest fits: these
 * are kept, with poll starts and ends of their own functions. No type kept is the lowest rung.
 *
 * Down: what is spent over the allowance is a debt, what is left of it a small credit; when the
 * debt passes BUDGET_DEBT_NS worth of allowance, the highest rung that fits is taken at once. A
 * load of 1.4 times the budget or more is so answered within a second, one of twice it in half.
 * Up: when a higher rung would have fitted, with room to spare, for a while without break. What the
 * sites not probed would cost is predicted from when they were last probed: relative to the poll
 * starts where these are probed, else to the target's own CPU time. As a workload may have changed
 * meanwhile, poll starts are tried again now and then all the same, and soon when it does much less
 * than it did when they were last seen.
 * Each rise, and each try, that has to be taken back soon doubles the wait before the next one, up
 * to a maximum: whatever the load does, changes stay few.
 *
 * "Allowance" is the wanted share of the CPU time that the target spends on its own work. One that
 * does next to nothing is counted as if it used BUDGET_IDLE_SHARE of one core.
 */
#ifndef DIAL9_BUDGET_H
#define DIAL9_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDGET_IDLE_SHARE 0.1
#define BUDGET_CREDIT_NS 200000000ull
#define BUDGET_DEBT_NS 200000000ull
#define BUDGET_WAIT_MIN_NS 800000000ull /* a higher rung must fit for so long */
#define BUDGET_WAIT_MAX_NS 128000000000ull
#define BUDGET_TRY_MIN_NS 16000000000ull /* so long after a change, poll starts are tried */
#define BUDGET_TRY_MAX_NS 512000000000ull /* ... after some that did not last */
#define BUDGET_TRY_CALM 0.25 /* of the work it did then: a ratio learnt under load says little, */
#define BUDGET_TRY_CALM_PART 10 /* ... and the wait before a try is so many times shorter */
#define BUDGET_SOON_NS 10000000000ull /* a rise taken back within so long was a mistake */
#define BUDGET_CALM_NS 60000000000ull /* without a change: the wait is halved */
#define BUDGET_FIT_DOWN 0.8 /* of the allowance may a rung cost that is fled to */
#define BUDGET_FIT_UP 0.6 /* ... that is risen to */

enum budget_rung {
	BUDGET_STAT, /* no probes */
	BUDGET_KEPT, /* poll starts and ends, but not of the hottest types */
	BUDGET_POLLS, /* poll starts */
	BUDGET_WAKES, /* + wakes */
	BUDGET_FULL, /* + exact ends, spawns, task ends */
	BUDGET_RUNG_CNT
};

struct budget_type { /* a poll function; memory of the caller */
	double kept_factor; /* what it costs when kept, over what its poll starts cost; 0 = it cannot be */
	uint64_t cost_ns; /* in: of its hits in the interval, ends of its own included */
	double rate; /* ours: ns of cost, if kept, a ns of time; smoothed */
	bool is_dropped; /* ours: not to be probed at rung KEPT */
};

struct budget_interval { /* what happened since the last call; all ns of CPU time but took_ns */
	uint64_t took_ns;
	uint64_t cpu_ns; /* of the target, probes included */
	uint64_t base_ns; /* cost of what is recorded on every rung */
	uint64_t polls_ns, wakes_ns; /* of the hits of poll starts and types' own ends, of wakes */
	uint64_t rest_ns; /* ... and of all other sites: ends, spawns */
	struct budget_type *types; /* the same array at each call */
	size_t types_cnt;
};

struct budget {
	double share; /* of the target's CPU time, 0.03 = 3 %; as the next */
	enum budget_rung rung, top; /* now; the highest that may be taken */
	bool can_drop; /* BUDGET_KEPT is possible */
	/* rates in ns of CPU a ns of time, smoothed over half a second or so */
	double cpu, base, polls, wakes, rest;
	/* ratios when last seen together, < 0 = never: to the own CPU time, to poll starts */
	double polls_by_cpu, wakes_by_polls, rest_by_polls;
	double learnt_own; /* CPU time of its own work, as a rate, when polls were last seen */
	double debt_ns; /* of cost over the allowance; < 0 = credit */
	uint64_t now_ns; /* the sum of took_ns */
	uint64_t change_ns, rise_ns, calm_ns; /* last change, last rise (0 = it held), last calm */
	uint64_t fits_ns; /* since then a higher rung would fit, 0 = it does not */
	uint64_t wait_ns, try_ns; /* before the next rise, the next try */
	bool is_try; /* the last rise was one */
	uint64_t changes_cnt;
};

/* From rung `first` on (never over `top`). `share` > 0. */
void budget_init(struct budget *b, double share, enum budget_rung first, enum budget_rung top,
		 bool can_drop);

/*
 * One interval has passed at b->rung. Returns true if the rung or the set of dropped types is to
 * change: b->rung and types[].is_dropped say to what, and *ret_reason why (a literal). The caller
 * that cannot follow calls budget_stay.
 */
bool budget_step(struct budget *b, const struct budget_interval *in, const char **ret_reason);

/* The change was not made: it is at `rung` that the target is recorded. Counts as a fresh change. */
void budget_stay(struct budget *b, enum budget_rung rung);

/* What the allowance was in the last interval, as a rate: ns of CPU a ns of time. */
double budget_allowance(const struct budget *b);

#endif /* DIAL9_BUDGET_H */
