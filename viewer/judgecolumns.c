// SPDX-License-Identifier: Apache-2.0
/* judgecolumns.c - thresholds as ANALYSES.md has them. */
#include "judgecolumns.h"

#include "command.h"
#include "core/columns.h"
#include "core/index.h"
#include "core/tables.h"
#include "findings.h"
#include "indexed.h"
#include "inquiry.h"
#include "labels.h"
#include "plain.h"
#include "placetable.h"
#include "report.h"
#include "schedule.h"
#include "scope.h"
#include "study.h"
#include "tasktable.h"
#include "typetable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MS 1000000ull
#define JUDGECOLUMNS_MANY 10u /* waits, stalls: a warning from here on */
#define JUDGECOLUMNS_BLACKOUT_NS (50 * MS)
#define JUDGECOLUMNS_WAKES 1000u
#define JUDGECOLUMNS_SWITCHES 5u /* dial9: more are blocking calls */

/* The report's row of a type that the columns call by a text. */
static uint32_t judgecolumns_type(struct study *s, const struct columns *c, uint32_t place)
{
	size_t len;
	const char *text = columns_text(c, place, &len);

	if (len == 0)
		return TASK_TYPE_NONE;
	return typetable_find(s->report->account.types, labels_put(s->report->labels, text, len));
}

/* The evidence is this poll, or what lies between from and its start. */
static void judgecolumns_poll(struct finding *at, const struct columns *c, uint32_t poll,
			      uint64_t from_ns, uint64_t to_ns)
{
	char handle[INQUIRY_HANDLE_SZ];

	at->has_span = true;
	at->from_ns = from_ns;
	at->to_ns = to_ns;
	at->has_worker = c->lanes.kind[c->polls.lane[poll]] == COLUMNS_WORKER;
	at->worker = c->lanes.id[c->polls.lane[poll]];
	if (c->polls.task[poll] == COLUMNS_NONE)
		return;
	at->has_task = true;
	at->task = c->tasks.id[c->polls.task[poll]];
	inquiry_handle(handle, c, poll);
	if (sscanf(handle, "p:%*u.%" SCNu32, &at->nr) != 1)
		at->nr = 0;
}

static enum severity judgecolumns_severity(uint64_t cnt)
{
	return cnt >= JUDGECOLUMNS_MANY ? SEVERITY_WARNING : SEVERITY_INFO;
}

static void judgecolumns_starve(struct study *s, struct findings *f, const struct columns *c,
				const struct starve *st, uint32_t workers)
{
	const struct starve_sum *sum = &st->starved;
	char worst[PLAIN_SZ];
	struct finding *at;

	if (sum->cnt) {
		at = findings_add(f, "starvation", judgecolumns_severity(sum->cnt),
				  judgecolumns_type(s, c, c->polls.place[sum->worst]));
		at->cnt = sum->cnt;
		at->worst_ns = sum->worst_ns;
		at->total_ns = sum->ns;
		at->next = "a worker slept while work was there: sched, and waits --explain";
		judgecolumns_poll(at, c, sum->worst, c->polls.ready_ns[sum->worst],
				  c->polls.start_ns[sum->worst]);
		snprintf(at->text, sizeof(at->text),
			 "%" PRIu64 " tasks were ready for 5 ms and more while another worker "
			 "slept, worst %s, when %" PRIu32 " of %" PRIu32 " others did",
			 sum->cnt, plain_duration(worst, sum->worst_ns), sum->peers, workers - 1);
	}
	sum = &st->stuck;
	if (sum->cnt) {
		at = findings_add(f, "stuck-queue", judgecolumns_severity(sum->cnt),
				  judgecolumns_type(s, c, c->polls.place[sum->worst]));
		at->cnt = sum->cnt;
		at->worst_ns = sum->worst_ns;
		at->total_ns = sum->ns;
		at->next = "this poll holds up its worker's queue: polls --longest, blame";
		judgecolumns_poll(at, c, sum->worst, c->polls.start_ns[sum->worst],
				  crews_poll_end(c, sum->worst));
		snprintf(at->text, sizeof(at->text),
			 "%" PRIu64 " polls of 5 ms and more began before a queue that nobody "
			 "took over, though another worker slept; worst %s",
			 sum->cnt, plain_duration(worst, sum->worst_ns));
	}
}

