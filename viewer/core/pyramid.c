// SPDX-License-Identifier: Apache-2.0
/* pyramid.c - trees of greatest values and sums over lanes, and cells read off them. */
#include "pyramid.h"

#include "pyramidbuild.h"
#include "tables.h"

#include <errno.h>
#include <stdlib.h>

/* Where a plane's rows of one lane are, and how to read one. */
struct view {
	enum pyramid_plane plane;
	uint32_t from, to; /* in the base table, or in bads */
	const uint32_t *index; /* bads: rows of polls; else NULL */
	const uint64_t *start, *dur; /* dur NULL: rows are points */
	const uint64_t *a; /* values; NULL: none, or as view_value says */
	const uint64_t *ready;
	const uint16_t *queue;
	const struct columns_nodes *nodes;
	uint64_t base; /* of its tree in nodes */
};

static const char *const pyramid_names[PYRAMID_PLANES] = {
	[PYRAMID_POLLS] = "polls",
	[PYRAMID_PARKS] = "parks",
	[PYRAMID_OFFS] = "offs",
	[PYRAMID_DELAYS] = "delays",
	[PYRAMID_WAKES] = "wakes",
	[PYRAMID_SAMPLES] = "samples",
	[PYRAMID_QUEUE] = "queue",
	[PYRAMID_WAITS] = "waits",
	[PYRAMID_BAD_LONG] = "bad_long",
	[PYRAMID_BAD_LATE] = "bad_late",
	[PYRAMID_BAD_BLOCKED] = "bad_blocked",
};

const char *pyramid_name(enum pyramid_plane plane)
{
	return plane < PYRAMID_PLANES ? pyramid_names[plane] : NULL;
}

static bool has_tree(enum pyramid_plane plane)
{
	return plane != PYRAMID_WAKES && plane != PYRAMID_SAMPLES;
}

static void view_init(struct view *v, const struct columns *c, enum pyramid_plane plane,
		      uint32_t lane)
{
	const struct columns_lanes *l = &c->lanes;

	*v = (struct view){ .plane = plane,
			    .from = l->polls_from[lane],
			    .to = l->polls_to[lane],
			    .start = c->polls.start_ns,
			    .dur = c->polls.dur_ns,
			    .nodes = &c->nodes };
	if (c->node_base)
		v->base = c->node_base[plane * (size_t)l->cnt + lane];
	switch (plane) {
	case PYRAMID_POLLS:
		v->a = v->dur;
		break;
	case PYRAMID_QUEUE:
		v->queue = c->polls.queue;
		v->dur = NULL;
		break;
	case PYRAMID_WAITS:
		v->ready = c->polls.ready_ns;
		v->dur = NULL;
		break;
	case PYRAMID_PARKS:
	case PYRAMID_DELAYS:
		v->from = l->parks_from[lane];
		v->to = l->parks_to[lane];
		v->start = c->parks.start_ns;
		v->dur = c->parks.dur_ns;
		v->a = plane == PYRAMID_PARKS ? v->dur : c->parks.delay_ns;
		break;
	case PYRAMID_OFFS:
		v->from = l->offs_from[lane];
		v->to = l->offs_to[lane];
		v->start = c->offs.start_ns;
		v->a = v->dur = c->offs.dur_ns;
		break;
	case PYRAMID_WAKES:
		v->from = l->wakes_from[lane];
		v->to = l->wakes_to[lane];
		v->start = c->wakes.ts_ns;
		v->dur = NULL;
		break;
	case PYRAMID_SAMPLES:
		v->from = l->samples_from[lane];
		v->to = l->samples_to[lane];
		v->start = c->samples.ts_ns;
		v->dur = NULL;
		break;
	case PYRAMID_BAD_LONG:
	case PYRAMID_BAD_LATE:
	case PYRAMID_BAD_BLOCKED:
		lane += (uint32_t)(plane - PYRAMID_BAD_LONG) * l->cnt;
		v->from = c->bad_lanes.bads_from[lane];
		v->to = c->bad_lanes.bads_to[lane];
		v->index = c->bads.poll;
		if (plane == PYRAMID_BAD_LATE)
			v->ready = c->polls.ready_ns;
		else
			v->a = plane == PYRAMID_BAD_BLOCKED ? c->polls.off_ns : v->dur;
		break;
	case PYRAMID_PLANES:
		break;
	}
}

static inline uint32_t view_row(const struct view *v, uint32_t i)
{
	return v->index ? v->index[i] : i;
}

/* Where a row stands in time. A kernel delay is at the end of its park. */
static inline uint64_t view_key(const struct view *v, uint32_t i)
{
	uint32_t row = view_row(v, i);

	return v->start[row] + (v->plane == PYRAMID_DELAYS ? v->dur[row] : 0);
}

