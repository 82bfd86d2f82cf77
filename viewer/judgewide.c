// SPDX-License-Identifier: Apache-2.0
/* judgewide.c - CPUs, queues, workers and storms; thresholds as ANALYSES.md has them. */
#include "judgewide.h"

#include "findings.h"
#include "labels.h"
#include "pains.h"
#include "plain.h"
#include "report.h"
#include "tasktable.h"
#include "workertable.h"

#include <inttypes.h>
#include <stdio.h>

#define MS 1000000ull

/* The type that lacked a CPU longest: preempted in its polls, or ready meanwhile. */
static uint32_t judgewide_starved(const struct pains *p)
{
	uint32_t best = TASK_TYPE_NONE;
	uint64_t best_ns = 0;

	for (uint32_t i = 0; i < p->types_cnt; i++)
		if (p->types[i].preempted_ns + p->types[i].starved_ns > best_ns) {
			best = i;
			best_ns = p->types[i].preempted_ns + p->types[i].starved_ns;
		}
	return best;
}

/* The stack that samples hit most in polls of a type; 0: none. */
static uint32_t judgewide_hottest(const struct pain_type *t)
{
	const struct pain_hot *best = &t->hot[0];

	for (uint32_t i = 1; i < PAINS_HOT_MAX; i++)
		if (t->hot[i].cnt > best->cnt)
			best = &t->hot[i];
	return best->cnt ? best->stack : 0;
}

/* dial9: a kernel delay over 1 ms info, over 10 ms warning. Ours: starved for a share of the time
 * that workers wanted a CPU: a tenth warning, a third critical. */
static void judgewide_cpu(struct study *s, struct findings *f)
{
	const struct pains *p = s->own;
	uint64_t lost_ns = p->delay_ns + p->preempted_ns;
	uint64_t wanted_ns = p->busy_ns + p->between_ns + p->unknown_ns + p->delay_ns;
	char worst[PLAIN_SZ], sum[PLAIN_SZ], share[PLAIN_SZ];
	struct finding *at;

	if (lost_ns >= 50 * MS && lost_ns >= wanted_ns / 10) {
		at = findings_add(f, "cpu-starved",
				  lost_ns >= wanted_ns / 3 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
				  judgewide_starved(p));
		at->cnt = p->delay_cnt + p->preempted_cnt;
		at->worst_ns = p->delay.ns;
		at->total_ns = lost_ns;
		at->next = "give the process more CPU, or take other load from these CPUs";
		snprintf(at->text, sizeof(at->text),
			 "workers were ready without a CPU for %s, %s of the time they wanted one"
			 " (%" PRIu64 " times after a park, %" PRIu64 " inside polls)",
			 plain_duration(sum, lost_ns), plain_share(share, lost_ns, wanted_ns),
			 p->delay_cnt, p->preempted_cnt);
		if (at->type != TASK_TYPE_NONE)
			findings_place(at, s, "preempted in ",
				       p->types[at->type].preempted.off_stack);
	} else if (p->delay_cnt) {
		at = findings_add(f, "kernel-delay",
				  p->delay.ns > 10 * MS ? SEVERITY_WARNING : SEVERITY_INFO,
				  TASK_TYPE_NONE);
		at->cnt = p->delay_cnt;
		at->worst_ns = p->delay.ns;
		at->total_ns = p->delay_ns;
		at->next = "the kernel was late to run them: see workers";
		snprintf(at->text, sizeof(at->text),
			 "after %" PRIu64
			 " parks a worker waited 1 ms and more for a CPU, worst %s",
			 p->delay_cnt, plain_duration(worst, p->delay.ns));
	} else {
		return;
	}
	at->has_worker = at->has_span = p->delay.ns > 0;
	at->worker = p->delay.worker;
	at->from_ns = p->delay.from_ns;
	at->to_ns = p->delay.from_ns + p->delay.ns;
}

static void judgewide_wakes(struct study *s, struct findings *f, uint32_t type, uint64_t storms,
			    uint64_t wakes, const struct pain_poll *worst)
{
	const struct pains *p = s->own;
	struct finding *at;
	char share[PLAIN_SZ];

	if (storms == 0)
		return;
	/* most of what the program does is to be woken by the hundred */
	at = findings_add(f, "wake-storm",
			  storms >= 10 && wakes >= 1000 && wakes >= p->wakes / 2 ? SEVERITY_CRITICAL
										 : SEVERITY_WARNING,
			  type);
	at->cnt = storms;
	at->next = "wake one, not all; or spread them in time";
	findings_poll(at, worst);
	at->has_task = worst->task > 0;
	at->has_worker = at->has_task;
	if (type != TASK_TYPE_NONE)
		findings_place(at, s, "", judgewide_hottest(&p->types[type]));
	snprintf(at->text, sizeof(at->text),
		 "%" PRIu64 " times 100 tasks and more were woken %s, worst %" PRIu32
		 "; %s of all wakes",
		 storms, type == TASK_TYPE_NONE ? "by no task within 1 ms" : "by one poll",
		 worst->wakes, plain_share(share, wakes, p->wakes));
}

