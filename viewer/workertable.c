// SPDX-License-Identifier: Apache-2.0
/* workertable.c - workers by id, threads by hash. */
#include "workertable.h"

#include "labels.h"

#include <stdlib.h>
#include <string.h>

struct workertable *workertable_new(void)
{
	return calloc(1, sizeof(struct workertable)); /* pages are touched as it fills */
}

void workertable_free(struct workertable *t)
{
	free(t);
}

uint32_t workertable_cnt(const struct workertable *t)
{
	return t->ids_cnt;
}

static uint64_t *workertable_part(struct worker *w, enum worker_state state)
{
	switch (state) {
	case WORKER_BETWEEN:
		return &w->between_ns;
	case WORKER_POLLING:
		return &w->busy_ns;
	case WORKER_PARKED:
		return &w->parked_ns;
	case WORKER_UNKNOWN:
		break;
	}
	return &w->unknown_ns;
}

uint64_t workertable_cut(struct worker *w, uint64_t ts_ns, enum worker_state expected,
			 enum worker_state next)
{
	uint64_t ns;
	bool is_known = w->state == expected && w->state != WORKER_UNKNOWN;

	if (!w->is_seen) {
		w->is_seen = true;
		w->first_ns = w->since_ns = ts_ns;
		w->runtime = LABEL_UNKNOWN;
	}
	if (w->state == WORKER_POLLING && !is_known)
		w->cut_polls++;
	/* time that goes backwards (a late event) counts as none */
	ns = ts_ns > w->since_ns ? ts_ns - w->since_ns : 0;
	*workertable_part(w, is_known ? w->state : WORKER_UNKNOWN) += ns;
	w->since_ns += ns;
	w->state = next;
	return is_known ? ns : 0;
}

void workertable_delay(struct worker *w, uint64_t park_ns, uint64_t delay_ns)
{
	if (delay_ns > park_ns)
		delay_ns = park_ns;
	w->parked_ns -= delay_ns;
	w->delayed_ns += delay_ns;
}

/* Takes up to `ns` out of the time that a worker was awake or nobody knows what it was. */
static uint64_t workertable_take(struct worker *w, uint64_t ns)
{
	uint64_t *const from[] = { &w->unknown_ns, &w->between_ns };
	uint64_t taken = 0;

	for (int i = 0; i < 2; i++) {
		uint64_t part = ns - taken < *from[i] ? ns - taken : *from[i];

		*from[i] -= part;
		taken += part;
	}
	return taken;
}

void workertable_parks(struct worker *w, uint64_t parked_ns, uint64_t delayed_ns)
{
	w->parked_ns += workertable_take(w, parked_ns);
	w->delayed_ns += workertable_take(w, delayed_ns);
}

static uint32_t workertable_slot(const struct workertable *t, uint32_t tid)
{
	uint32_t at = (tid * 0x9e3779b1u) % WORKERTABLE_SLOTS;

	while (t->threads[at].tid && t->threads[at].tid != tid)
		at = (at + 1) % WORKERTABLE_SLOTS;
	return at;
}

void workertable_bind(struct workertable *t, uint32_t tid, uint16_t worker)
{
	uint32_t at = workertable_slot(t, tid);

	if (tid == 0)
		return;
	if (t->threads[at].tid == 0) {
		if (t->threads_cnt == WORKERTABLE_THREADS_MAX)
			return;
		t->threads_cnt++;
		t->threads[at].tid = tid;
	}
	t->threads[at].worker = worker;
}

uint16_t workertable_of_thread(const struct workertable *t, uint32_t tid)
{
	const struct workertable_thread *th = &t->threads[workertable_slot(t, tid)];

	return th->tid ? th->worker : MOMENT_NO_WORKER;
}

void workertable_gap(struct workertable *t)
{
	for (uint32_t i = 0; i < t->ids_cnt; i++) {
		struct worker *w = &t->workers[i];

		w->cut_polls += w->state == WORKER_POLLING;
		w->state = WORKER_UNKNOWN;
	}
}

void workertable_unbind(struct workertable *t)
{
	memset(t->threads, 0, sizeof(t->threads));
	t->threads_cnt = 0;
}

void workertable_finish(struct workertable *t, uint64_t first_ns, uint64_t last_ns)
{
	for (uint32_t i = 0; i < t->ids_cnt; i++) {
		struct worker *w = &t->workers[i];

		if (!w->is_seen)
			continue;
		workertable_cut(w, last_ns, WORKER_PARKED, WORKER_UNKNOWN);
		w->unknown_ns += w->first_ns > first_ns ? w->first_ns - first_ns : 0;
	}
}
