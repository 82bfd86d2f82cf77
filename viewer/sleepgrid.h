/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleepgrid.h - how long each of many workers had slept by regular times: bounds for "who slept
 * for most of this wait?", asked of every worker for every wait, without a search for each.
 *
 * Row `line` holds, of each lane, the time it slept before line * step_ns. The last `cells` rows are
 * kept, one behind the other, so that a question reads a few neighbouring words. Times between two
 * rows are known only to lie between their values: whoever gets no answer searches himself.
 * A lane's time is told in order, from its first to its last; gaps in it are no sleep.
 */
#ifndef DIAL9_SLEEPGRID_H
#define DIAL9_SLEEPGRID_H

#include <stdbool.h>
#include <stdint.h>

#define SLEEPGRID_STEP_NS 125000ull /* fine beside the waits that are looked at: 1 ms and more */
#define SLEEPGRID_WORDS_MAX (1u << 21) /* rows times lanes */

struct sleepgrid_lane {
	uint64_t next_line; /* rows below it are filled; 0: it was never told of */
	uint64_t slept_ns; /* in all told so far */
};

struct sleepgrid {
	uint64_t step_ns;
	uint32_t cells, stride; /* rows, lanes there is room for: powers of two */
	uint64_t *rows;
	struct sleepgrid_lane *lanes;
};

/* Lanes are below lanes_cnt, until sleepgrid_room makes them more. step_ns is raised until the rows
 * that fit hold span_ns; span_ns 0: unknown, the newest rows are kept. 0 or -ENOMEM;
 * sleepgrid_done frees in either case. */
int sleepgrid_init(struct sleepgrid *g, uint32_t lanes_cnt, uint64_t span_ns);
void sleepgrid_done(struct sleepgrid *g);

/* Room for lane numbers below lanes_cnt, with fewer rows if need be. 0 or -ENOMEM: as it was. */
int sleepgrid_room(struct sleepgrid *g, uint32_t lanes_cnt);

/* What a lane did in [from_ns, to_ns). */
void sleepgrid_tell(struct sleepgrid *g, uint32_t lane, uint64_t from_ns, uint64_t to_ns,
		    bool is_asleep);

static inline uint64_t *sleepgrid_at(const struct sleepgrid *g, uint64_t line, uint32_t lane)
{
	return &g->rows[(line & (g->cells - 1)) * g->stride + lane];
}

/* Sleep of a lane before ns, as far as it was told: at least, at most. Rows that are not kept any
 * more: at least 0. */
static inline void sleepgrid_until(const struct sleepgrid *g, uint32_t lane, uint64_t ns,
				   uint64_t *ret_least, uint64_t *ret_most)
{
	const struct sleepgrid_lane *l = &g->lanes[lane];
	uint64_t line = ns / g->step_ns, last = l->next_line;

	*ret_least = *ret_most = l->slept_ns; /* behind the last row nothing was told */
	if (line >= last)
		return;
	*ret_least = last - line > g->cells ? 0 : *sleepgrid_at(g, line, lane);
	line++;
	if (line < last)
		*ret_most = *sleepgrid_at(g, last - line > g->cells ? last - g->cells : line, lane);
}

#endif /* DIAL9_SLEEPGRID_H */
