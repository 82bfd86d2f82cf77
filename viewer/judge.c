// SPDX-License-Identifier: Apache-2.0
/* judge.c - the thresholds of every finding, one function a kind; ANALYSES.md has the reasons. */
#include "judge.h"

#include "explain.h"
#include "labels.h"
#include "pains.h"
#include "callplace.h"
#include "plain.h"
#include "report.h"
#include "tasktable.h"
#include "typetable.h"
#include "workertable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull

/* A finding to be filled in. At the cap: a scrap that nobody reads. */
static struct finding *judge_add(struct findings *f, const char *kind, enum severity severity,
				 uint32_t type)
{
	static struct finding scrap;
	struct finding *at = f->cnt < FINDINGS_MAX ? &f->at[f->cnt++] : &scrap;

	f->over_cap += at == &scrap;
	*at = (struct finding){ .kind = kind, .severity = severity, .type = type };
	return at;
}

static void judge_poll_evidence(struct finding *at, const struct pain_poll *p)
{
	at->has_task = at->has_span = true;
	at->has_worker = p->worker != MOMENT_NO_WORKER;
	at->task = p->task;
	at->nr = p->nr;
	at->worker = p->worker;
	at->from_ns = p->start_ns;
	at->to_ns = p->start_ns + p->ns;
}

/* dial9: 10 ms warning, 50 ms critical. */
static void judge_long(struct study *s, struct findings *f, uint32_t row, const struct pain_type *t)
{
	static const char *const next[VERDICT_CNT] = {
		[VERDICT_UNKNOWN] = "record at level full to learn what the poll did",
		[VERDICT_COMPUTE] =
			"split it or use spawn_blocking; flame --type shows where it computes",
		[VERDICT_BLOCKING] = "use the async form of this call, or spawn_blocking",
		[VERDICT_LOCK] = "hold the lock for less, or not across slow work",
		[VERDICT_PREEMPTED] = "the CPU is too small for the load: see workers",
	};
	enum verdict best = VERDICT_UNKNOWN;
	char worst[PLAIN_SZ], sum[PLAIN_SZ];
	struct finding *at;

	if (t->long_cnt == 0)
		return;
	for (int i = 0; i < VERDICT_CNT; i++)
		if (t->verdicts[i] > t->verdicts[best])
			best = i;
	at = judge_add(f, "long-poll",
		       t->longest.ns >= 50 * MS ? SEVERITY_CRITICAL : SEVERITY_WARNING, row);
	at->cnt = t->long_cnt;
	at->worst_ns = t->longest.ns;
	at->total_ns = t->long_ns;
	at->next = next[best];
	if (best == VERDICT_PREEMPTED)
		at->explained = "cpu-starved";
	judge_poll_evidence(at, &t->longest);
	snprintf(at->text, sizeof(at->text),
		 "%" PRIu64 " polls of 10 ms and more, worst %s, %s in all: %s", t->long_cnt,
		 plain_duration(worst, t->longest.ns), plain_duration(sum, t->long_ns),
		 verdict_name(best));
	if (best == VERDICT_BLOCKING || best == VERDICT_LOCK)
		callplace_text(at->place, sizeof(at->place), s, t->longest.off_worst,
			       t->longest.off_stack);
}

/* dial9: wake-to-poll over 5 ms warning, worst over 50 ms critical. */
static void judge_late(struct findings *f, uint32_t row, const struct pain_type *t)
{
	static const char *const causes[] = { "unknown", "behind other polls on its worker",
					      "its worker slept", "its worker had no CPU",
					      "its worker was between polls" };
	char worst[PLAIN_SZ], part[PLAIN_SZ];
	struct finding *at;
	int best = 0;

	if (t->late_cnt == 0)
		return;
	for (int i = 0; i < WATCH_STATES; i++)
		if (t->late_parts[i] > t->late_parts[best])
			best = i;
	at = judge_add(f, "late-poll",
		       t->latest.ns > 50 * MS ? SEVERITY_CRITICAL : SEVERITY_WARNING, row);
	at->cnt = t->late_cnt;
	at->worst_ns = t->latest.ns;
	at->total_ns = t->late_ns;
	at->has_task = at->has_worker = at->has_span = true;
	at->task = t->latest.task;
	at->worker = t->latest.worker;
	at->from_ns = t->latest.from_ns;
	at->to_ns = t->latest.from_ns + t->latest.ns;
	at->next = best == WATCH_BUSY ? "who blocked it: blame, and waits --explain for one wait"
				      : "what it waited for: waits --from --to around it";
	/* the cause is a finding of its own */
	at->explained = best == WATCH_BUSY ? "" : best == WATCH_DELAYED ? "cpu-starved" : NULL;
	snprintf(at->text, sizeof(at->text),
		 "%" PRIu64 " polls came 5 ms and more after the wake, worst %s: %s of it %s"
		 "; another worker was idle in %" PRIu64,
		 t->late_cnt, plain_duration(worst, t->latest.ns),
		 plain_share(part, t->late_parts[best], t->late_ns), causes[best],
		 t->late_idle_cnt);
}

