// SPDX-License-Identifier: Apache-2.0
/* crews.c - worker lanes by runtime, and prefix sums over parks. */
#include "crews.h"

#include "core/columns.h"
#include "scope.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t crews_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

uint64_t crews_poll_end(const struct columns *c, uint32_t poll)
{
	return crews_sum(c->polls.start_ns[poll], c->polls.dur_ns[poll]);
}

uint64_t crews_park_end(const struct columns *c, uint32_t park)
{
	return crews_sum(c->parks.start_ns[park], c->parks.dur_ns[park]);
}

uint64_t crews_asleep(const struct columns *c, uint32_t park)
{
	uint64_t dur_ns = c->parks.dur_ns[park], delay_ns = c->parks.delay_ns[park];

	if (delay_ns == UINT64_MAX)
		return dur_ns;
	return dur_ns > delay_ns ? dur_ns - delay_ns : 0;
}

bool crews_is_task(const struct columns *c, uint32_t task)
{
	return task != COLUMNS_NONE && (c->tasks.polls_to[task] > c->tasks.polls_from[task] ||
					c->tasks.spawn_ns[task] || c->tasks.place[task]);
}

static bool crews_is_worker(const struct columns *c, uint32_t lane)
{
	return c->lanes.kind[lane] == COLUMNS_WORKER &&
	       (c->lanes.polls_to[lane] > c->lanes.polls_from[lane] ||
		c->lanes.parks_to[lane] > c->lanes.parks_from[lane]);
}

static int crews_add(struct crews *x, uint32_t lane)
{
	const struct columns *c = x->c;
	uint32_t i = 0;

	while (i < x->cnt && x->at[i].runtime != c->lanes.runtime[lane])
		i++;
	if (i == x->cnt) {
		x->at[i] = (struct crew){ .runtime = c->lanes.runtime[lane] };
		x->at[i].lanes = calloc(c->lanes.cnt, sizeof(*x->at[i].lanes));
		if (!x->at[i].lanes)
			return -ENOMEM;
		x->cnt++;
	}
	x->at[i].lanes[x->at[i].cnt++] = lane;
	x->of_lane[lane] = i;
	return 0;
}

/* What each worker slept, in order. */
static int crews_tell(struct crews *x)
{
	const struct columns *c = x->c;
	uint32_t lanes = 0; /* workers come first */
	int err;

	while (lanes < c->lanes.cnt && c->lanes.kind[lanes] == COLUMNS_WORKER)
		lanes++;
	err = sleepgrid_init(&x->grid, lanes, c->odd.last_ns - c->odd.first_ns);
	for (uint32_t lane = 0; err == 0 && lane < lanes; lane++)
		for (uint32_t i = c->lanes.parks_from[lane]; i < c->lanes.parks_to[lane]; i++)
			sleepgrid_tell(&x->grid, lane, c->parks.start_ns[i],
				       crews_sum(c->parks.start_ns[i], crews_asleep(c, i)), true);
	return err;
}

int crews_init(struct crews *x, const struct columns *c)
{
	int err = 0;

	*x = (struct crews){ .c = c };
	x->at = calloc(c->lanes.cnt + 1u, sizeof(*x->at));
	x->of_lane = calloc(c->lanes.cnt + 1u, sizeof(*x->of_lane));
	x->parked_before = calloc(c->parks.cnt + 1ull, sizeof(*x->parked_before));
	if (!x->at || !x->of_lane || !x->parked_before)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->parks.cnt; i++)
		x->parked_before[i + 1] = crews_sum(x->parked_before[i], crews_asleep(c, i));
	for (uint32_t i = 0; err == 0 && i < c->lanes.cnt; i++) {
		x->of_lane[i] = COLUMNS_NONE;
		if (crews_is_worker(c, i))
			err = crews_add(x, i);
	}
	return err ? err : crews_tell(x);
}

void crews_done(struct crews *x)
{
	for (uint32_t i = 0; x->at && i < x->cnt; i++)
		free(x->at[i].lanes);
	free(x->at);
	free(x->of_lane);
	free(x->parked_before);
	sleepgrid_done(&x->grid);
	*x = (struct crews){ 0 };
}

bool crews_pass(const struct crews *x, uint32_t crew, const struct scope *s)
{
	for (uint32_t i = 0; i < x->at[crew].cnt; i++)
		if (scope_lane(s, x->at[crew].lanes[i]))
			return true;
	return false;
}

/* Sleep of a lane before ns. */
static uint64_t crews_parked_until(const struct crews *x, uint32_t lane, uint64_t ns)
{
	const struct columns *c = x->c;
	uint32_t from = c->lanes.parks_from[lane];
	uint32_t at = columns_seek(c->parks.start_ns, from, c->lanes.parks_to[lane], ns);
	uint64_t sum = x->parked_before[at] - x->parked_before[from], end_ns;

	if (at == from)
		return 0;
	end_ns = crews_sum(c->parks.start_ns[at - 1], crews_asleep(c, at - 1));
	if (end_ns > ns)
		sum -= end_ns - ns < sum ? end_ns - ns : sum;
	return sum;
}

uint64_t crews_parked(const struct crews *x, uint32_t lane, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = crews_parked_until(x, lane, from_ns);
	uint64_t to = crews_parked_until(x, lane, to_ns);

	return to > from ? to - from : 0;
}

/* Did it sleep for more than half of the time? The grid nearly always knows without a search. */
static bool crews_is_idle(const struct crews *x, uint32_t lane, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t half_ns = (to_ns - from_ns) / 2, from_least, from_most, to_least, to_most;

	sleepgrid_until(&x->grid, lane, from_ns, &from_least, &from_most);
	sleepgrid_until(&x->grid, lane, to_ns, &to_least, &to_most);
	if (to_most <= from_least || to_most - from_least <= half_ns)
		return false;
	if (to_least > from_most && to_least - from_most > half_ns)
		return true;
	return crews_parked(x, lane, from_ns, to_ns) > half_ns;
}

uint32_t crews_idle_peers(const struct crews *x, uint32_t lane, uint64_t from_ns, uint64_t to_ns)
{
	const struct crew *crew;
	uint32_t cnt = 0;

	if (x->of_lane[lane] == COLUMNS_NONE || to_ns <= from_ns)
		return 0;
	crew = &x->at[x->of_lane[lane]];
	for (uint32_t i = 0; i < crew->cnt; i++)
		cnt += crew->lanes[i] != lane && crews_is_idle(x, crew->lanes[i], from_ns, to_ns);
	return cnt;
}
