// SPDX-License-Identifier: Apache-2.0
/* avail.c - all lanes of a crew walked at once, by the end of what each does; then windows slide. */
#include "avail.h"

#include "core/columns.h"
#include "crews.h"
#include "scope.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

const uint64_t avail_windows_ns[AVAIL_WINDOWS] = { 1000000ull, 10000000ull, 100000000ull,
						   1000000000ull, 10000000000ull };

struct avail_lane { /* a worker, and the time it is taken for at the moment */
	uint32_t poll, polls_to, park, parks_to;
	uint64_t from_ns, to_ns;
};

struct avail_span {
	uint64_t from_ns, to_ns;
};

struct avail_spans {
	struct avail_span *at;
	uint32_t cnt, cap;
};

/* The next time the worker is taken. */
static bool avail_next(const struct columns *c, struct avail_lane *l)
{
	while (l->poll < l->polls_to || l->park < l->parks_to) {
		uint64_t asleep_ns = 0;
		bool is_poll = l->poll < l->polls_to;

		if (l->park < l->parks_to)
			asleep_ns = c->parks.start_ns[l->park] + crews_asleep(c, l->park);
		if (is_poll && l->park < l->parks_to)
			is_poll = c->polls.start_ns[l->poll] <= asleep_ns;
		l->from_ns = is_poll ? c->polls.start_ns[l->poll] : asleep_ns;
		l->to_ns = is_poll ? crews_poll_end(c, l->poll) : crews_park_end(c, l->park);
		if (is_poll)
			l->poll++;
		else
			l->park++;
		if (l->to_ns > l->from_ns)
			return true;
	}
	return false;
}

/* The one that ends first stands on top. */
static void avail_sift(struct avail_lane *heap, uint32_t cnt, uint32_t at)
{
	for (;;) {
		uint32_t least = at;
		struct avail_lane l = heap[at];

		for (uint32_t k = 2 * at + 1; k <= 2 * at + 2 && k < cnt; k++)
			if (heap[k].to_ns < heap[least].to_ns)
				least = k;
		if (least == at)
			return;
		heap[at] = heap[least];
		heap[least] = l;
		at = least;
	}
}

static int avail_add(struct avail *a, struct avail_spans *spans, uint64_t from_ns, uint64_t to_ns)
{
	struct avail_span *last = spans->cnt ? &spans->at[spans->cnt - 1] : NULL, *grown;
	uint32_t cap;

	if (from_ns < a->from_ns)
		from_ns = a->from_ns;
	if (to_ns > a->to_ns)
		to_ns = a->to_ns;
	if (from_ns >= to_ns)
		return 0;
	a->blackout_ns += to_ns - from_ns;
	if (last && last->to_ns == from_ns && a->over_cap == 0) {
		last->to_ns = to_ns; /* one worker went on without a pause */
	} else if (spans->cnt == AVAIL_BLACKOUTS_MAX) {
		a->over_cap++;
		a->blackouts++;
		return 0;
	} else {
		if (spans->cnt == spans->cap) {
			cap = spans->cap ? 2 * spans->cap : 1024;
			grown = realloc(spans->at, cap * sizeof(*grown));
			if (!grown)
				return -ENOMEM;
			spans->at = grown;
			spans->cap = cap;
		}
		last = &spans->at[spans->cnt++];
		*last = (struct avail_span){ from_ns, to_ns };
		a->blackouts++;
	}
	if (last->to_ns - last->from_ns > a->longest_ns) {
		a->longest_ns = last->to_ns - last->from_ns;
		a->longest_at_ns = last->from_ns;
	}
	return 0;
}

/* The fullest window ends where a blackout ends: each of those is tried. */
static uint64_t avail_worst(const struct avail_spans *spans, uint64_t window_ns)
{
	uint64_t sum_ns = 0, worst_ns = 0;
	uint32_t first = 0;

	for (uint32_t i = 0; i < spans->cnt; i++) {
		uint64_t end_ns = spans->at[i].to_ns, in_ns;
		uint64_t from_ns = end_ns > window_ns ? end_ns - window_ns : 0;

		sum_ns += end_ns - spans->at[i].from_ns;
		for (; spans->at[first].to_ns <= from_ns; first++)
			sum_ns -= spans->at[first].to_ns - spans->at[first].from_ns;
		in_ns = sum_ns;
		if (spans->at[first].from_ns < from_ns)
			in_ns -= from_ns - spans->at[first].from_ns;
		if (in_ns > worst_ns)
			worst_ns = in_ns;
	}
	return worst_ns;
}

static int avail_sweep(const struct columns *c, struct avail_lane *heap, uint32_t cnt,
		       struct avail *a, struct avail_spans *spans)
{
	uint64_t all_from_ns = 0; /* the latest start: from here on all of them are taken */
	int err = 0;

	for (uint32_t i = 0; i < cnt; i++)
		if (heap[i].from_ns > all_from_ns)
			all_from_ns = heap[i].from_ns;
	for (uint32_t i = cnt; i > 0; i--)
		avail_sift(heap, cnt, i - 1);
	while (err == 0) {
		if (heap[0].to_ns > all_from_ns)
			err = avail_add(a, spans, all_from_ns, heap[0].to_ns);
		if (!avail_next(c, &heap[0]))
			break; /* it is free, or unknown, to the end */
		if (heap[0].from_ns > all_from_ns)
			all_from_ns = heap[0].from_ns;
		avail_sift(heap, cnt, 0);
	}
	return err;
}

int avail_of(const struct columns *c, const struct crew *crew, const struct scope *s,
	     struct avail *ret)
{
	struct avail_lane *heap = calloc(crew->cnt, sizeof(*heap));
	struct avail_spans spans = { 0 };
	bool is_never = false;
	int err = heap ? 0 : -ENOMEM;

	*ret = (struct avail){ .from_ns = c->odd.first_ns, .to_ns = c->odd.last_ns };
	if (s->from_ns > ret->from_ns)
		ret->from_ns = s->from_ns;
	if (s->to_ns < ret->to_ns)
		ret->to_ns = s->to_ns;
	if (ret->to_ns < ret->from_ns)
		ret->to_ns = ret->from_ns;
	for (uint32_t i = 0; err == 0 && i < crew->cnt; i++) {
		uint32_t lane = crew->lanes[i];

		heap[i] = (struct avail_lane){ .poll = c->lanes.polls_from[lane],
					       .polls_to = c->lanes.polls_to[lane],
					       .park = c->lanes.parks_from[lane],
					       .parks_to = c->lanes.parks_to[lane] };
		is_never |= !avail_next(c, &heap[i]);
	}
	if (err == 0 && !is_never)
		err = avail_sweep(c, heap, crew->cnt, ret, &spans);
	for (int i = 0; err == 0 && i < AVAIL_WINDOWS; i++)
		ret->window_ns[i] = avail_worst(&spans, avail_windows_ns[i]);
	free(heap);
	free(spans.at);
	return err;
}