/*
 * Ours: in futex inside polls. A convoy stops workers for a tenth of the recording.
 * Others (dial9: more than 5 samples): critical for the same time, unless a long poll says it.
 */
static void judge_call(struct study *s, struct findings *f, const struct pain_call *c)
{
	bool is_lock = c->label == MOMENT_FUTEX;
	struct finding *at;
	char worst[PLAIN_SZ], sum[PLAIN_SZ];

	if (c->cnt <= 5)
		return;
	at = judge_add(f, is_lock ? "lock-in-poll" : "blocking-in-poll",
		       c->ns >= s->report->span_ns / 10 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
		       c->type);
	at->cnt = c->cnt;
	at->worst_ns = c->worst.ns;
	at->total_ns = c->ns;
	at->next = is_lock ? "hold the lock for less, or use an async one"
			   : "use the async form of this call, or spawn_blocking";
	judge_poll_evidence(at, &c->worst);
	callplace_text(at->place, sizeof(at->place), s, c->label, c->worst.off_stack);
	snprintf(at->text, sizeof(at->text),
		 "off CPU for 1 ms and more %" PRIu64 " times inside polls, worst %s, %s in all",
		 c->cnt, plain_duration(worst, c->worst.ns), plain_duration(sum, c->ns));
}

/* dial9: a kernel delay over 1 ms info, over 10 ms warning. Ours: starved for a share of the time
 * that workers wanted a CPU: a tenth warning, a third critical. */
