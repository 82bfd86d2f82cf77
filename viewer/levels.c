// SPDX-License-Identifier: Apache-2.0
/* levels.c - one pass over the records, one over the segments. */
#include "levels.h"

#include "core/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool levels_is(const struct columns *c, uint32_t text, const char *want)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	return len == strlen(want) && memcmp(p, want, len) == 0;
}

/* What is the same in both continues. */
static bool levels_same(const struct levels *l, const struct levels_span *a,
			const struct levels_span *b)
{
	uint32_t cnt = a->dropped_to - a->dropped_from;

	return a->to_ns == b->from_ns && a->level == b->level && a->ends == b->ends &&
	       a->reason == b->reason && cnt == b->dropped_to - b->dropped_from &&
	       memcmp(l->dropped + a->dropped_from, l->dropped + b->dropped_from,
		      cnt * sizeof(*l->dropped)) == 0;
}

/* The last span ends; if it only repeats the one before, it becomes part of it. */
static void levels_end(struct levels *l, uint64_t to_ns)
{
	struct levels_span *own = l->spans_cnt ? &l->spans[l->spans_cnt - 1] : NULL;
	bool is_long;

	if (!own)
		return;
	own->to_ns = to_ns > own->from_ns ? to_ns : own->from_ns;
	is_long = own->to_ns > own->from_ns;
	if (is_long && (l->spans_cnt == 1 || !levels_same(l, own - 1, own)))
		return;
	if (is_long)
		own[-1].to_ns = own->to_ns;
	l->dropped_cnt = own->dropped_from;
	l->spans_cnt--;
}

static void levels_begin(const struct columns *c, struct levels *l, struct levels_span s)
{
	bool is_polls = levels_is(c, s.level, "polls"), is_wakes = levels_is(c, s.level, "wakes"),
	     is_full = levels_is(c, s.level, "full");

	levels_end(l, s.from_ns);
	if (l->spans_cnt == LEVELS_MAX) {
		l->over_cap++;
		return;
	}
	s.has_polls = (is_polls || is_wakes || is_full) && !levels_is(c, s.ends, "none");
	s.has_wakes = is_wakes || is_full;
	s.dropped_from = s.dropped_to = l->dropped_cnt;
	l->spans[l->spans_cnt++] = s;
}

static void levels_drop(struct levels *l, uint32_t type)
{
	if (!l->spans_cnt)
		return;
	if (l->dropped_cnt == LEVELS_DROPPED_MAX) {
		l->over_cap++;
		return;
	}
	l->dropped[l->dropped_cnt++] = type;
	l->spans[l->spans_cnt - 1].dropped_to = l->dropped_cnt;
}

static void levels_take(const struct columns *c, uint32_t record, struct levels *l)
{
	struct levels_span s = { .from_ns = c->records.ts_ns[record] };
	uint64_t last_ns = c->odd.last_ns + 1;
	struct columns_iter it = { 0 };
	struct columns_value v;
	uint32_t types = 0;

	while (columns_record_next(c, record, &it, &v)) {
		if (levels_is(c, v.name, "level"))
			s.level = (uint32_t)v.u;
		else if (levels_is(c, v.name, "ends"))
			s.ends = (uint32_t)v.u;
		else if (levels_is(c, v.name, "reason"))
			s.reason = (uint32_t)v.u;
		else if (levels_is(c, v.name, "types"))
			types = (uint32_t)v.u;
	}
	s.from_ns = s.from_ns < c->odd.first_ns ? c->odd.first_ns : s.from_ns;
	s.from_ns = s.from_ns < last_ns ? s.from_ns : last_ns;
	if (levels_is(c, types, ""))
		levels_begin(c, l, s);
	else
		levels_drop(l, types);
}

static void levels_lose(const struct columns *c, uint32_t record, struct levels *l)
{
	struct levels_loss x = { .from_ns = c->records.ts_ns[record],
				 .to_ns = c->records.ts_ns[record] };
	struct columns_iter it = { 0 };
	struct columns_value v;

	while (columns_record_next(c, record, &it, &v)) {
		if (levels_is(c, v.name, "kind"))
			x.kind = (uint32_t)v.u;
		else if (levels_is(c, v.name, "cause"))
			x.cause = (uint32_t)v.u;
		else if (levels_is(c, v.name, "count"))
			x.cnt = v.u;
		else if (levels_is(c, v.name, "from_ns") && v.u < x.to_ns)
			x.from_ns = v.u;
	}
	if (x.from_ns < c->odd.first_ns)
		x.from_ns = c->odd.first_ns;
	if (l->losses_cnt == LEVELS_MAX)
		l->over_cap++;
	else
		l->losses[l->losses_cnt++] = x;
}

