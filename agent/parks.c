// SPDX-License-Identifier: Apache-2.0
#include "agent/parks.h"

#include <string.h>

#include "agent/poll.h"
#include "agent/track_state.h"

_Static_assert(THREAD_SUMS_CNT == WIRE_SUM_CNT, "struct thread.sums");

static void parks_put(struct track *t, struct thread *th, const struct wire_parks *rec,
		      uint64_t from_ns)
{
	uint64_t since[WIRE_SUM_CNT];
	uint32_t worker = poll_worker_id(th);
	bool has_worker = worker != WORKER_BLOCKING && worker != WORKER_UNKNOWN;

	for (int i = 0; i < WIRE_SUM_CNT; i++)
		since[i] = rec->sums[i] - th->sums[i];
	if (has_worker && th->worker && th->worker->parked == th) /* its record was lost */
		workers_unpark(t->workers, th, rec->head.ts_ns, UINT64_MAX);
	t->stats.parks_summed += since[WIRE_SUM_PARKS];
	emit_put_agent_parks(
		t->e, rec->head.ts_ns,
		&(struct d9_agent_parks){
			.tid = rec->head.tid,
			.has_worker_id = has_worker,
			.worker_id = worker,
			.from_ns = from_ns,
			.to_ns = rec->to_ns,
			.parks = since[WIRE_SUM_PARKS],
			.parked_ns = since[WIRE_SUM_PARKS + 1],
			.delayed_ns = since[WIRE_SUM_DELAYED_NS],
			.delayed_max_ns = rec->delay_max_ns,
			.preempted = since[WIRE_SUM_PREEMPTED],
			.preempted_ns = since[WIRE_SUM_PREEMPTED + 1],
			.polls_preempted = since[WIRE_SUM_POLL_PREEMPTED],
			.polls_preempted_ns = since[WIRE_SUM_POLL_PREEMPTED + 1],
			.others = since[WIRE_SUM_OTHERS],
			.others_ns = since[WIRE_SUM_OTHERS + 1],
			.cpu_time_ns = rec->cpu_time_ns});
}

bool parks_record(struct track *t, const struct wire_parks *rec)
{
	struct thread *th = threads_get(t->threads, (pid_t)rec->head.tid);
	uint64_t from_ns;

	if (!th)
		return false;
	/* where no record told of the end, that one was lost: it goes on */
	from_ns = th->is_summed ? th->sums_ns : rec->begin_ns;
	th->is_summed = !(rec->head.flags & WIRE_PARKS_OVER);
	th->cpu_time_ns = rec->cpu_time_ns;
	for (int i = 0; i < WIRE_SUM_CNT; i++)
		if (rec->sums[i] < th->sums[i])
			return true; /* read on the way to a later one, which came first */
	if (rec->to_ns > from_ns)
		parks_put(t, th, rec, from_ns);
	else if (memcmp(th->sums, rec->sums, sizeof(th->sums)))
		return true; /* the next one has it all */
	memcpy(th->sums, rec->sums, sizeof(th->sums));
	if (rec->to_ns > th->sums_ns)
		th->sums_ns = rec->to_ns;
	return true;
}

bool parks_are_stale(const struct track *t, uint64_t now_ns)
{
	uint32_t at = 0;
	const struct thread *th;

	while ((th = threads_next(t->threads, &at)))
		if (th->is_summed && now_ns - th->sums_ns > PARKS_STALE_NS)
			return true;
	return false;
}