static void judge_cpu(struct findings *f, const struct pains *p)
{
	uint64_t lost_ns = p->delay_ns + p->preempted_ns;
	uint64_t wanted_ns = p->busy_ns + p->between_ns + p->unknown_ns + p->delay_ns;
	char worst[PLAIN_SZ], sum[PLAIN_SZ], share[PLAIN_SZ];
	struct finding *at;

	if (lost_ns >= 50 * MS && lost_ns >= wanted_ns / 10) {
		at = judge_add(f, "cpu-starved",
			       lost_ns >= wanted_ns / 3 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
			       TASK_TYPE_NONE);
		at->cnt = p->delay_cnt + p->preempted_cnt;
		at->worst_ns = p->delay.ns;
		at->total_ns = lost_ns;
		at->next = "give the process more CPU, or take other load from these CPUs";
		snprintf(at->text, sizeof(at->text),
			 "workers were ready without a CPU for %s, %s of the time they wanted one"
			 " (%" PRIu64 " times after a park, %" PRIu64 " inside polls)",
			 plain_duration(sum, lost_ns), plain_share(share, lost_ns, wanted_ns),
			 p->delay_cnt, p->preempted_cnt);
	} else if (p->delay_cnt) {
		at = judge_add(f, "kernel-delay",
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

static void judge_storm(struct findings *f, uint32_t type, uint64_t storms, uint64_t wakes,
			const struct pain_poll *worst, const struct pains *p)
{
	struct finding *at;
	char share[PLAIN_SZ];

	if (storms == 0)
		return;
	/* most of what the program does is to be woken by the hundred */
	at = judge_add(f, "wake-storm",
		       storms >= 10 && wakes >= 1000 && wakes >= p->wakes / 2 ? SEVERITY_CRITICAL
									      : SEVERITY_WARNING,
		       type);
	at->cnt = storms;
	at->next = "wake one, not all; or spread them in time";
	judge_poll_evidence(at, worst);
	at->has_task = worst->task > 0;
	at->has_worker = at->has_task;
	snprintf(at->text, sizeof(at->text),
		 "%" PRIu64 " times 100 tasks and more were woken %s, worst %" PRIu32
		 "; %s of all wakes",
		 storms, type == TASK_TYPE_NONE ? "by no task within 1 ms" : "by one poll",
		 worst->wakes, plain_share(share, wakes, p->wakes));
}

/* dial9: over 100 warning, over 1000 critical. */
static void judge_queue(struct findings *f, const struct pains *p)
{
	bool is_global = p->queue_worker == MOMENT_NO_WORKER;
	struct finding *at;

	if (p->queue_max <= 100)
		return;
	at = judge_add(f, "queue-depth", p->queue_max > 1000 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
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

/* dial9: the living are more than twice what they were, and never were more. The first quarter is
 * warm-up; each later one must add, and 100 in all. */
static void judge_leak(struct findings *f, uint32_t row, const struct pain_type *t, uint32_t cnt)
{
	const uint32_t *c = t->curve;
	uint32_t first, last;
	struct finding *at;

	if (cnt < 16)
		return;
	first = c[cnt / 4];
	last = c[cnt - 1];
	if (last < first + 100 || last <= 2 * first || c[cnt / 2] <= first ||
	    c[cnt * 3 / 4] <= c[cnt / 2] || last <= c[cnt * 3 / 4])
		return;
	for (uint32_t i = 0; i < cnt; i++)
		if (c[i] > last)
			return;
	at = judge_add(f, "task-leak", SEVERITY_WARNING, row);
	at->cnt = last;
	at->next = "who should end or abort these tasks? report counts them by type";
	snprintf(at->text, sizeof(at->text),
		 "tasks of it alive: %" PRIu32 " after a quarter of the recording, %" PRIu32
		 " at its end, never fewer meanwhile",
		 first, last);
}

/* dial9: three times the polls of another worker (info); under half on CPU in over a tenth of the
 * active periods (warning). */
static void judge_workers(struct study *s, struct findings *f)
{
	const struct pains *p = s->own;
	const struct report *r = s->report;
	uint64_t periods = 0, contended = 0;
	struct finding *at;

	for (uint32_t i = 0; p->workers && i < r->workers_cnt; i++) {
		const struct worker *w = workertable_get(r->account.workers, r->workers[i]);
		const struct pain_worker *a = &p->workers[r->workers[i]], *b;
		uint32_t least = UINT32_MAX, most = r->workers[i];

		periods += a->periods;
		contended += a->contended;
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
		at = judge_add(f, "worker-imbalance", SEVERITY_INFO, TASK_TYPE_NONE);
		at->cnt = a->polls;
		at->has_worker = true;
		at->worker = most;
		at->next = "see workers";
		snprintf(at->text, sizeof(at->text),
			 "w%" PRIu32 " polled %" PRIu64 " times, w%" PRIu32 " %" PRIu64, most,
			 a->polls, least, p->workers[least].polls);
	}
	if (periods && contended * 10 > periods) {
		at = judge_add(f, "cpu-contention", SEVERITY_WARNING, TASK_TYPE_NONE);
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

/* Ours: the pool's queue. */
static void judge_pool(struct findings *f, uint32_t row, const struct type_row *t)
{
	uint64_t p50_ns = histogram_quantile(&t->queued, 500);
	char text[3][PLAIN_SZ];
	struct finding *at;

	if (t->queued.cnt < 10 || histogram_quantile(&t->queued, 990) < 10 * MS)
		return;
	at = judge_add(f, "blocking-pool", p50_ns >= 50 * MS ? SEVERITY_CRITICAL : SEVERITY_WARNING,
		       row);
	at->cnt = t->queued.cnt;
	at->worst_ns = t->queued.max;
	at->total_ns = t->queued.sum;
	at->next = "raise max_blocking_threads, or send it less or shorter work";
	snprintf(at->text, sizeof(at->text),
		 "%" PRIu64 " blocking tasks waited for a thread: p50 %s, p99 %s, worst %s",
		 t->queued.cnt, plain_duration(text[0], p50_ns),
		 plain_duration(text[1], histogram_quantile(&t->queued, 990)),
		 plain_duration(text[2], t->queued.max));
}

static int judge_compare(const void *left, const void *right, void *ctx)
{
	const struct finding *a = left, *b = right;
	const struct study *s = ctx;
	int order = (int)b->severity - (int)a->severity;

	if (order == 0)
		order = (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
	if (order == 0)
		order = (a->cnt < b->cnt) - (a->cnt > b->cnt);
	if (order == 0)
		order = strcmp(a->kind, b->kind);
	if (order == 0 && a->type != TASK_TYPE_NONE && b->type != TASK_TYPE_NONE)
		order = labels_compare(s->report->labels,
				       typetable_row(s->report->account.types, a->type)->label,
				       typetable_row(s->report->account.types, b->type)->label);
	return order ? order : strcmp(a->place, b->place);
}

int judge(struct study *s, struct findings *ret)
{
	const struct pains *p = s->own;
	const struct typetable *types = s->report->account.types;
	const struct pain_poll driver = { .wakes = (uint32_t)p->driver_worst,
					  .start_ns = p->driver_worst_ns,
					  .ns = PAINS_STORM_NS };

	ret->at = calloc(FINDINGS_MAX, sizeof(*ret->at));
	if (!ret->at)
		return -ENOMEM;
	judge_cpu(ret, p);
	judge_queue(ret, p);
	judge_workers(s, ret);
	judge_storm(ret, TASK_TYPE_NONE, p->driver_storms, p->driver_storm_wakes, &driver, p);
	for (uint32_t i = 0; i < p->calls_cnt; i++)
		judge_call(s, ret, &p->calls[i]);
	for (uint32_t i = 0; i < typetable_cnt(types); i++) {
		if (filter_type(&s->filter, types, s->report->labels, i))
			judge_pool(ret, i, typetable_row(types, i));
		if (i >= p->types_cnt)
			continue;
		judge_long(s, ret, i, &p->types[i]);
		judge_storm(ret, i, p->types[i].storm_cnt, p->types[i].storm_wakes,
			    &p->types[i].storm, p);
		judge_late(ret, i, &p->types[i]);
		judge_leak(ret, i, &p->types[i], p->curve_cnt);
	}
	explain(ret);
	qsort_r(ret->at, ret->cnt, sizeof(*ret->at), judge_compare, s);
	return 0;
}

void findings_done(struct findings *f)
{
	free(f->at);
	f->at = NULL;
}
