// SPDX-License-Identifier: Apache-2.0
/* coverage.c - counts and intervals; all lists are short and searched from the front. */
#include "coverage.h"

#include "labels.h"

#include <string.h>

/* A copied segment: no time has two levels. */
static uint64_t coverage_from(const struct coverage *c, uint64_t since_ns)
{
	return since_ns < c->level_high_ns ? c->level_high_ns : since_ns;
}

static void coverage_end_types(struct coverage *c, uint64_t ts_ns)
{
	for (uint32_t i = 0; i < c->types_cnt; i++) {
		struct coverage_type *t = &c->types[i];

		if (t->since_ns && ts_ns > coverage_from(c, t->since_ns))
			t->ns += ts_ns - coverage_from(c, t->since_ns);
		t->since_ns = 0;
	}
}

static void coverage_end_level(struct coverage *c, uint64_t ts_ns)
{
	uint64_t from_ns = coverage_from(c, c->level_since_ns);

	coverage_end_types(c, ts_ns);
	if (c->level_now < c->levels_cnt && ts_ns > from_ns) {
		c->levels[c->level_now].ns += ts_ns - from_ns;
		c->level_high_ns = ts_ns;
	}
	c->level_now = c->levels_cnt;
	if (c->partial_since_ns && ts_ns > c->partial_since_ns)
		c->partial_ns += ts_ns - c->partial_since_ns;
	c->partial_since_ns = 0;
}

/* A type whose level is not that of the others, from now until the next level of all. */
static void coverage_type(struct coverage *c, const struct d9_ev *ev, uint32_t level)
{
	uint32_t type = labels_field(c->labels, ev, D9F_agent_level_types), at = 0;

	c->type_levels++;
	if (!c->partial_since_ns)
		c->partial_since_ns = ev->ts_ns;
	while (at < c->types_cnt && (c->types[at].type != type || c->types[at].level != level))
		at++;
	if (at == COVERAGE_TYPES_MAX)
		return;
	if (at == c->types_cnt)
		c->types[c->types_cnt++] = (struct coverage_type){ type, level, 0, 0 };
	if (!c->types[at].since_ns)
		c->types[at].since_ns = ev->ts_ns;
}

static void coverage_level(struct coverage *c, const struct d9_ev *ev)
{
	struct d9_str types = d9_value_str(d9_val(ev, D9F_agent_level_types));
	struct coverage_level l = { labels_field(c->labels, ev, D9F_agent_level_level),
				    labels_field(c->labels, ev, D9F_agent_level_ends), 0 };
	uint32_t at = 0;

	c->pid = (uint32_t)d9_u64(ev, D9F_agent_level_pid, c->pid);
	c->has_pid = c->has_pid || d9_val(ev, D9F_agent_level_pid);
	if (types.len > 0) {
		coverage_type(c, ev, l.level);
		return;
	}
	coverage_end_level(c, ev->ts_ns);
	while (at < c->levels_cnt &&
	       (c->levels[at].level != l.level || c->levels[at].ends != l.ends))
		at++;
	if (at == COVERAGE_LEVELS_MAX)
		at--;
	else if (at == c->levels_cnt)
		c->levels[c->levels_cnt++] = l;
	c->level_now = at;
	c->level_since_ns = ev->ts_ns;
}

static void coverage_loss(struct coverage *c, const struct d9_ev *ev)
{
	struct d9_str kind = d9_value_str(d9_val(ev, D9F_agent_loss_kind));
	struct coverage_loss l = { labels_field(c->labels, ev, D9F_agent_loss_kind),
				   labels_field(c->labels, ev, D9F_agent_loss_cause),
				   kind.p && d9_loss_is_flaw(kind.p, kind.len),
				   d9_u64(ev, D9F_agent_loss_count, 0),
				   d9_u64(ev, D9F_agent_loss_from_ns, ev->ts_ns),
				   ev->ts_ns,
				   0 };
	uint32_t at = 0;

	l.ns = l.to_ns > l.from_ns ? l.to_ns - l.from_ns : 0;

	while (at < c->losses_cnt &&
	       (c->losses[at].kind != l.kind || c->losses[at].cause != l.cause))
		at++;
	if (at == COVERAGE_LOSSES_MAX) {
		at--;
	} else if (at == c->losses_cnt) {
		c->losses[c->losses_cnt++] = l;
		return;
	}
	if (l.from_ns < c->losses[at].to_ns && l.to_ns > l.from_ns)
		l.ns = l.to_ns > c->losses[at].to_ns ? l.to_ns - c->losses[at].to_ns : 0;
	c->losses[at].ns += l.ns;
	c->losses[at].count += l.count;
	c->losses[at].is_flaw = c->losses[at].is_flaw && l.is_flaw; /* differs at the cap only */
	if (l.from_ns < c->losses[at].from_ns)
		c->losses[at].from_ns = l.from_ns;
	if (l.to_ns > c->losses[at].to_ns)
		c->losses[at].to_ns = l.to_ns;
}

