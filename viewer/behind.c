// SPDX-License-Identifier: Apache-2.0
/* behind.c - one ring of slices for each worker, with prefix sums and difference marks. */
#include "behind.h"

#include "sleepgrid.h"
#include "workertable.h"

#include <errno.h>
#include <stdlib.h>

#define BEHIND_FIRST 64u
#define BEHIND_LANES 16u /* of the grid, at first */

struct behind_entry {
	uint64_t from_ns, to_ns;
	uint64_t before[WATCH_STATES]; /* sums of all earlier slices, by state */
	uint64_t task, extra_ns; /* extra: of waits that cover it in part */
	int32_t covers,
		extra_cnt; /* covers: waits that cover all from here on, less those before */
	uint32_t type, nr;
	uint8_t state;
};

struct behind_ring {
	struct behind_entry *at; /* room is a power of two */
	uint64_t first, end; /* numbers of the oldest, and after the newest */
	uint32_t room;
	int64_t covering; /* waits over the oldest entry, by marks that left */
	int32_t uncover; /* waits that end where the next entry begins */
	uint64_t sums[WATCH_STATES];
};

struct behind {
	struct behind_ring rings[MOMENT_WORKERS_MAX];
	uint32_t total,
		workers_cnt; /* entries there is room for; 1 more than the greatest worker */
	struct sleepgrid parked;
	void (*harm)(void *ctx, const struct behind_harm *h);
	void *ctx;
};

struct behind *behind_new(void (*harm)(void *ctx, const struct behind_harm *h), void *ctx)
{
	struct behind *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->harm = harm;
	b->ctx = ctx;
	if (sleepgrid_init(&b->parked, BEHIND_LANES, 0) != 0) {
		behind_free(b);
		return NULL;
	}
	return b;
}

void behind_free(struct behind *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; i < MOMENT_WORKERS_MAX; i++)
		free(b->rings[i].at);
	sleepgrid_done(&b->parked);
	free(b);
}

static struct behind_entry *behind_entry(const struct behind_ring *r, uint64_t nr)
{
	return &r->at[nr & (r->room - 1)];
}

/* The oldest entry leaves: what it is to blame for is known now. */
static void behind_drop(struct behind *b, struct behind_ring *r, uint32_t worker)
{
	const struct behind_entry *e = behind_entry(r, r->first++);
	struct behind_harm h = { worker, e->type, e->nr, e->task, e->from_ns, e->to_ns, 0, 0 };

	r->covering += e->covers;
	if (e->state != WATCH_BUSY || !b->harm)
		return;
	h.victims = (uint64_t)(r->covering + e->extra_cnt);
	h.ns = e->extra_ns + (uint64_t)r->covering * (e->to_ns - e->from_ns);
	if (h.victims)
		b->harm(b->ctx, &h);
}

static int behind_grow(struct behind *b, struct behind_ring *r)
{
	uint32_t room = r->room ? 2 * r->room : BEHIND_FIRST;
	struct behind_ring grown = *r;

	grown.at = malloc(room * sizeof(*grown.at));
	if (!grown.at)
		return -ENOMEM;
	grown.room = room;
	for (uint64_t i = r->first; i < r->end; i++)
		*behind_entry(&grown, i) = *behind_entry(r, i);
	b->total += room - r->room;
	free(r->at);
	*r = grown;
	return 0;
}

int behind_slice(struct behind *b, const struct watch_slice *s)
{
	struct behind_ring *r = &b->rings[s->worker];
	struct behind_entry *e;

	if (r->end - r->first == r->room) {
		/* BEHIND_FIRST is granted to each worker, whatever the total */
		if (r->room < BEHIND_FIRST ||
		    (r->room < BEHIND_SLICES_MAX && b->total < BEHIND_TOTAL_MAX)) {
			if (behind_grow(b, r) != 0)
				return -ENOMEM;
		} else {
			behind_drop(b, r, s->worker);
		}
	}
	if (sleepgrid_room(&b->parked, s->worker + 1) != 0)
		return -ENOMEM;
	if (s->worker >= b->workers_cnt)
		b->workers_cnt = s->worker + 1;
	sleepgrid_tell(&b->parked, s->worker, s->from_ns, s->to_ns, s->state == WATCH_PARKED);
	e = behind_entry(r, r->end++);
	*e = (struct behind_entry){
		.from_ns = s->from_ns, .to_ns = s->to_ns, .state = s->state, .covers = -r->uncover
	};
	r->uncover = 0;
	for (int i = 0; i < WATCH_STATES; i++)
		e->before[i] = r->sums[i];
	r->sums[s->state] += s->to_ns - s->from_ns;
	if (s->poll) {
		e->task = s->poll->task;
		e->type = s->poll->type;
		e->nr = s->poll->nr;
	}
	return 0;
}