static void judgecolumns_avail(struct findings *f, const struct columns *c, const struct avail *a,
			       const struct crew *crew)
{
	char longest[PLAIN_SZ], all[PLAIN_SZ];
	struct finding *at;

	if (crew->cnt < 2 || a->longest_ns < JUDGECOLUMNS_BLACKOUT_NS)
		return; /* of a single worker the long poll itself tells it */
	at = findings_add(f, "no-free-worker", SEVERITY_WARNING, TASK_TYPE_NONE);
	at->cnt = a->blackouts;
	at->worst_ns = a->longest_ns;
	at->total_ns = a->blackout_ns;
	at->has_worker = true;
	at->worker = c->lanes.id[crew->lanes[0]];
	at->has_span = true;
	at->from_ns = a->longest_at_ns;
	at->to_ns = a->longest_at_ns + a->longest_ns;
	at->next = "all workers polled at once: polls --from --to, sched";
	snprintf(at->text, sizeof(at->text),
		 "no worker of %" PRIu32 " was free, %s at longest, %s in all", crew->cnt,
		 plain_duration(longest, a->longest_ns), plain_duration(all, a->blackout_ns));
}

static void judgecolumns_lifo(struct study *s, struct findings *f, const struct columns *c,
			      const struct lifo *l)
{
	char worst[PLAIN_SZ];
	struct finding *at;

	for (uint32_t i = 0; i < l->cnt; i++) {
		const struct lifo_type *t = &l->at[i];

		at = findings_add(f, "lifo-stall", judgecolumns_severity(t->cnt),
				  judgecolumns_type(s, c, t->place));
		at->cnt = t->cnt;
		at->worst_ns = t->worst_ns;
		at->total_ns = t->ns;
		at->next = "end the poll that wakes it, or yield, soon after the wake";
		judgecolumns_poll(at, c, t->worst, c->polls.ready_ns[t->worst],
				  c->polls.start_ns[t->worst]);
		snprintf(at->text, sizeof(at->text),
			 "%" PRIu64 " times it stood for 1 ms and more behind the poll that woke "
			 "it, where no sleeping worker could take it, worst %s",
			 t->cnt, plain_duration(worst, t->worst_ns));
	}
}

static void judgecolumns_wakes(struct study *s, struct findings *f, const struct columns *c,
			       const struct wakeups *w)
{
	char share[PLAIN_SZ];
	struct finding *at;

	for (uint32_t i = 0; i < w->cnt; i++) {
		const struct wakeups_type *t = &w->at[i];

		if (t->wakes < JUDGECOLUMNS_WAKES || t->self <= t->wakes / 2)
			continue;
		at = findings_add(f, "self-wakes", SEVERITY_INFO,
				  judgecolumns_type(s, c, t->place));
		at->cnt = t->self;
		at->next = "it asks to be polled again at once: does it wait for anything?";
		snprintf(at->text, sizeof(at->text),
			 "%" PRIu64 " of its wakes (%s) were by itself, inside its own poll",
			 t->self, plain_share(share, t->self, t->wakes));
	}
}

