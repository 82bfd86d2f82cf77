/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - how much of the truth a recording holds: its span, levels, losses, holes, clocks.
 *
 * Fed with every event in file order. Strings become labels of the given table.
 */
#ifndef DIAL9_COVERAGE_H
#define DIAL9_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"
#include "reader.h"

struct labels;

#define COVERAGE_LEVELS_MAX 16 /* distinct (level, ends); more count in the last row */
#define COVERAGE_TYPES_MAX 64 /* distinct (type, level); more are only counted */
#define COVERAGE_LOSSES_MAX 64 /* distinct (kind, cause); likewise */
#define COVERAGE_FACTS_MAX 256 /* metadata keys kept; more are counted */

struct coverage_level { /* of all types but those that have one of their own */
	uint32_t level, ends;
	uint64_t ns; /* time it held */
};

struct coverage_type { /* a type at a level of its own */
	uint32_t type, level;
	uint64_t ns;
	uint64_t since_ns; /* 0 = it is not at the moment */
};

/*
 * What is missing. A kind that is not the name of an event (Stack, Order, ReturnSite, TaskId) tells of events
 * that are there, but not whole or not in their place: flawed, not lost.
 */
struct coverage_loss {
	uint32_t kind, cause;
	bool is_flaw;
	uint64_t count;
	uint64_t from_ns, to_ns; /* hull of its intervals */
	uint64_t ns; /* of the hull, in its intervals (overlaps count once if they come in order) */
};

struct coverage_fact {
	uint32_t key, value;
};

struct coverage {
	struct labels *labels; /* borrowed */
	uint64_t kinds[D9_EV_CNT + 1]; /* events by kind, the last: any other name */
	uint64_t events;
	uint64_t broken; /* events of a known name that lack a field they must have */
	bool has_span;
	uint64_t first_ns, last_ns; /* stamps of events that have a place in time */
	uint64_t gap_ns; /* of it, between the ends of a hole */
	bool is_in_gap;
	uint32_t sessions; /* changes of session between files */
	uint64_t pause_ns; /* between sessions; not in gap_ns */
	bool is_in_pause;
	uint64_t single_ends; /* agent:InferredEnd while the level does not infer all ends */
	uint32_t files, open_files, damaged_files, holes;

	struct coverage_level levels[COVERAGE_LEVELS_MAX];
	uint32_t levels_cnt, level_now; /* level_now == levels_cnt: none */
	uint64_t level_high_ns; /* time up to here has been given to levels */
	uint64_t level_since_ns, type_levels;
	uint64_t partial_since_ns, partial_ns; /* since when, 0 = not, some types have a lower level */
	struct coverage_type types[COVERAGE_TYPES_MAX];
	uint32_t types_cnt;
	struct coverage_loss losses[COVERAGE_LOSSES_MAX];
	uint32_t losses_cnt;
	struct coverage_fact facts[COVERAGE_FACTS_MAX];
	uint32_t facts_cnt, facts_over_cap;

	bool has_clock, has_pid, has_self;
	uint64_t clock_mono_ns, clock_real_ns; /* first pair */
	uint32_t pid;
	uint64_t self_rss_sz; /* last value */
	/* agent:Self, from the first one kept of each session to the last one */
	uint64_t self_ns, self_cpu_ns, self_hits, target_cost_ns;
	struct coverage_self {
		uint64_t ts_ns, cpu_ns, hits, cost_ns; /* the last one; ts_ns 0: none yet */
	} self;
};

void coverage_event(struct coverage *c, const struct d9_ev *ev);

/* A file begins that does not follow on what was read: time until its first event is missing. */
void coverage_gap(struct coverage *c);

/* Another session begins: time until its first event was not recorded. */
void coverage_session(struct coverage *c);

void coverage_file(struct coverage *c, const struct reader_end *end);

/* After the last event: ends the level that holds. */
void coverage_finish(struct coverage *c);

/* Does a level (an index; any other is none) infer all poll ends? */
bool coverage_infers(const struct coverage *c, uint32_t level);

/* Time at levels that record no polls. */
uint64_t coverage_blind_ns(const struct coverage *c);

/* Events lost, over all kinds and causes, without flaws. */
uint64_t coverage_lost(const struct coverage *c);

/* Label of a metadata value; LABEL_UNKNOWN if the key was not there. */
uint32_t coverage_fact(const struct coverage *c, const char *key);

#endif /* DIAL9_COVERAGE_H */
