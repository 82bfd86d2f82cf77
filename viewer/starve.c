// SPDX-License-Identifier: Apache-2.0
/* starve.c - one pass over the polls of each worker. */
#include "starve.h"

#include "core/columns.h"
#include "core/tables.h"
#include "crews.h"
#include "scope.h"

static void starve_count(struct starve_sum *sum, uint32_t poll, uint64_t ns, uint32_t peers)
{
	sum->cnt++;
	sum->ns += ns;
	if (ns <= sum->worst_ns)
		return;
	sum->worst_ns = ns;
	sum->worst = poll;
	sum->peers = peers;
}

static void starve_wait(const struct crews *x, struct starve *st, uint32_t lane, uint32_t poll,
			uint32_t crew_cnt)
{
	const struct columns *c = x->c;
	uint64_t ready_ns = c->polls.ready_ns[poll], start_ns = c->polls.start_ns[poll];
	uint32_t peers;

	if (ready_ns == 0 || start_ns < ready_ns || start_ns - ready_ns < STARVE_NS)
		return;
	peers = crews_idle_peers(x, lane, ready_ns, start_ns);
	starve_count(crew_cnt == 1 ? &st->single
		     : peers	   ? &st->starved
				   : &st->saturated,
		     poll, start_ns - ready_ns, peers);
}

static void starve_stuck(const struct crews *x, struct starve *st, uint32_t lane, uint32_t poll)
{
	const struct columns *c = x->c;
	uint64_t dur_ns = c->polls.dur_ns[poll], start_ns = c->polls.start_ns[poll];
	uint32_t peers;

	if (dur_ns < STARVE_NS)
		return;
	if (c->polls.queue[poll] == COLUMNS_QUEUE_UNKNOWN) {
		st->queue_unknown++;
		return;
	}
	st->queue_known++;
	if (c->polls.queue[poll] == 0)
		return;
	peers = crews_idle_peers(x, lane, start_ns, crews_poll_end(c, poll));
	if (peers)
		starve_count(&st->stuck, poll, dur_ns, peers);
}

static void starve_lane(const struct crews *x, const struct scope *s, struct starve *st,
			uint32_t lane, uint32_t crew_cnt)
{
	const struct columns *c = x->c;
	uint64_t polls = 0, busy_ns = 0;

	for (uint32_t i = c->lanes.polls_from[lane]; i < c->lanes.polls_to[lane]; i++) {
		if (scope_time(s, c->polls.start_ns[i])) {
			polls++;
			busy_ns += c->polls.dur_ns[i];
		}
		if (!scope_row(s, TABLES_polls, i))
			continue;
		starve_wait(x, st, lane, i, crew_cnt);
		starve_stuck(x, st, lane, i);
	}
	if (st->most == COLUMNS_NONE || polls > st->most_polls) {
		st->most = lane;
		st->most_polls = polls;
	}
	if (st->least == COLUMNS_NONE || polls < st->least_polls) {
		st->least = lane;
		st->least_polls = polls;
	}
	if (busy_ns > st->busy_most_ns)
		st->busy_most_ns = busy_ns;
	if (busy_ns < st->busy_least_ns)
		st->busy_least_ns = busy_ns;
}

void starve_of(const struct crews *x, const struct scope *s, struct starve *ret)
{
	for (uint32_t i = 0; i < x->cnt; i++) {
		ret[i] = (struct starve){ .most = COLUMNS_NONE,
					  .least = COLUMNS_NONE,
					  .busy_least_ns = UINT64_MAX };
		ret[i].starved.worst = ret[i].saturated.worst = ret[i].single.worst =
			ret[i].stuck.worst = COLUMNS_NONE;
		for (uint32_t k = 0; k < x->at[i].cnt; k++)
			starve_lane(x, s, &ret[i], x->at[i].lanes[k], x->at[i].cnt);
	}
}
