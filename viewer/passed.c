// SPDX-License-Identifier: Apache-2.0
/* passed.c - the account tells what comes; what passes is added up by type. */
#include "passed.h"

#include "report.h"
#include "watch.h"
#include "workertable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The row of a type; NULL: out of memory, kept in err. */
static struct type_row *passed_row(struct passed *p, uint32_t row)
{
	uint32_t cnt = row < 32 ? 64 : 2 * row;
	struct type_row *grown;

	if (row < p->types_cnt)
		return &p->types[row];
	grown = realloc(p->types, cnt * sizeof(*grown));
	if (!grown) {
		p->err = -ENOMEM;
		return NULL;
	}
	memset(grown + p->types_cnt, 0, (cnt - p->types_cnt) * sizeof(*grown));
	p->types = grown;
	p->types_cnt = cnt;
	return &p->types[row];
}

static bool passed_does(struct passed *p, uint32_t worker, uint64_t task, uint32_t type,
			uint64_t ts_ns)
{
	return filter_passes(&p->filter, p->report->account.types, p->report->labels, worker, task,
			     type, ts_ns);
}

static void passed_add(struct passed *p, struct histogram *h, uint64_t value)
{
	if (histogram_add(h, value) != 0)
		p->err = -ENOMEM;
}

static void passed_on_event(void *ctx, const struct d9_ev *ev)
{
	struct passed *p = ctx;

	filter_event(&p->filter, ev);
}

/* Polls are counted as they begin, nested ones whole: as the account does. */
static void passed_on_moment(void *ctx, const struct moment *m)
{
	struct passed *p = ctx;
	bool is_nested = m->kind == MOMENT_NESTED;
	struct type_row *row;
	uint64_t ns;
	uint32_t type;

	if (!p->has_base)
		filter_base(&p->filter, p->report->coverage.first_ns);
	p->has_base = true;
	if ((!is_nested && m->kind != MOMENT_POLL_START) || m->worker == MOMENT_NO_WORKER)
		return;
	type = typetable_find(p->report->account.types, m->label);
	if (!passed_does(p, m->worker, m->task, type, is_nested ? m->a : m->ts_ns))
		return;
	row = passed_row(p, type);
	if (!row)
		return;
	row->polls++;
	if (!is_nested)
		return;
	ns = m->ts_ns > m->a ? m->ts_ns - m->a : 0;
	row->busy_ns += ns;
	passed_add(p, &row->poll, ns);
}

static void passed_on_poll(void *ctx, uint32_t worker, const struct worker_poll *poll,
			   uint64_t end_ns)
{
	struct passed *p = ctx;
	uint64_t ns = end_ns > poll->start_ns ? end_ns - poll->start_ns : 0;
	struct type_row *row;

	if (!passed_does(p, worker, poll->task, poll->type, poll->start_ns))
		return;
	row = passed_row(p, poll->type);
	if (!row)
		return;
	row->busy_ns += ns > poll->nested_ns ? ns - poll->nested_ns : 0;
	passed_add(p, &row->poll, ns);
}

static void passed_on_wait(void *ctx, const struct watch_wait *w)
{
	struct passed *p = ctx;
	struct type_row *row;

	if (!passed_does(p, w->worker, w->task, w->type, w->to_ns))
		return;
	row = passed_row(p, w->type);
	if (row)
		passed_add(p, &row->wait, w->to_ns - w->from_ns);
}

/* How much of a recording the filters leave. */
static uint64_t passed_span(const struct filter *f, uint64_t from_ns, uint64_t to_ns)
{
	if (f->from_ns > from_ns)
		from_ns = f->from_ns;
	if (f->to_ns < to_ns)
		to_ns = f->to_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

int passed_read(struct passed *p, struct report *r, const struct request *req,
		struct progress *progress)
{
	const struct watch watch = { .ctx = p,
				     .poll = passed_on_poll,
				     .wait = passed_on_wait,
				     .moment = passed_on_moment,
				     .event = passed_on_event };
	int err;

	p->report = r;
	filter_init(&p->filter, req);
	err = report_read(r, filter_has_any(&p->filter) ? &watch : NULL, progress);
	p->span_ns = passed_span(&p->filter, r->coverage.first_ns, r->coverage.last_ns);
	return err ? err : p->err;
}

void passed_done(struct passed *p)
{
	for (uint32_t i = 0; i < p->types_cnt; i++) {
		histogram_done(&p->types[i].poll);
		histogram_done(&p->types[i].wait);
	}
	free(p->types);
}

const struct type_row *passed_type(struct passed *p, uint32_t row)
{
	if (row >= p->types_cnt || (p->types[row].polls == 0 && p->types[row].wait.cnt == 0))
		return NULL;
	p->types[row].label = typetable_row(p->report->account.types, row)->label;
	return &p->types[row];
}
