/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.h - what was recorded when: the spans of agent:Level, the losses of agent:Loss, the holes.
 *
 * A recorder says at each change, and again at the start of each segment, at which level it records
 * from there on (types empty), then which task types are left out of that (one event a type). What
 * is said again without a change continues its span. Nothing is said before the first agent:Level,
 * and other recorders say nothing at all: no span there.
 * A hole lies between two segments: numbers are missing, or a recorder that tells its own cost each
 * second (agent:Self) wrote nothing for LEVELS_SILENT_NS, so it did not run.
 */
#ifndef DIAL9_LEVELS_H
#define DIAL9_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

struct columns;

#define LEVELS_MAX 4096u /* spans, losses and holes kept, of each; further ones are counted */
#define LEVELS_DROPPED_MAX 65536u /* names of left out types kept, of all spans together */
#define LEVELS_SILENT_NS 3000000000ull

struct levels_span {
	uint64_t from_ns, to_ns;
	uint32_t level, ends, reason; /* texts */
	bool has_polls, has_wakes; /* of the types that are not left out */
	uint32_t dropped_from, dropped_to; /* rows of levels.dropped */
};

struct levels_loss {
	uint64_t from_ns, to_ns, cnt;
	uint32_t kind, cause; /* texts */
};

struct levels_hole {
	uint64_t from_ns, to_ns;
	uint32_t before, after; /* rows of segments */
	bool is_missing; /* files are missing; else nothing was written */
};

struct levels {
	struct levels_span *spans;
	struct levels_loss *losses; /* in the order of their ends */
	struct levels_hole *holes;
	uint32_t *dropped; /* texts: types of which polls and wakes are not recorded */
	uint32_t spans_cnt, losses_cnt, holes_cnt, dropped_cnt;
	uint64_t over_cap;
};

/* 0 or -ENOMEM; levels_done frees in either case. */
int levels_of(const struct columns *c, struct levels *ret);
void levels_done(struct levels *l);

#endif /* DIAL9_LEVELS_H */
