/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settle.h - gathered rows to columns: lanes in order, starts joined with ends, who hit what.
 *
 * A poll that the worker's next doing cuts, or a gap, has no length (COLUMNS_POLL_CUT). A sample
 * or switch-out belongs to the poll of its lane that was open then. Everything is linear but for
 * sorting what is out of order.
 */
#ifndef DIAL9_SETTLE_H
#define DIAL9_SETTLE_H

#include <stdint.h>

struct columns;
struct gather;

struct settle {
	struct gather *g;
	struct columns *c;
	uint16_t *lane_of; /* by the gather's number: row of lanes */
	uint16_t *number_of; /* and back; within lane_of */
	uint32_t *order, *from; /* of the table being made: rows_order */
};

/* All tables but those of taskmerge.h, bads.h, pyramid.h and pools.h. 0, -ENOMEM, -E2BIG. Rows of
 * the gather are freed as they are done with, or left as they were (g->is_kept). */
int settle_run(struct columns *c, struct gather *g);

/* laned.c: the tables that need polls. */
int settle_laned(struct settle *s);

#endif /* DIAL9_SETTLE_H */
