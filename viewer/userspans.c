// SPDX-License-Identifier: Apache-2.0
/* userspans.c - records joined by id, then sorted by name and length. */
#include "userspans.h"

#include "core/columns.h"
#include "crews.h"
#include "placetable.h"
#include "scope.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum userspans_kind { USERSPANS_OTHER, USERSPANS_ENTER, USERSPANS_EXIT, USERSPANS_CLOSE };

struct userspans_open {
	uint64_t id;
	bool is_entered; /* and not left since */
	uint64_t entered_ns, first_ns, last_ns; /* last_ns 0: no whole stay yet */
	uint32_t name, lane;
	UT_hash_handle hh;
};

struct userspans_one { /* a whole span */
	uint64_t start_ns, ns;
	uint32_t name, lane;
};

struct userspans_work {
	const struct columns *c;
	const struct scope *scope;
	struct userspans_open *open; /* hash by id */
	struct userspans_one *at;
	uint32_t cnt, cap;
	uint64_t over_cap;
};

static enum userspans_kind userspans_kind_of(const char *p, size_t len)
{
	static const struct {
		const char *stem;
		enum userspans_kind kind;
	} stems[] = { { "SpanEnter", USERSPANS_ENTER },
		      { "SpanExit", USERSPANS_EXIT },
		      { "SpanClose", USERSPANS_CLOSE } };

	for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++) {
		size_t stem = strlen(stems[i].stem);

		if (len <= stem || memcmp(p, stems[i].stem, stem) != 0)
			continue;
		if (p[stem] == ':' || (len > stem + 1 && memcmp(p + stem, "__", 2) == 0) ||
		    (len == stem + 5 && memcmp(p + stem, "Event", 5) == 0))
			return stems[i].kind;
	}
	return USERSPANS_OTHER;
}

struct userspans_fields {
	bool has_id, has_worker, has_task, has_tid;
	uint64_t id, worker, task, tid;
	uint32_t name;
};

static bool userspans_is(const char *p, size_t len, const char *want)
{
	return len == strlen(want) && memcmp(p, want, len) == 0;
}

static void userspans_read(const struct columns *c, uint32_t record, struct userspans_fields *ret)
{
	struct columns_iter it = { 0 };
	struct columns_value v;

	*ret = (struct userspans_fields){ 0 };
	while (columns_record_next(c, record, &it, &v)) {
		size_t len;
		const char *p = columns_text(c, v.name, &len);

		if (v.type == 0)
			continue; /* absent */
		if (userspans_is(p, len, "span_id") ||
		    (userspans_is(p, len, "span_instance_id") && !ret->has_id)) {
			ret->has_id = true;
			ret->id = v.u;
		} else if (userspans_is(p, len, "span_name")) {
			ret->name = (uint32_t)v.u;
		} else if (userspans_is(p, len, "worker_id")) {
			ret->has_worker = true;
			ret->worker = v.u;
		} else if (userspans_is(p, len, "dial9.tokio.task_id")) {
			ret->has_task = true;
			ret->task = v.u;
		} else if (userspans_is(p, len, "tid")) {
			ret->has_tid = true;
			ret->tid = v.u;
		}
	}
}

