// SPDX-License-Identifier: Apache-2.0
/* sleepgrid.c - a ring of rows, each lane filling its own column as it is told of. */
#include "sleepgrid.h"

#include <errno.h>
#include <stdlib.h>

int sleepgrid_init(struct sleepgrid *g, uint32_t lanes_cnt, uint64_t span_ns)
{
	*g = (struct sleepgrid){ .step_ns = SLEEPGRID_STEP_NS, .stride = 1 };
	while (g->stride < lanes_cnt)
		g->stride *= 2;
	g->cells = SLEEPGRID_WORDS_MAX / g->stride;
	/* two more: the rows around the ends */
	while (span_ns / g->step_ns + 2 > g->cells)
		g->step_ns *= 2;
	while (span_ns && g->cells / 2 >= span_ns / g->step_ns + 2)
		g->cells /= 2;
	g->rows = calloc((size_t)g->cells * g->stride, sizeof(*g->rows));
	g->lanes = calloc(g->stride, sizeof(*g->lanes));
	return g->rows && g->lanes ? 0 : -ENOMEM;
}

void sleepgrid_done(struct sleepgrid *g)
{
	free(g->rows);
	free(g->lanes);
	*g = (struct sleepgrid){ 0 };
}

int sleepgrid_room(struct sleepgrid *g, uint32_t lanes_cnt)
{
	struct sleepgrid more = { .step_ns = g->step_ns, .stride = g->stride, .cells = g->cells };

	if (lanes_cnt <= g->stride)
		return 0;
	while (more.stride < lanes_cnt)
		more.stride *= 2;
	while ((uint64_t)more.cells * more.stride > SLEEPGRID_WORDS_MAX && more.cells > 2)
		more.cells /= 2;
	more.rows = calloc((size_t)more.cells * more.stride, sizeof(*more.rows));
	more.lanes = calloc(more.stride, sizeof(*more.lanes));
	if (!more.rows || !more.lanes) {
		sleepgrid_done(&more);
		return -ENOMEM;
	}
	for (uint32_t lane = 0; lane < g->stride; lane++) {
		uint64_t last = g->lanes[lane].next_line;

		for (uint64_t line = last > more.cells ? last - more.cells : 0; line < last; line++)
			*sleepgrid_at(&more, line, lane) = *sleepgrid_at(g, line, lane);
		more.lanes[lane] = g->lanes[lane];
	}
	sleepgrid_done(g);
	*g = more;
	return 0;
}

void sleepgrid_tell(struct sleepgrid *g, uint32_t lane, uint64_t from_ns, uint64_t to_ns,
		    bool is_asleep)
{
	struct sleepgrid_lane *l = &g->lanes[lane];
	uint64_t end = to_ns / g->step_ns + 1, line = l->next_line;

	if (to_ns <= from_ns)
		return;
	if (line == 0) /* it slept in no row before */
		line = from_ns / g->step_ns;
	if (end > g->cells && line < end - g->cells) /* older ones are not kept */
		line = end - g->cells;
	for (; line < end; line++) {
		uint64_t at_ns = line * g->step_ns;

		*sleepgrid_at(g, line, lane) =
			l->slept_ns + (is_asleep && at_ns > from_ns ? at_ns - from_ns : 0);
	}
	if (end > l->next_line)
		l->next_line = end;
	l->slept_ns += is_asleep ? to_ns - from_ns : 0;
}
