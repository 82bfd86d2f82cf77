// SPDX-License-Identifier: Apache-2.0
/* summary_json.c - the account of a recording for programs (schema 1). */
#include "summary.h"

#include <string.h>
#include <yajl/yajl_gen.h>

#include "clock.h"

static void json_text(yajl_gen g, const char *s)
{
	yajl_gen_string(g, (const unsigned char *)s, strlen(s));
}

static void json_count(yajl_gen g, const char *key, uint64_t value)
{
	json_text(g, key);
	yajl_gen_integer(g, (long long)value);
}

static void json_losses(yajl_gen g, const struct summary *s, bool is_flaw)
{
	json_text(g, is_flaw ? "flawed" : "lost");
	yajl_gen_array_open(g);
	for (size_t i = 0; i < s->losses_cnt; i++) {
		if (s->losses[i].is_flaw != is_flaw)
			continue;
		yajl_gen_map_open(g);
		json_text(g, "kind");
		json_text(g, s->losses[i].kind);
		json_text(g, "cause");
		json_text(g, s->losses[i].cause);
		json_count(g, "count", s->losses[i].cnt);
		yajl_gen_map_close(g);
	}
	yajl_gen_array_close(g);
}

static void json_events(yajl_gen g, const struct emit_stats *es)
{
	json_text(g, "events");
	yajl_gen_map_open(g);
	for (int i = 0; i < D9_EV_CNT; i++)
		if (es->events[i])
			json_count(g, summary_events[i], es->events[i]);
	yajl_gen_map_close(g);
}

/* What recording costs, as the budget sees it: null where hits are not counted. */
static void json_budget(yajl_gen g, const struct summary_facts *f)
{
	json_text(g, "budget");
	if (!f->cost.is_known) {
		yajl_gen_null(g);
		return;
	}
	yajl_gen_map_open(g);
	json_text(g, "max_overhead");
	if (f->max_overhead > 0)
		yajl_gen_double(g, f->max_overhead);
	else
		yajl_gen_null(g);
	json_count(g, "hits", f->cost.hits);
	json_count(g, "cost_ns", f->cost.cost_ns);
	json_count(g, "base_ns", f->cost.base_ns);
	json_count(g, "target_cpu_ns", f->cost.cpu_ns);
	json_count(g, "changes", f->cost.changes_cnt);
	yajl_gen_map_close(g);
}

void summary_print_json(const struct summary *s, const struct summary_facts *f, FILE *out)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t sz;

	if (!g)
		return;
	yajl_gen_map_open(g);
	json_count(g, "schema", 1);
	json_count(g, "pid", (uint64_t)f->pid);
	json_text(g, "path");
	json_text(g, f->path);
	json_count(g, "recorded_ns", (uint64_t)(f->secs * CLOCK_SEC_NS));
	json_events(g, &f->emit);
	json_losses(g, s, false);
	json_losses(g, s, true);
	json_count(g, "unwritten_events", f->unwritten);
	json_count(g, "inferred_poll_ends", f->track.inferred_ends);
	json_count(g, "polls_on_unknown_worker", f->track.unknown_worker);
	json_count(g, "disk_bytes", f->segments.written_sz);
	json_count(g, "segments_evicted", f->segments.evicted_cnt);
	json_count(g, "sites", s->sites_cnt);
	json_count(g, "hits", f->hits);
	json_count(g, "attach_ns", s->attach_ns);
	json_count(g, "agent_cpu_ns", f->cpu_ns);
	json_count(g, "agent_peak_bytes", f->peak_sz);
	json_text(g, "target_cpu_added_ns");
	if (f->hit_cost_ns)
		yajl_gen_integer(g, (long long)(f->hits * f->hit_cost_ns));
	else
		yajl_gen_null(g);
	json_budget(g, f);
	yajl_gen_map_close(g);
	if (yajl_gen_get_buf(g, &text, &sz) == yajl_gen_status_ok) {
		flockfile(out);
		fwrite(text, 1, sz, out);
		fputc('\n', out);
		funlockfile(out);
	}
	yajl_gen_free(g);
}