static inline uint64_t view_value(const struct view *v, uint32_t i)
{
	uint32_t row = view_row(v, i);

	if (v->ready)
		return v->ready[row] && v->ready[row] < v->start[row]
			       ? v->start[row] - v->ready[row]
			       : 0;
	if (v->queue)
		return v->queue[row] == COLUMNS_QUEUE_UNKNOWN ? 0 : v->queue[row];
	if (v->plane == PYRAMID_DELAYS && v->a[row] == UINT64_MAX)
		return 0;
	return v->a ? v->a[row] : 0;
}

/* ---- trees ---- */

/* Nodes above cnt rows. */
static uint64_t tree_cnt(uint64_t cnt)
{
	uint64_t nodes = 0;

	while (cnt > 1) {
		cnt = (cnt + PYRAMID_FAN - 1) / PYRAMID_FAN;
		nodes += cnt;
	}
	return nodes;
}

uint64_t pyramid_bases(const struct columns *c, uint64_t *bases)
{
	uint64_t sum = 0;
	struct view v;

	for (uint32_t plane = 0; plane < PYRAMID_PLANES; plane++)
		for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
			view_init(&v, c, plane, lane);
			bases[plane * (size_t)c->lanes.cnt + lane] = sum;
			if (has_tree(plane))
				sum += tree_cnt(v.to - v.from);
		}
	return sum;
}

struct best {
	uint64_t max, sum;
	uint32_t arg; /* offset from the lane's first row */
};

static inline void best_add(struct best *b, uint64_t max, uint64_t sum, uint32_t arg)
{
	b->sum += sum;
	if (b->arg == COLUMNS_NONE || max > b->max || (max == b->max && arg < b->arg)) {
		b->max = max;
		b->arg = arg;
	}
}

static void tree_build(const struct view *v)
{
	uint64_t *max = tables_mut(v->nodes->max), *sum = tables_mut(v->nodes->sum);
	uint32_t *arg = tables_mut(v->nodes->arg);
	uint64_t below = v->base, at = v->base;
	uint32_t cnt = v->to - v->from;

	for (bool is_leaf = true; cnt > 1; is_leaf = false) {
		uint64_t level = at;

		for (uint32_t i = 0; i < cnt;) {
			struct best b = { .arg = COLUMNS_NONE };

			for (uint32_t end = i + PYRAMID_FAN; i < end && i < cnt; i++) {
				if (is_leaf) {
					uint64_t value = view_value(v, v->from + i);

					best_add(&b, value, value, i);
				} else {
					best_add(&b, max[below + i], sum[below + i],
						 arg[below + i]);
				}
			}
			max[at] = b.max;
			sum[at] = b.sum;
			arg[at++] = b.arg;
		}
		cnt = (uint32_t)(at - level);
		below = level;
	}
}

/* What is in rows [i, j) of the lane, counted from its first one. */
static void tree_range(const struct view *v, uint32_t i, uint32_t j, struct best *b)
{
	const struct columns_nodes *n = v->nodes;
	uint64_t level, cnt = v->to - v->from;

	for (; i < j && i % PYRAMID_FAN; i++) {
		uint64_t value = view_value(v, v->from + i);

		best_add(b, value, value, i);
	}
	for (; i < j && j % PYRAMID_FAN; j--) {
		uint64_t value = view_value(v, v->from + j - 1);

		best_add(b, value, value, j - 1);
	}
	for (level = v->base; i < j;) {
		i /= PYRAMID_FAN;
		j /= PYRAMID_FAN;
		for (; i < j && i % PYRAMID_FAN; i++)
			best_add(b, n->max[level + i], n->sum[level + i], n->arg[level + i]);
		for (; i < j && j % PYRAMID_FAN; j--)
			best_add(b, n->max[level + j - 1], n->sum[level + j - 1],
				 n->arg[level + j - 1]);
		cnt = (cnt + PYRAMID_FAN - 1) / PYRAMID_FAN;
		level += cnt;
	}
}

/* ---- bad polls ---- */

static bool bads_is(const struct columns_polls *p, uint32_t i, uint32_t class)
{
	switch (class) {
	case 0:
		return p->dur_ns[i] >= PYRAMID_LONG_NS;
	case 1:
		return p->ready_ns[i] && p->start_ns[i] > p->ready_ns[i] &&
		       p->start_ns[i] - p->ready_ns[i] >= PYRAMID_LATE_NS;
	default:
		return p->off_ns[i] >= PYRAMID_BLOCKED_NS;
	}
}

