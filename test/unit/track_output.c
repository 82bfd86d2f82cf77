// SPDX-License-Identifier: Apache-2.0
/* track_output.c - what the stages of a fixture have written, decoded. */
#include "test/unit/track_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/trace.h"

static void copy_field(struct fx_event *to, int field, const struct d9_value *v)
{
	if (!v)
		return;
	to->has[field] = true;
	switch (v->type) {
	case D9_T_PSTRING:
	case D9_T_STRING:
		snprintf(to->str[field], sizeof(to->str[0]), "%.*s", (int)v->cnt,
			 v->str ? v->str : "<unresolved>");
		break;
	case D9_T_PSTACK:
		assert_true(v->frames || !v->cnt);
		snprintf(to->str[field], sizeof(to->str[0]), "%u:%llx", v->cnt,
			 v->cnt ? (unsigned long long)v->frames[0] : 0ull);
		to->u[field] = v->cnt;
		break;
	case D9_T_MAP:
		to->u[field] = v->cnt;
		break;
	default:
		assert_true(d9_value_u64(v, &to->u[field]));
		break;
	}
}

void fx_decode(struct fixture *self)
{
	struct d9_dec *dec = NULL;
	struct d9_ev ev;
	int rc;

	emit_flush(self->emit);
	self->events_cnt = 0;
	assert_int_equal(d9_dec_new(&dec, NULL), 0);
	assert_int_equal(d9_dec_feed(dec, self->bytes, self->sz), 0);
	while ((rc = d9_dec_next(dec, &ev)) == 1) {
		struct fx_event *to = &self->events[self->events_cnt++];
		const struct d9_event_def *def = d9_event_def(ev.schema->kind);

		assert_true(self->events_cnt < FX_EVENTS_MAX);
		assert_non_null(def);
		*to = (struct fx_event){ .kind = ev.schema->kind,
					 .ts_ns = ev.ts_ns,
					 .batch = ev.batch };
		for (int f = 0; f < def->field_cnt; f++)
			copy_field(to, f, d9_val(&ev, f));
	}
	assert_int_equal(rc, 0);
	assert_int_equal(d9_dec_end(dec), 0);
	assert_int_equal(d9_dec_stats(dec)->unresolved, 0);
	d9_dec_free(dec);
}

const struct fx_event *fx_nth(const struct fixture *self, enum d9_event kind, size_t n)
{
	for (size_t i = 0; i < self->events_cnt; i++)
		if (self->events[i].kind == kind && !n--)
			return &self->events[i];
	return NULL;
}

size_t fx_cnt(const struct fixture *self, enum d9_event kind)
{
	size_t cnt = 0;

	for (size_t i = 0; i < self->events_cnt; i++)
		cnt += self->events[i].kind == kind;
	return cnt;
}

size_t fx_check_alternation(const struct fixture *self)
{
	bool *is_open = calloc(EMIT_WORKERS_MAX, sizeof(*is_open));
	size_t open_cnt = 0;

	assert_non_null(is_open);
	for (size_t i = 0; i < self->events_cnt; i++) {
		const struct fx_event *e = &self->events[i];
		bool is_start = e->kind == D9_EV_POLL_START;

		if (!is_start && e->kind != D9_EV_POLL_END)
			continue;
		assert_true(e->u[0] < EMIT_WORKERS_MAX && e->u[0] != 254 && e->u[0] != 255);
		assert_int_equal(is_open[e->u[0]], !is_start);
		is_open[e->u[0]] = is_start;
		open_cnt += is_start ? 1 : (size_t)-1;
	}
	free(is_open);
	return open_cnt;
}

void fx_check_counts(const struct fixture *self)
{
	struct track_stats ts;
	struct emit_stats es;
	uint64_t ignored = 0;

	track_stats(self->track, &ts);
	emit_stats(self->emit, &es);
	for (size_t i = 0; i < sizeof(ts.ignored_by) / sizeof(ts.ignored_by[0]); i++)
		ignored += ts.ignored_by[i];
	assert_int_equal(ts.used_records + ts.ignored_records, self->records);
	assert_int_equal(ignored, ts.ignored_records);
	for (int k = 0; k < D9_EV_CNT; k++)
		assert_int_equal(es.events[k], fx_cnt(self, (enum d9_event)k));
	assert_int_equal(ts.polls, es.events[D9_EV_POLL_START] + es.lost[D9_EV_POLL_START]);
	assert_int_equal(ts.wakes, es.events[D9_EV_WAKE] + es.lost[D9_EV_WAKE]);
	assert_int_equal(ts.spawns, es.events[D9_EV_TASK_SPAWN] + es.lost[D9_EV_TASK_SPAWN]);
}