static void coverage_metadata(struct coverage *c, const struct d9_ev *ev)
{
	const struct d9_value *map = d9_val(ev, D9F_segment_metadata_entries);
	struct d9_iter it = { 0 };
	struct d9_pair pair;
	uint32_t key, at;

	while (map && map->type == D9_T_MAP && d9_map_next(map, &it, &pair)) {
		key = labels_put(c->labels, pair.key.p, pair.key.len);
		for (at = 0; at < c->facts_cnt && c->facts[at].key != key;)
			at++;
		if (at == COVERAGE_FACTS_MAX) {
			c->facts_over_cap++;
			continue;
		}
		c->facts_cnt += at == c->facts_cnt;
		c->facts[at] = (struct coverage_fact){ key, labels_put(c->labels, pair.val.p,
								       pair.val.len) };
	}
}

/* Its counters run since the session began: only what they grew by is within what is kept. */
static void coverage_self(struct coverage *c, const struct d9_ev *ev)
{
	struct coverage_self now = { ev->ts_ns, d9_u64(ev, D9F_agent_self_cpu_ns, 0),
				     d9_u64(ev, D9F_agent_self_hits, 0),
				     d9_u64(ev, D9F_agent_self_target_cost_ns, 0) };

	c->has_self = true;
	c->self_rss_sz = d9_u64(ev, D9F_agent_self_rss_bytes, 0);
	if (c->self.ts_ns && now.ts_ns > c->self.ts_ns && now.cpu_ns >= c->self.cpu_ns &&
	    now.hits >= c->self.hits && now.cost_ns >= c->self.cost_ns) {
		c->self_ns += now.ts_ns - c->self.ts_ns;
		c->self_cpu_ns += now.cpu_ns - c->self.cpu_ns;
		c->self_hits += now.hits - c->self.hits;
		c->target_cost_ns += now.cost_ns - c->self.cost_ns;
	}
	c->self = now;
}

bool coverage_infers(const struct coverage *c, uint32_t level)
{
	const char *text;
	size_t len;

	if (level >= c->levels_cnt)
		return false;
	text = labels_text(c->labels, c->levels[level].ends, &len);
	return len == 8 && memcmp(text, "inferred", 8) == 0;
}

void coverage_event(struct coverage *c, const struct d9_ev *ev)
{
	enum d9_event kind = ev->schema->kind;

	c->events++;
	c->kinds[kind]++;
	/* symbols are stamped 0, metadata may carry a wall clock, others are not ours to judge */
	if (ev->schema->has_ts && kind != D9_EV_SYMBOL && kind != D9_EV_SEGMENT_METADATA &&
	    kind != D9_EV_OTHER) {
		if (c->is_in_gap && c->has_span && ev->ts_ns > c->last_ns)
			*(c->is_in_pause ? &c->pause_ns : &c->gap_ns) += ev->ts_ns - c->last_ns;
		c->is_in_pause = false;
		c->is_in_gap = false;
		if (!c->has_span || ev->ts_ns < c->first_ns)
			c->first_ns = ev->ts_ns;
		if (!c->has_span || ev->ts_ns > c->last_ns)
			c->last_ns = ev->ts_ns;
		c->has_span = true;
	}
	switch (kind) {
	case D9_EV_AGENT_LEVEL:
		coverage_level(c, ev);
		break;
	case D9_EV_AGENT_LOSS:
		coverage_loss(c, ev);
		break;
	case D9_EV_SEGMENT_METADATA:
		coverage_metadata(c, ev);
		break;
	case D9_EV_CLOCK_SYNC:
		if (!c->has_clock) {
			c->has_clock = true;
			c->clock_mono_ns = ev->ts_ns;
			c->clock_real_ns = d9_u64(ev, D9F_clock_sync_realtime_ns, 0);
		}
		break;
	case D9_EV_AGENT_SELF:
		coverage_self(c, ev);
		break;
	case D9_EV_AGENT_INFERRED_END:
		c->single_ends += !coverage_infers(c, c->level_now);
		break;
	default:
		break;
	}
}

void coverage_gap(struct coverage *c)
{
	coverage_end_level(c, c->last_ns);
	c->is_in_gap = true;
}

void coverage_session(struct coverage *c)
{
	coverage_gap(c);
	c->is_in_pause = true;
	c->sessions++;
	c->self = (struct coverage_self){ 0 };
}

void coverage_file(struct coverage *c, const struct reader_end *end)
{
	c->files++;
	c->open_files += end->is_open;
	c->damaged_files += end->err != 0 && !end->is_open;
}

void coverage_finish(struct coverage *c)
{
	coverage_end_level(c, c->last_ns);
}

uint64_t coverage_blind_ns(const struct coverage *c)
{
	uint64_t ns = 0;
	size_t len;

	for (uint32_t i = 0; i < c->levels_cnt; i++) {
		const char *text = labels_text(c->labels, c->levels[i].ends, &len);

		if (len == 4 && memcmp(text, "none", 4) == 0)
			ns += c->levels[i].ns;
	}
	return ns;
}

uint64_t coverage_lost(const struct coverage *c)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < c->losses_cnt; i++)
		lost += c->losses[i].is_flaw ? 0 : c->losses[i].count;
	return lost;
}

uint32_t coverage_fact(const struct coverage *c, const char *key)
{
	const char *text;
	size_t len;

	for (uint32_t i = 0; i < c->facts_cnt; i++) {
		text = labels_text(c->labels, c->facts[i].key, &len);
		if (len == strlen(key) && memcmp(text, key, len) == 0)
			return c->facts[i].value;
	}
	return LABEL_UNKNOWN;
}