/* Number of the entry that holds ts_ns; first if it lies before, end if after. */
static uint64_t behind_find(const struct behind_ring *r, uint64_t ts_ns)
{
	uint64_t low = r->first, high = r->end;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (behind_entry(r, middle)->to_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Time in each state from from_ns to the end of the last slice. */
static void behind_since(const struct behind_ring *r, uint64_t from_ns, uint64_t ret[WATCH_STATES])
{
	uint64_t nr = behind_find(r, from_ns);
	const struct behind_entry *e;

	for (int i = 0; i < WATCH_STATES; i++)
		ret[i] = 0;
	if (nr == r->end)
		return;
	e = behind_entry(r, nr);
	for (int i = 0; i < WATCH_STATES; i++)
		ret[i] = r->sums[i] - e->before[i];
	if (from_ns > e->from_ns)
		ret[e->state] -= from_ns - e->from_ns;
}

void behind_parts(const struct behind *b, const struct watch_wait *w, struct behind_parts *ret)
{
	uint64_t known_ns = 0, ns = w->to_ns - w->from_ns;

	behind_since(&b->rings[w->worker], w->from_ns, ret->ns);
	for (int i = 0; i < WATCH_STATES; i++) {
		/* never more than the wait: a late slice may reach beyond it */
		if (ret->ns[i] > ns - known_ns)
			ret->ns[i] = ns - known_ns;
		known_ns += ret->ns[i];
	}
	ret->ns[WATCH_UNKNOWN] += ns - known_ns;
}

static bool behind_is_parked(const struct behind *b, uint32_t worker, uint64_t from_ns, uint64_t ns)
{
	const struct behind_ring *r = &b->rings[worker];
	uint64_t all_ns = r->sums[WATCH_PARKED], least_ns, most_ns, parts[WATCH_STATES];

	sleepgrid_until(&b->parked, worker, from_ns, &least_ns, &most_ns);
	if (all_ns - least_ns <= ns)
		return false;
	behind_since(r, from_ns, parts);
	return parts[WATCH_PARKED] > ns;
}

bool behind_idle(const struct behind *b, const struct watch_wait *w, uint64_t ns)
{
	for (uint32_t i = 0; i < b->workers_cnt; i++)
		if (i != w->worker && behind_is_parked(b, i, w->from_ns, ns))
			return true;
	return false;
}

void behind_polls(const struct behind *b, const struct watch_wait *w,
		  void (*told)(void *ctx, const struct behind_harm *h), void *ctx)
{
	const struct behind_ring *r = &b->rings[w->worker];

	for (uint64_t nr = behind_find(r, w->from_ns); nr < r->end; nr++) {
		const struct behind_entry *e = behind_entry(r, nr);
		uint64_t from_ns = e->from_ns > w->from_ns ? e->from_ns : w->from_ns;
		uint64_t to_ns = e->to_ns < w->to_ns ? e->to_ns : w->to_ns;
		struct behind_harm h = { w->worker,  e->type,  e->nr, e->task,
					 e->from_ns, e->to_ns, 0,     1 };

		if (e->state != WATCH_BUSY || from_ns >= to_ns)
			continue;
		h.ns = to_ns - from_ns;
		told(ctx, &h);
	}
}

void behind_charge(struct behind *b, const struct watch_wait *w)
{
	struct behind_ring *r = &b->rings[w->worker];
	uint64_t nr = behind_find(r, w->from_ns);
	struct behind_entry *e;

	if (nr == r->end)
		return;
	e = behind_entry(r, nr);
	if (w->from_ns > e->from_ns) { /* the rest of the slice it began in */
		e->extra_ns += e->to_ns - w->from_ns;
		e->extra_cnt++;
		if (++nr == r->end)
			return;
		e = behind_entry(r, nr);
	}
	e->covers++; /* it and all behind it, up to the newest: the next to come is not covered */
	r->uncover++;
}

void behind_finish(struct behind *b)
{
	for (uint32_t i = 0; i < MOMENT_WORKERS_MAX; i++)
		while (b->rings[i].first < b->rings[i].end)
			behind_drop(b, &b->rings[i], i);
}