/* The lane on which a task was polled at ts_ns. */
static uint32_t userspans_task_lane(const struct columns *c, uint64_t id, uint64_t ts_ns)
{
	uint32_t task = columns_task(c, id), low, high, first;

	if (task == COLUMNS_NONE)
		return COLUMNS_NONE;
	first = low = c->tasks.polls_from[task];
	high = c->tasks.polls_to[task];
	while (low < high) { /* the first that starts behind it */
		uint32_t middle = low + (high - low) / 2;

		if (c->polls.start_ns[c->task_polls.poll[middle]] <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? c->polls.lane[c->task_polls.poll[low - 1]] : COLUMNS_NONE;
}

/* The worker's lane; by thread if only one worker ever parked on that. COLUMNS_NONE: not known. */
static uint32_t userspans_lane(const struct columns *c, const struct userspans_fields *f,
			       uint64_t ts_ns)
{
	uint32_t found = COLUMNS_NONE;

	if (f->has_worker)
		return f->worker < UINT32_MAX ? columns_worker(c, (uint32_t)f->worker)
					      : COLUMNS_NONE;
	if (f->has_task && f->task)
		return userspans_task_lane(c, f->task, ts_ns);
	for (uint32_t i = 0; f->has_tid && i < c->lanes.cnt; i++) {
		uint32_t park = c->lanes.parks_from[i];

		if (c->lanes.kind[i] != COLUMNS_WORKER || park == c->lanes.parks_to[i] ||
		    c->parks.tid[park] != f->tid)
			continue;
		if (found != COLUMNS_NONE)
			return COLUMNS_NONE;
		found = i;
	}
	return found;
}

static int userspans_keep(struct userspans_work *w, const struct userspans_open *o)
{
	struct userspans_one *grown;
	uint32_t cap = w->cap ? 2 * w->cap : 1024;

	if (!o->last_ns || !scope_time(w->scope, o->first_ns) || !scope_lane(w->scope, o->lane))
		return 0;
	if (w->cnt == USERSPANS_MAX) {
		w->over_cap++;
		return 0;
	}
	if (w->cnt == w->cap) {
		grown = realloc(w->at, cap * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		w->at = grown;
		w->cap = cap;
	}
	w->at[w->cnt++] =
		(struct userspans_one){ o->first_ns, o->last_ns - o->first_ns, o->name, o->lane };
	return 0;
}

static int userspans_enter(struct userspans_work *w, const struct userspans_fields *f,
			   uint64_t ts_ns)
{
	struct userspans_open *o;

	HASH_FIND(hh, w->open, &f->id, sizeof(f->id), o);
	if (!o) {
		if (HASH_COUNT(w->open) >= USERSPANS_MAX) {
			w->over_cap++;
			return 0;
		}
		o = calloc(1, sizeof(*o));
		if (!o)
			return -ENOMEM;
		o->id = f->id;
		o->name = f->name;
		o->lane = userspans_lane(w->c, f, ts_ns);
		o->first_ns = ts_ns;
		HASH_ADD(hh, w->open, id, sizeof(o->id), o);
	}
	if (!o->is_entered) {
		o->is_entered = true;
		o->entered_ns = ts_ns;
	}
	return 0;
}

static int userspans_record(struct userspans_work *w, enum userspans_kind kind, uint32_t record)
{
	uint64_t ts_ns = w->c->records.ts_ns[record];
	struct userspans_fields f;
	struct userspans_open *o;
	int err = 0;

	userspans_read(w->c, record, &f);
	if (!f.has_id)
		return 0;
	if (kind == USERSPANS_ENTER)
		return userspans_enter(w, &f, ts_ns);
	HASH_FIND(hh, w->open, &f.id, sizeof(f.id), o);
	if (o && kind == USERSPANS_EXIT && o->is_entered) {
		o->is_entered = false;
		if (!o->last_ns)
			o->first_ns = o->entered_ns;
		o->last_ns = ts_ns;
	} else if (o && kind == USERSPANS_CLOSE) {
		err = userspans_keep(w, o);
		HASH_DEL(w->open, o);
		free(o);
	}
	return err;
}

static int userspans_compare(const void *left, const void *right)
{
	const struct userspans_one *a = left, *b = right;
	int order = (a->name > b->name) - (a->name < b->name);

	if (order == 0)
		order = (a->ns > b->ns) - (a->ns < b->ns);
	return order ? order : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int userspans_compare_names(const void *left, const void *right)
{
	const struct userspans_name *a = left, *b = right;
	int order = (a->sum_ns < b->sum_ns) - (a->sum_ns > b->sum_ns);

	return order ? order : (a->name > b->name) - (a->name < b->name);
}

/* All spans of a name lie together, shortest first. */
static int userspans_names(const struct userspans_work *w, struct userspans *ret)
{
	struct placetable t = { .row_sz = sizeof(struct userspans_name) };

	for (uint32_t from = 0, to; from < w->cnt; from = to) {
		struct userspans_name *n = placetable_row(&t, w->at[from].name);

		if (!n)
			break;
		for (to = from; to < w->cnt && w->at[to].name == w->at[from].name; to++) {
			n->cnt++;
			n->sum_ns += w->at[to].ns;
			n->max_ns = w->at[to].ns;
		}
		n->p50_ns = w->at[from + n->cnt / 2].ns;
		n->p90_ns = w->at[from + n->cnt * 9 / 10].ns;
		n->p99_ns = w->at[from + n->cnt * 99 / 100].ns;
		for (uint32_t i = from; n->cnt >= USERSPANS_OUTLIER_OF && i < to; i++)
			n->outliers += w->at[i].ns / USERSPANS_OUTLIER > n->p50_ns;
	}
	ret->at = t.rows;
	ret->cnt = t.cnt;
	placetable_done(&t, false);
	if (ret->cnt)
		qsort(ret->at, ret->cnt, sizeof(*ret->at), userspans_compare_names);
	return w->cnt && !ret->cnt ? -ENOMEM : 0;
}

static int userspans_polls(const struct userspans_work *w, struct userspans *ret)
{
	const struct columns *c = w->c;
	uint32_t *in = calloc(c->polls.cnt + 1ull, sizeof(*in)), poll;

	if (!in)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->cnt; i++) {
		const struct userspans_one *o = &w->at[i];

		if (o->lane == COLUMNS_NONE)
			continue;
		ret->located++;
		poll = columns_poll_at(c, o->lane, o->start_ns);
		if (poll != COLUMNS_NONE && o->start_ns + o->ns <= crews_poll_end(c, poll))
			in[poll]++;
	}
	for (uint32_t i = 0; i < c->polls.cnt; i++) {
		ret->crowded_polls += in[i] > USERSPANS_MANY;
		if (in[i] > ret->most) {
			ret->most = in[i];
			ret->most_poll = i;
		}
	}
	free(in);
	return 0;
}

int userspans_of(const struct columns *c, const struct scope *s, struct userspans *ret)
{
	struct userspans_work w = { .c = c, .scope = s };
	uint8_t *kinds = calloc(c->schemas.cnt + 1u, 1);
	struct userspans_open *o, *next;
	int err = kinds ? 0 : -ENOMEM;
	size_t len;
	const char *p;

	*ret = (struct userspans){ .most_poll = COLUMNS_NONE };
	for (uint32_t i = 0; err == 0 && i < c->schemas.cnt; i++) {
		p = columns_text(c, c->schemas.name[i], &len);
		kinds[i] = (uint8_t)userspans_kind_of(p, len);
	}
	for (uint32_t i = 0; err == 0 && i < c->records.cnt; i++)
		if (kinds[c->records.schema[i]] != USERSPANS_OTHER)
			err = userspans_record(&w, kinds[c->records.schema[i]], i);
	HASH_ITER(hh, w.open, o, next)
	{
		ret->unmatched += o->is_entered && scope_time(s, o->entered_ns);
		if (err == 0)
			err = userspans_keep(&w, o);
		HASH_DEL(w.open, o);
		free(o);
	}
	ret->spans = w.cnt;
	ret->over_cap = w.over_cap;
	if (w.cnt)
		qsort(w.at, w.cnt, sizeof(*w.at), userspans_compare);
	if (err == 0)
		err = userspans_names(&w, ret);
	if (err == 0)
		err = userspans_polls(&w, ret);
	free(w.at);
	free(kinds);
	return err;
}

void userspans_done(struct userspans *x)
{
	free(x->at);
	*x = (struct userspans){ 0 };
}
