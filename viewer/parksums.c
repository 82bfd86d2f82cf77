// SPDX-License-Identifier: Apache-2.0
/* parksums.c - threads by linear probing, 0 marks a free one. */
#include "parksums.h"

#include "format/trace.h"

#include <stdlib.h>
#include <string.h>

#define PARKSUMS_SLOTS (2 * PARKSUMS_THREADS_MAX)

struct parksums_thread {
	uint32_t tid;
	bool has_sum;
	/* of its last agent:Parks, by stamp */
	uint64_t ts_ns, from_ns, to_ns, cpu_ns;
	/* off its CPU since, by events of their own: that long, and up to when */
	uint64_t off_ns, off_end_ns;
};

struct parksums {
	struct parksums_thread slots[PARKSUMS_SLOTS];
	uint32_t used_cnt;
};

struct parksums *parksums_new(void)
{
	return calloc(1, sizeof(struct parksums));
}

void parksums_free(struct parksums *p)
{
	free(p);
}

void parksums_forget(struct parksums *p)
{
	memset(p, 0, sizeof(*p));
}

static struct parksums_thread *parksums_slot(struct parksums *p, uint32_t tid)
{
	uint32_t at = (tid * 0x9e3779b1u) >> 16 & (PARKSUMS_SLOTS - 1);

	while (p->slots[at].tid && p->slots[at].tid != tid)
		at = (at + 1) & (PARKSUMS_SLOTS - 1);
	return &p->slots[at];
}

static struct parksums_thread *parksums_thread(struct parksums *p, uint32_t tid)
{
	struct parksums_thread *t = parksums_slot(p, tid);

	if (!t->tid && p->used_cnt == PARKSUMS_THREADS_MAX) {
		parksums_forget(p);
		t = parksums_slot(p, tid);
	}
	if (!t->tid)
		p->used_cnt++;
	t->tid = tid;
	return t;
}

/* All that the event sums up, UINT64_MAX where that overflows. */
static uint64_t parksums_total_ns(const struct d9_ev *ev)
{
	static const int fields[] = { D9F_agent_parks_parked_ns, D9F_agent_parks_delayed_ns,
				      D9F_agent_parks_preempted_ns,
				      D9F_agent_parks_polls_preempted_ns,
				      D9F_agent_parks_others_ns };
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (__builtin_add_overflow(sum, d9_u64(ev, fields[i], 0), &sum))
			return UINT64_MAX;
	return sum;
}

static bool parksums_is_whole(const struct d9_ev *ev, uint64_t from_ns, uint64_t to_ns,
			      uint64_t total_ns)
{
	uint64_t cnt = d9_u64(ev, D9F_agent_parks_polls_preempted, 0),
		 ns = d9_u64(ev, D9F_agent_parks_polls_preempted_ns, 0);

	return from_ns <= to_ns && to_ns <= ev->ts_ns && total_ns <= to_ns - from_ns &&
	       ns / PARKSUMS_SHORT_NS <= cnt && (cnt || !ns);
}

/* `e` comes after the thread's last one, or before it where lanes stand one after the other. */
static bool parksums_follows(const struct parksums_thread *t, const struct parksums_thread *e)
{
	const struct parksums_thread *first = e->ts_ns < t->ts_ns ? e : t,
				     *then = e->ts_ns < t->ts_ns ? t : e;

	return first->to_ns <= then->from_ns &&
	       (!first->cpu_ns || !then->cpu_ns || first->cpu_ns <= then->cpu_ns);
}

bool parksums_add(struct parksums *p, const struct d9_ev *ev)
{
	struct parksums_thread e = {
		.tid = (uint32_t)d9_u64(ev, D9F_agent_parks_tid, 0),
		.has_sum = true,
		.ts_ns = ev->ts_ns,
		.from_ns = d9_u64(ev, D9F_agent_parks_from_ns, 0),
		.to_ns = d9_u64(ev, D9F_agent_parks_to_ns, 0),
		.cpu_ns = d9_u64(ev, D9F_agent_parks_cpu_time_ns, 0),
	};
	uint64_t total_ns = parksums_total_ns(ev);
	bool is_well = parksums_is_whole(ev, e.from_ns, e.to_ns, total_ns);
	struct parksums_thread *t = e.tid ? parksums_thread(p, e.tid) : NULL;

	if (!t)
		return is_well;
	if (t->has_sum && !parksums_follows(t, &e))
		is_well = false;
	/* times off the CPU that go on behind it, or began before it, are not told apart: none is judged */
	if (t->has_sum && is_well && t->to_ns == e.from_ns && t->off_end_ns <= e.to_ns &&
	    t->off_ns > e.to_ns - e.from_ns - total_ns)
		is_well = false;
	if (!t->has_sum || e.ts_ns >= t->ts_ns)
		*t = e;
	return is_well;
}

void parksums_off_cpu(struct parksums *p, const struct d9_ev *ev)
{
	uint32_t tid = (uint32_t)d9_u64(ev, D9F_agent_off_cpu_tid, 0);
	uint64_t out_ns = d9_u64(ev, D9F_agent_off_cpu_out_ns, UINT64_MAX);
	struct parksums_thread *t = tid ? parksums_slot(p, tid) : NULL;

	if (!t || !t->tid || !t->has_sum || out_ns < t->to_ns || out_ns > ev->ts_ns)
		return;
	if (__builtin_add_overflow(t->off_ns, ev->ts_ns - out_ns, &t->off_ns))
		t->off_ns = UINT64_MAX;
	if (ev->ts_ns > t->off_end_ns)
		t->off_end_ns = ev->ts_ns;
}
