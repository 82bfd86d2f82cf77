// SPDX-License-Identifier: Apache-2.0
/* apicells.c - what is in each pixel: of lanes, of all workers together, of one place. */
#include "api.h"

#include "apicall.h"
#include "core/pyramid.h"
#include "jsonout.h"

#include <stdlib.h>
#include <string.h>

#define API_CELLS_MAGIC 0x31433944u /* "D9C1" */

/* Marks of a cell. */
enum { API_LONG = 1, API_LATE = 2, API_BLOCKED = 4, API_SAMPLE = 8, API_WAKE = 16, API_OFF = 32 };

/* The arrays of one lane, in this order, px bytes each. */
enum { API_BUSY, API_HEAT, API_PARK, API_AWAY, API_DELAY, API_QUEUE, API_MARKS, API_COUNT, API_ARRAYS };

static uint8_t api_share(uint64_t part, uint64_t whole)
{
	uint64_t share;

	if (part == 0)
		return 0;
	share = (uint64_t)((double)part / (double)whole * 255.0);
	return share > 255 ? 255 : share == 0 ? 1 : (uint8_t)share;
}

/* One plane of one lane into the arrays of its cells. */
static void api_plane(uint8_t *to, enum pyramid_plane plane, const struct pyramid_cell *cells,
		      uint32_t px, uint64_t cell_ns)
{
	static const uint8_t bits[PYRAMID_PLANES] = {
		[PYRAMID_BAD_LONG] = API_LONG,	[PYRAMID_BAD_LATE] = API_LATE,
		[PYRAMID_BAD_BLOCKED] = API_BLOCKED, [PYRAMID_SAMPLES] = API_SAMPLE,
		[PYRAMID_WAKES] = API_WAKE,	[PYRAMID_OFFS] = API_OFF,
	};

	for (uint32_t i = 0; i < px; i++) {
		const struct pyramid_cell *k = &cells[i];

		if (k->exemplar == COLUMNS_NONE)
			continue;
		to[API_MARKS * px + i] |= bits[plane];
		switch (plane) {
		case PYRAMID_POLLS:
			to[API_BUSY * px + i] = api_share(k->sum, cell_ns);
			to[API_HEAT * px + i] = api_log(k->max ? k->max : 1);
			to[API_COUNT * px + i] = api_log(k->cnt);
			break;
		case PYRAMID_PARKS:
			to[API_PARK * px + i] = api_share(k->sum, cell_ns);
			break;
		case PYRAMID_OFFS:
			to[API_AWAY * px + i] = api_share(k->sum, cell_ns);
			break;
		case PYRAMID_DELAYS:
			to[API_DELAY * px + i] = api_log(k->max);
			break;
		case PYRAMID_QUEUE:
			to[API_QUEUE * px + i] = k->max > 255 ? 255 : (uint8_t)k->max;
			break;
		default:
			break;
		}
	}
}

static const enum pyramid_plane api_planes[] = {
	PYRAMID_POLLS,	  PYRAMID_PARKS,    PYRAMID_OFFS,	 PYRAMID_DELAYS,
	PYRAMID_QUEUE,	  PYRAMID_WAKES,    PYRAMID_SAMPLES,	 PYRAMID_BAD_LONG,
	PYRAMID_BAD_LATE, PYRAMID_BAD_BLOCKED,
};

static bool api_px(struct api_call *call, uint64_t from_ns, uint64_t to_ns, uint64_t *ret_px)
{
	*ret_px = 1000;
	if (!api_number(call, "px", 1, API_PX_MAX, ret_px))
		return false;
	if (*ret_px > to_ns - from_ns)
		*ret_px = to_ns - from_ns;
	return true;
}