static int bads_build(struct columns *c)
{
	uint32_t cnt = 0, *poll, *from, *to;
	int err;

	for (uint32_t i = 0; i < c->polls.cnt; i++)
		for (uint32_t k = 0; k < PYRAMID_BAD_CLASSES; k++)
			cnt += bads_is(&c->polls, i, k);
	err = tables_alloc(c, TABLES_bads, cnt);
	if (err == 0)
		err = tables_alloc(c, TABLES_bad_lanes, PYRAMID_BAD_CLASSES * c->lanes.cnt);
	if (err)
		return err;
	poll = tables_mut(c->bads.poll);
	from = tables_mut(c->bad_lanes.bads_from);
	to = tables_mut(c->bad_lanes.bads_to);
	cnt = 0;
	for (uint32_t k = 0; k < PYRAMID_BAD_CLASSES; k++)
		for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
			from[k * c->lanes.cnt + lane] = cnt;
			for (uint32_t i = c->lanes.polls_from[lane]; i < c->lanes.polls_to[lane];
			     i++)
				if (bads_is(&c->polls, i, k))
					poll[cnt++] = i;
			to[k * c->lanes.cnt + lane] = cnt;
		}
	return 0;
}

int pyramid_build(struct columns *c)
{
	uint64_t *bases, cnt;
	struct view v;
	int err = bads_build(c);

	if (err)
		return err;
	bases = malloc(PYRAMID_PLANES * (size_t)c->lanes.cnt * sizeof(*bases));
	if (!bases)
		return -ENOMEM;
	cnt = pyramid_bases(c, bases);
	c->node_base = bases;
	if (cnt >= UINT32_MAX)
		return -E2BIG;
	err = tables_alloc(c, TABLES_nodes, (uint32_t)cnt);
	for (uint32_t plane = 0; err == 0 && plane < PYRAMID_PLANES; plane++)
		for (uint32_t lane = 0; has_tree(plane) && lane < c->lanes.cnt; lane++) {
			view_init(&v, c, plane, lane);
			tree_build(&v);
		}
	return err;
}

/* ---- cells ---- */

/* The first row from `at` on whose key is not below ns, in steps that double. */
static uint32_t view_seek(const struct view *v, uint32_t at, uint64_t ns)
{
	uint32_t step = 1, lo = at, hi;

	while (lo < v->to && view_key(v, lo) < ns) {
		at = lo + 1;
		lo = step < v->to - lo ? lo + step : v->to;
		step *= 2;
	}
	hi = lo;
	while (at < hi) {
		uint32_t mid = at + (hi - at) / 2;

		if (view_key(v, mid) < ns)
			at = mid + 1;
		else
			hi = mid;
	}
	return at;
}

static uint64_t view_end(const struct view *v, uint32_t i)
{
	uint32_t row = view_row(v, i);

	return v->start[row] + v->dur[row];
}

/* One cell: rows [i, j) begin in it, and row i - 1 may reach into it. */
static void view_cell(const struct view *v, uint32_t i, uint32_t j, uint64_t from_ns,
		      uint64_t to_ns, struct pyramid_cell *cell)
{
	bool has_length = v->dur && v->plane != PYRAMID_DELAYS,
	     is_covered = has_length && v->a == v->dur;
	struct best b = { .arg = COLUMNS_NONE };
	uint64_t end_ns;

	if (has_tree(v->plane) && i < j)
		tree_range(v, i - v->from, j - v->from, &b);
	else if (i < j)
		b.arg = i - v->from;
	if (is_covered && i < j && view_end(v, j - 1) > to_ns)
		b.sum -= view_end(v, j - 1) - to_ns;
	if (has_length && i > v->from && (end_ns = view_end(v, i - 1)) > from_ns) {
		uint64_t sum = is_covered ? (end_ns < to_ns ? end_ns : to_ns) - from_ns : 0;

		best_add(&b, view_value(v, i - 1), sum, i - 1 - v->from);
	}
	*cell = (struct pyramid_cell){ .max = b.max, .sum = b.sum, .cnt = j - i };
	/* a cached file may say anything */
	cell->exemplar = b.arg < v->to - v->from ? view_row(v, v->from + b.arg) : COLUMNS_NONE;
}

int pyramid_query(const struct columns *c, enum pyramid_plane plane, uint32_t lane,
		  uint64_t from_ns, uint64_t to_ns, uint32_t cells_cnt, struct pyramid_cell *cells)
{
	uint64_t width, rest, error = 0, cell_ns = from_ns, next_ns;
	struct view v;
	uint32_t i, j;

	if (plane >= PYRAMID_PLANES || lane >= c->lanes.cnt || from_ns >= to_ns || cells_cnt == 0 ||
	    to_ns - from_ns < cells_cnt)
		return -EINVAL;
	width = (to_ns - from_ns) / cells_cnt;
	rest = (to_ns - from_ns) % cells_cnt;
	view_init(&v, c, plane, lane);
	i = view_seek(&v, v.from, from_ns);
	for (uint32_t k = 0; k < cells_cnt; k++) {
		next_ns = cell_ns + width;
		error += rest;
		if (error >= cells_cnt) {
			error -= cells_cnt;
			next_ns++;
		}
		j = view_seek(&v, i, next_ns);
		view_cell(&v, i, j, cell_ns, next_ns, &cells[k]);
		cell_ns = next_ns;
		i = j;
	}
	return 0;
}
