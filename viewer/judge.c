// SPDX-License-Identifier: Apache-2.0
/* judge.c - the thresholds of every finding, one function a kind; ANALYSES.md has the reasons. */
#include "judge.h"

#include "callplace.h"
#include "explain.h"
#include "findings.h"
#include "judgewide.h"
#include "labels.h"
#include "pains.h"
#include "plain.h"
#include "report.h"
#include "tasktable.h"
#include "typetable.h"

#include <inttypes.h>
#include <stdio.h>

#define MS 1000000ull

/* Where polls of the type were off CPU longest in all: in locks, or in other calls. NULL: nowhere. */
static const struct pain_call *judge_block(const struct pains *p, uint32_t row, bool is_lock)
{
	const struct pain_call *best = NULL;

	for (uint32_t i = 0; i < p->calls_cnt; i++) {
		const struct pain_call *c = &p->calls[i];

		if (c->type == row && (c->label == MOMENT_FUTEX) == is_lock &&
		    (!best || c->ns > best->ns))
			best = c;
	}
	return best;
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
	const struct pain_call *block;
	struct finding *at;

	if (t->long_cnt == 0)
		return;
	for (int i = 0; i < VERDICT_CNT; i++)
		if (t->verdicts[i] > t->verdicts[best])
			best = i;
	at = findings_add(f, "long-poll",
			  t->longest.ns >= 50 * MS ? SEVERITY_CRITICAL : SEVERITY_WARNING, row);
	at->cnt = t->long_cnt;
	at->worst_ns = t->longest.ns;
	at->total_ns = t->long_ns;
	at->next = next[best];
	if (best == VERDICT_PREEMPTED)
		at->explained = "cpu-starved";
	findings_poll(at, &t->longest);
	snprintf(at->text, sizeof(at->text),
		 "%" PRIu64 " polls of 10 ms and more, worst %s, %s in all: %s", t->long_cnt,
		 plain_duration(worst, t->longest.ns), plain_duration(sum, t->long_ns),
		 verdict_name(best));
	if (best != VERDICT_BLOCKING && best != VERDICT_LOCK)
		return;
	block = judge_block(s->own, row, best == VERDICT_LOCK);
	callplace_text(at->place, sizeof(at->place), s, block ? block->label : t->longest.off_worst,
		       block ? block->worst.off_stack : t->longest.off_stack);
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
	at = findings_add(f, "late-poll",
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
	at = findings_add(f, is_lock ? "lock-in-poll" : "blocking-in-poll",
			  c->ns >= s->report->span_ns / 10 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
			  c->type);
	at->cnt = c->cnt;
	at->worst_ns = c->worst.ns;
	at->total_ns = c->ns;
	at->next = is_lock ? "hold the lock for less, or use an async one"
			   : "use the async form of this call, or spawn_blocking";
	findings_poll(at, &c->worst);
	callplace_text(at->place, sizeof(at->place), s, c->label, c->worst.off_stack);
	snprintf(at->text, sizeof(at->text),
		 "off CPU for 1 ms and more %" PRIu64 " times inside polls, worst %s, %s in all",
		 c->cnt, plain_duration(worst, c->worst.ns), plain_duration(sum, c->ns));
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
	at = findings_add(f, "task-leak", SEVERITY_WARNING, row);
	at->cnt = last;
	at->next = "who should end or abort these tasks? report counts them by type";
	snprintf(at->text, sizeof(at->text),
		 "tasks of it alive: %" PRIu32 " after a quarter of the recording, %" PRIu32
		 " at its end, never fewer meanwhile",
		 first, last);
}

/* Ours: the pool's queue. */
static void judge_pool(struct findings *f, uint32_t row, const struct type_row *t)
{
	uint64_t p50_ns = histogram_quantile(&t->queued, 500);
	char text[3][PLAIN_SZ];
	struct finding *at;

	if (t->queued.cnt < 10 || histogram_quantile(&t->queued, 990) < 10 * MS)
		return;
	at = findings_add(f, "blocking-pool",
			  p50_ns >= 50 * MS ? SEVERITY_CRITICAL : SEVERITY_WARNING, row);
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

int judge(struct study *s, struct findings *ret)
{
	const struct pains *p = s->own;
	const struct typetable *types = s->report->account.types;
	int err = findings_init(ret);

	if (err)
		return err;
	judgewide(s, ret);
	for (uint32_t i = 0; i < p->calls_cnt; i++)
		judge_call(s, ret, &p->calls[i]);
	for (uint32_t i = 0; i < typetable_cnt(types); i++) {
		if (filter_type(&s->filter, types, s->report->labels, i))
			judge_pool(ret, i, typetable_row(types, i));
		if (i >= p->types_cnt)
			continue;
		judge_long(s, ret, i, &p->types[i]);
		judgewide_storm(s, ret, i);
		judge_late(ret, i, &p->types[i]);
		judge_leak(ret, i, &p->types[i], p->curve_cnt);
	}
	explain(ret);
	findings_sort(ret, s);
	return 0;
}