/* dial9's three flags on spans. */
static void judgecolumns_spans(struct findings *f, const struct columns *c,
			       const struct userspans *x)
{
	struct finding *at;

	if (x->crowded_polls) {
		at = findings_add(f, "many-spans", SEVERITY_WARNING, TASK_TYPE_NONE);
		at->cnt = x->crowded_polls;
		at->next = "spans cost time too: fewer in inner loops";
		judgecolumns_poll(at, c, x->most_poll, c->polls.start_ns[x->most_poll],
				  crews_poll_end(c, x->most_poll));
		snprintf(at->text, sizeof(at->text),
			 "%" PRIu64 " polls with more than %u spans, most %" PRIu32,
			 x->crowded_polls, USERSPANS_MANY, x->most);
	}
	for (uint32_t i = 0; i < x->cnt; i++) {
		const struct userspans_name *n = &x->at[i];
		char p50[PLAIN_SZ], max[PLAIN_SZ];
		size_t len;
		const char *name = columns_text(c, n->name, &len);

		if (n->outliers == 0)
			continue;
		at = findings_add(f, "span-outliers", SEVERITY_INFO, TASK_TYPE_NONE);
		at->cnt = n->outliers;
		at->worst_ns = n->max_ns;
		at->total_ns = n->sum_ns;
		at->next = "see sched for spans by name";
		snprintf(at->place, sizeof(at->place), "%.*s", (int)(len < 300 ? len : 300), name);
		snprintf(at->text, sizeof(at->text),
			 "%" PRIu64 " spans over 10 times their median of %s, worst %s",
			 n->outliers, plain_duration(p50, n->p50_ns),
			 plain_duration(max, n->max_ns));
	}
	if (x->unmatched) {
		at = findings_add(f, "unmatched-spans", SEVERITY_INFO, TASK_TYPE_NONE);
		at->cnt = x->unmatched;
		at->next = "they end after the recording, or their exit was lost";
		snprintf(at->text, sizeof(at->text), "%" PRIu64 " spans were entered and not left",
			 x->unmatched);
	}
}

struct judgecolumns_row {
	uint32_t place; /* text */
	uint64_t cnt;
	uint32_t worst; /* row of polls: the last that was hit */
};

/* dial9's blocking calls: samples at a switch out, of those inside polls. Where times off CPU are
 * recorded these tell more. */
static int judgecolumns_switches(struct study *s, struct findings *f, const struct columns *c,
				 const struct scope *scope)
{
	struct placetable t = { .row_sz = sizeof(struct judgecolumns_row) };
	struct judgecolumns_row *row;
	struct finding *at;
	int err = 0;

	for (uint32_t i = 0; err == 0 && !s->report->has_off && i < c->samples.cnt; i++) {
		uint32_t poll = c->samples.poll[i];

		if (c->samples.source[i] != 1 || poll == COLUMNS_NONE ||
		    !scope_row(scope, TABLES_samples, i))
			continue;
		row = placetable_row(&t, c->polls.place[poll]);
		if (row) {
			row->cnt++;
			row->worst = poll;
		} else {
			err = -ENOMEM;
		}
	}
	row = t.rows;
	for (uint32_t i = 0; err == 0 && i < t.cnt; i++) {
		if (row[i].cnt <= JUDGECOLUMNS_SWITCHES)
			continue;
		at = findings_add(f, "blocking-in-poll", SEVERITY_WARNING,
				  judgecolumns_type(s, c, row[i].place));
		at->cnt = row[i].cnt;
		at->next = "use the async form of this call, or spawn_blocking: flame";
		judgecolumns_poll(at, c, row[i].worst, c->polls.start_ns[row[i].worst],
				  crews_poll_end(c, row[i].worst));
		snprintf(at->text, sizeof(at->text),
			 "%" PRIu64 " samples of a switch out inside its polls; how long each was "
			 "off CPU is unknown",
			 row[i].cnt);
	}
	placetable_done(&t, true);
	return err;
}

int judgecolumns(struct study *s, struct findings *f)
{
	struct schedule *x = calloc(1, sizeof(*x));
	struct columns *c = NULL;
	struct scope scope = { 0 };
	int err = x ? indexed_again(s->report->recording, &c) : -ENOMEM;

	if (err == 0)
		err = scope_init(&scope, c, s->req);
	if (err == 0)
		err = schedule_of(c, &scope, x);
	for (uint32_t i = 0; err == 0 && i < x->crews.cnt; i++) {
		if (!crews_pass(&x->crews, i, &scope))
			continue;
		judgecolumns_avail(f, c, &x->avail[i], &x->crews.at[i]);
		judgecolumns_starve(s, f, c, &x->starve[i], x->crews.at[i].cnt);
	}
	if (err == 0) {
		judgecolumns_lifo(s, f, c, &x->lifo);
		judgecolumns_wakes(s, f, c, &x->wakeups);
		judgecolumns_spans(f, c, &x->spans);
		err = judgecolumns_switches(s, f, c, &scope);
	}
	if (x)
		schedule_done(x);
	free(x);
	scope_done(&scope);
	index_close(c);
	return err;
}