void api_cells(struct api_call *call)
{
	uint32_t lanes[API_LANES_MAX], cnt;
	uint64_t from_ns, to_ns, px;
	struct pyramid_cell *cells;
	uint32_t *head;
	uint8_t *to;
	size_t lane_sz, sz;

	if (!api_span(call, &from_ns, &to_ns) || !api_px(call, from_ns, to_ns, &px))
		return;
	cnt = api_lanes(call, lanes);
	if (!cnt)
		return;
	lane_sz = API_ARRAYS * (size_t)px;
	sz = 16 + cnt * (lane_sz + 8);
	cells = malloc(px * sizeof(*cells));
	head = cells ? calloc(1, sz) : NULL;
	if (head) {
		head[0] = API_CELLS_MAGIC;
		head[1] = cnt;
		head[2] = (uint32_t)px;
		head[3] = (uint32_t)call->generation;
	}
	for (uint32_t i = 0; head && i < cnt; i++) {
		uint32_t *own = head + 4 + 2 * i;

		own[0] = lanes[i];
		to = (uint8_t *)(head + 4 + 2 * cnt) + i * lane_sz;
		for (size_t p = 0; p < sizeof(api_planes) / sizeof(api_planes[0]); p++) {
			if (pyramid_query(call->c, api_planes[p], lanes[i], from_ns, to_ns,
					  (uint32_t)px, cells) != 0)
				continue;
			api_plane(to, api_planes[p], cells, (uint32_t)px, (to_ns - from_ns) / px);
			for (uint32_t k = 0; api_planes[p] == PYRAMID_POLLS && k < px; k++)
				own[1] += cells[k].cnt;
		}
	}
	free(cells);
	api_bytes(call, head, sz);
}

/* All workers together: the arrays of api_cells for one lane that stands for them. */
void api_strip(struct api_call *call)
{
	uint64_t from_ns, to_ns, px, *busy;
	struct pyramid_cell *cells;
	uint32_t *head, workers = 0;
	uint8_t *to;
	size_t sz;

	if (!api_span(call, &from_ns, &to_ns) || !api_px(call, from_ns, to_ns, &px))
		return;
	sz = 24 + API_ARRAYS * (size_t)px;
	cells = malloc(px * sizeof(*cells));
	busy = calloc(px, sizeof(*busy));
	head = cells && busy ? calloc(1, sz) : NULL;
	to = (uint8_t *)(head + 6);
	for (uint32_t lane = 0; head && lane < call->c->lanes.cnt; lane++) {
		bool is_worker = call->c->lanes.kind[lane] == COLUMNS_WORKER;

		workers += is_worker;
		for (size_t p = 0; p < sizeof(api_planes) / sizeof(api_planes[0]); p++) {
			uint8_t *one = calloc(API_ARRAYS, px);

			if (one && pyramid_query(call->c, api_planes[p], lane, from_ns, to_ns,
						 (uint32_t)px, cells) == 0) {
				api_plane(one, api_planes[p], cells, (uint32_t)px,
					  (to_ns - from_ns) / px);
				for (size_t i = 0; i < px; i++)
					busy[i] += is_worker ? one[API_BUSY * px + i] : 0;
				for (size_t i = px; i < API_ARRAYS * px; i++)
					if (i / px == API_MARKS)
						to[i] |= one[i];
					else if (one[i] > to[i])
						to[i] = one[i];
			}
			free(one);
		}
	}
	if (head) {
		head[0] = API_CELLS_MAGIC;
		head[1] = 1;
		head[2] = (uint32_t)px;
		head[3] = (uint32_t)call->generation;
		head[4] = COLUMNS_NONE;
		for (size_t i = 0; i < px; i++)
			to[i] = (uint8_t)(workers ? busy[i] / workers : 0);
	}
	free(cells);
	free(busy);
	api_bytes(call, head, sz);
}

/* Every plane of one lane in [from, to), with the worst of each. */
void api_at(struct api_call *call)
{
	uint64_t from_ns, to_ns, lane = 0;
	struct pyramid_cell cell;
	struct json *j;

	if (!api_span(call, &from_ns, &to_ns) ||
	    !api_number(call, "lane", 0, call->c->lanes.cnt - 1, &lane))
		return;
	j = api_begin(call);
	if (!j)
		return;
	json_put_u64(j, "length", to_ns - from_ns);
	for (int p = 0; p < PYRAMID_PLANES; p++) {
		if (pyramid_query(call->c, (enum pyramid_plane)p, (uint32_t)lane, from_ns, to_ns, 1,
				  &cell) != 0)
			continue;
		json_key(j, pyramid_name((enum pyramid_plane)p));
		json_map(j);
		json_put_u64(j, "max", cell.max);
		json_put_u64(j, "sum", cell.sum);
		json_put_u64(j, "count", cell.cnt);
		if (p == PYRAMID_POLLS || p == PYRAMID_QUEUE || p == PYRAMID_WAITS ||
		    p >= PYRAMID_BAD_LONG)
			api_poll(call, "worst", cell.exemplar);
		json_map_end(j);
	}
	api_end(call);
}