/* N of "PREFIX.N.bin[.zst]"; false: named otherwise. */
static bool levels_number(const struct columns *c, uint32_t text, uint64_t *ret)
{
	size_t len, at = 0;
	const char *p = columns_text(c, text, &len);

	for (size_t i = 0; i + 4 <= len && !at; i++)
		if (memcmp(p + i, ".bin", 4) == 0)
			at = i;
	*ret = 0;
	for (uint64_t place = 1; at > 0 && p[at - 1] >= '0' && p[at - 1] <= '9'; place *= 10) {
		if (place > UINT64_MAX / 100)
			return false;
		*ret += place * (uint64_t)(p[--at] - '0');
	}
	return at > 0 && p[at - 1] == '.' && at + 4 < len;
}

/* The longest time between two stamps within (from, to), the ends included. */
static void levels_silence(const struct columns *c, uint64_t from_ns, uint64_t to_ns,
			   struct levels_hole *ret)
{
	uint32_t i = columns_seek(c->records.ts_ns, 0, c->records.cnt, from_ns);
	uint64_t last_ns = from_ns;

	ret->from_ns = ret->to_ns = from_ns;
	for (; last_ns < to_ns; i++) {
		uint64_t ns = i < c->records.cnt && c->records.ts_ns[i] < to_ns
				      ? c->records.ts_ns[i]
				      : to_ns;

		if (ns - last_ns > ret->to_ns - ret->from_ns) {
			ret->from_ns = last_ns;
			ret->to_ns = ns;
		}
		last_ns = ns;
	}
}

static void levels_holes(const struct columns *c, bool tells_itself, struct levels *l)
{
	uint64_t a, b;

	for (uint32_t i = 1; i < c->segments.cnt; i++) {
		struct levels_hole x = { c->segments.last_ns[i - 1], c->segments.first_ns[i], i - 1,
					 i, false };

		if (x.to_ns <= x.from_ns || !x.from_ns)
			continue;
		x.is_missing = levels_number(c, c->segments.name[i - 1], &a) &&
			       levels_number(c, c->segments.name[i], &b) && b > a + 1;
		if (!x.is_missing) {
			levels_silence(c, x.from_ns, x.to_ns, &x);
			if (!tells_itself || x.to_ns - x.from_ns < LEVELS_SILENT_NS)
				continue;
		}
		if (l->holes_cnt == LEVELS_MAX)
			l->over_cap++;
		else
			l->holes[l->holes_cnt++] = x;
	}
}

enum levels_kind { LEVELS_OTHER, LEVELS_LEVEL, LEVELS_LOSS };

static void levels_read(const struct columns *c, const uint8_t *kinds, struct levels *l)
{
	for (uint32_t i = 0; i < c->records.cnt; i++) {
		if (kinds[c->records.schema[i]] == LEVELS_LEVEL)
			levels_take(c, i, l);
		else if (kinds[c->records.schema[i]] == LEVELS_LOSS)
			levels_lose(c, i, l);
	}
	levels_end(l, c->odd.last_ns + 1);
}

int levels_of(const struct columns *c, struct levels *ret)
{
	uint8_t *kinds = calloc(c->schemas.cnt + 1, 1);
	bool tells_itself = false;

	*ret = (struct levels){ .spans = calloc(LEVELS_MAX, sizeof(*ret->spans)),
				.losses = calloc(LEVELS_MAX, sizeof(*ret->losses)),
				.holes = calloc(LEVELS_MAX, sizeof(*ret->holes)),
				.dropped = calloc(LEVELS_DROPPED_MAX, sizeof(*ret->dropped)) };
	if (!kinds || !ret->spans || !ret->losses || !ret->holes || !ret->dropped) {
		free(kinds);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < c->schemas.cnt; i++) {
		kinds[i] = levels_is(c, c->schemas.name[i], "agent:Level")  ? LEVELS_LEVEL
			   : levels_is(c, c->schemas.name[i], "agent:Loss") ? LEVELS_LOSS
									    : LEVELS_OTHER;
		tells_itself |= levels_is(c, c->schemas.name[i], "agent:Self");
	}
	levels_read(c, kinds, ret);
	levels_holes(c, tells_itself, ret);
	free(kinds);
	return 0;
}

void levels_done(struct levels *l)
{
	free(l->spans);
	free(l->losses);
	free(l->holes);
	free(l->dropped);
	*l = (struct levels){ 0 };
}