void judgewide_storm(struct study *s, struct findings *f, uint32_t type)
{
	const struct pain_type *t = &((const struct pains *)s->own)->types[type];

	judgewide_wakes(s, f, type, t->storm_cnt, t->storm_wakes, &t->storm);
}

/* dial9: over 100 warning, over 1000 critical. */
static void judgewide_queue(struct findings *f, const struct pains *p)
{
	bool is_global = p->queue_worker == MOMENT_NO_WORKER;
	struct finding *at;

	if (p->queue_max <= 100)
		return;
	at = findings_add(f, "queue-depth",
			  p->queue_max > 1000 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
			  TASK_TYPE_NONE);
	at->cnt = p->queue_max;
	at->next = "tasks come faster than they are polled: report shows which types";
	at->has_span = true;
	at->has_worker = !is_global;
	at->worker = p->queue_worker;
	at->from_ns = at->to_ns = p->queue_at_ns;
	snprintf(at->text, sizeof(at->text), "%" PRIu64 " tasks stood in %s queue", p->queue_max,
		 is_global ? "the global" : "a worker's own");
}

/* dial9: three times the polls of another worker (info); under half on CPU in over a tenth of the
 * active periods of one worker, more than 10 in all (warning). */
static void judgewide_workers(struct study *s, struct findings *f)
{
	const struct pains *p = s->own;
	const struct report *r = s->report;
	uint64_t periods = 0, contended = 0;
	bool is_contended = false;
	struct finding *at;

	for (uint32_t i = 0; p->workers && i < r->workers_cnt; i++) {
		const struct worker *w = workertable_get(r->account.workers, r->workers[i]);
		const struct pain_worker *a = &p->workers[r->workers[i]], *b;
		uint32_t least = UINT32_MAX, most = r->workers[i];

		periods += a->periods;
		contended += a->contended;
		is_contended |= a->periods > 10 && a->contended * 10 > a->periods;
		for (uint32_t k = 0; k < r->workers_cnt; k++) {
			b = &p->workers[r->workers[k]];
			if (workertable_get(r->account.workers, r->workers[k])->runtime !=
			    w->runtime)
				continue;
			if (least == UINT32_MAX || b->polls < p->workers[least].polls)
				least = r->workers[k];
			if (b->polls > p->workers[most].polls ||
			    (b->polls == p->workers[most].polls && r->workers[k] < most))
				most = r->workers[k];
		}
		if (most != r->workers[i] || w->runtime == LABEL_UNKNOWN || a->polls < 100 ||
		    a->polls <= 3 * p->workers[least].polls)
			continue; /* told once, by the busiest of its runtime */
		at = findings_add(f, "worker-imbalance", SEVERITY_INFO, TASK_TYPE_NONE);
		at->cnt = a->polls;
		at->has_worker = true;
		at->worker = most;
		at->next = "see workers";
		snprintf(at->text, sizeof(at->text),
			 "w%" PRIu32 " polled %" PRIu64 " times, w%" PRIu32 " %" PRIu64, most,
			 a->polls, least, p->workers[least].polls);
	}
	if (is_contended) {
		at = findings_add(f, "cpu-contention", SEVERITY_WARNING, TASK_TYPE_NONE);
		at->cnt = contended;
		at->explained = "cpu-starved";
		at->next = "other threads take the workers' CPUs: see workers";
		snprintf(at->text, sizeof(at->text),
			 "in %" PRIu64 " of %" PRIu64
			 " active periods a worker had its CPU for less"
			 " than half of more than 1 ms",
			 contended, periods);
	}
}

void judgewide(struct study *s, struct findings *f)
{
	const struct pains *p = s->own;
	const struct pain_poll driver = { .wakes = (uint32_t)p->driver_worst,
					  .start_ns = p->driver_worst_ns,
					  .ns = PAINS_STORM_NS };

	judgewide_cpu(s, f);
	judgewide_queue(f, p);
	judgewide_workers(s, f);
	judgewide_wakes(s, f, TASK_TYPE_NONE, p->driver_storms, p->driver_storm_wakes, &driver);
}
