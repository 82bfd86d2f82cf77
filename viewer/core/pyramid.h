/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyramid.h - what is in each pixel of a lane, exactly, at any zoom.
 *
 * A plane is one kind of thing drawn in a lane. Polls that hurt have planes of their own, so none
 * vanishes among millions of good ones. Above each (plane, lane) stands a tree of fan-out
 * PYRAMID_FAN with the greatest value, where it is, and the sum: a cell costs a few dozen steps
 * however much lies in it. 64 lanes x 2000 cells of a plane over 10 M events: under 30 ms.
 */
#ifndef DIAL9_PYRAMID_H
#define DIAL9_PYRAMID_H

#include <stdint.h>

struct columns;

#define PYRAMID_FAN 16u

/* The thresholds of the bad classes; those of ANALYSES.md. */
#define PYRAMID_LONG_NS 10000000ull /* a long poll */
#define PYRAMID_LATE_NS 5000000ull /* a poll this long after its task became runnable */
#define PYRAMID_BLOCKED_NS 1000000ull /* without CPU inside one poll */

/* What a row's value is; which table's row the exemplar is. */
enum pyramid_plane {
	PYRAMID_POLLS, /* length; polls */
	PYRAMID_PARKS, /* length; parks */
	PYRAMID_OFFS, /* length; offs */
	PYRAMID_DELAYS, /* kernel scheduling delay, at its park's end, 0 unknown; parks */
	PYRAMID_WAKES, /* none (0); wakes */
	PYRAMID_SAMPLES, /* none (0); samples */
	PYRAMID_QUEUE, /* queue depth at a poll's start, 0 unknown; polls */
	PYRAMID_WAITS, /* from runnable to the poll's start, 0 unknown; polls */
	PYRAMID_BAD_LONG, /* length, PYRAMID_LONG_NS and more; polls */
	PYRAMID_BAD_LATE, /* wait, PYRAMID_LATE_NS and more; polls */
	PYRAMID_BAD_BLOCKED, /* time without CPU, PYRAMID_BLOCKED_NS and more; polls */
	PYRAMID_PLANES
};
#define PYRAMID_BAD_CLASSES 3 /* the last ones: rows through bads */

struct pyramid_cell {
	uint64_t max; /* greatest value of rows that touch the cell; 0 if there is none */
	/* POLLS, PARKS, OFFS, BAD_LONG: ns of the cell covered; else the values of rows that begin
	 * in the cell, summed */
	uint64_t sum;
	uint32_t cnt; /* rows that begin in the cell */
	uint32_t exemplar; /* the row that has `max` (the first one); COLUMNS_NONE: nothing here */
};

/*
 * Cuts [from_ns, to_ns) into cells_cnt equal cells (cell i begins at from + (to - from) * i /
 * cells_cnt, rounded down) and fills cells[cells_cnt]. A row that begins before a cell and reaches
 * into it counts in max, sum and exemplar, not in cnt. Where rows of a lane overlap (lanes NESTED
 * and NOWHERE) only the nearest such row is looked at. 0, or -EINVAL: no such plane or lane,
 * from >= to, no cells, or more cells than ns.
 */
int pyramid_query(const struct columns *c, enum pyramid_plane plane, uint32_t lane,
		  uint64_t from_ns, uint64_t to_ns, uint32_t cells_cnt, struct pyramid_cell *cells);

/* The name of a plane for URLs and JSON: "polls", "bad_long", ...; NULL past the last. */
const char *pyramid_name(enum pyramid_plane plane);

#endif /* DIAL9_PYRAMID_H */
