// SPDX-License-Identifier: Apache-2.0
/* reportjson.c - the report as JSON. Keys are added at the end of their map, never changed. */
#include "reportjson.h"

#include "jsonout.h"
#include "labels.h"
#include "leaftable.h"
#include "offname.h"
#include "relay.h"
#include "report.h"
#include "tasktable.h"
#include "typetable.h"
#include "workertable.h"

#include <string.h>

static void reportjson_label(struct json *j, const struct report *r, const char *key,
			     uint32_t label)
{
	size_t len;
	const char *text = labels_text(r->labels, label, &len);

	if (label == LABEL_UNKNOWN)
		json_put_null(j, key);
	else
		json_put_bytes(j, key, text, len);
}

static void reportjson_known(struct json *j, const char *key, bool is_known, uint64_t value)
{
	if (is_known)
		json_put_u64(j, key, value);
	else
		json_put_null(j, key);
}

static void reportjson_histogram(struct json *j, const char *key, const struct histogram *h)
{
	json_key(j, key);
	json_map(j);
	json_put_u64(j, "count", h->cnt);
	reportjson_known(j, "sum_ns", h->cnt > 0, h->sum);
	reportjson_known(j, "min_ns", h->cnt > 0, h->min);
	reportjson_known(j, "p50_ns", h->cnt > 0, histogram_quantile(h, 500));
	reportjson_known(j, "p99_ns", h->cnt > 0, histogram_quantile(h, 990));
	reportjson_known(j, "max_ns", h->cnt > 0, h->max);
	json_map_end(j);
}

static void reportjson_span(struct json *j, const struct report *r)
{
	const struct coverage *c = &r->coverage;

	json_key(j, "span");
	json_map(j);
	reportjson_known(j, "first_ns", c->has_span, c->first_ns);
	reportjson_known(j, "last_ns", c->has_span, c->last_ns);
	reportjson_known(j, "ns", c->has_span, r->span_ns);
	reportjson_known(j, "first_unix_ns", c->has_clock,
			 c->clock_real_ns - (c->clock_mono_ns - c->first_ns));
	json_put_u64(j, "missing_ns", c->gap_ns);
	json_put_u64(j, "sessions", c->sessions + 1);
	json_put_u64(j, "between_sessions_ns", c->pause_ns);
	json_map_end(j);
}

static void reportjson_coverage(struct json *j, const struct report *r)
{
	const struct coverage *c = &r->coverage;
	uint64_t known_ns = 0;

	json_key(j, "segments");
	json_map(j);
	json_put_u64(j, "count", c->files);
	json_put_u64(j, "open", c->open_files);
	json_put_u64(j, "damaged", c->damaged_files);
	json_put_u64(j, "holes", c->holes);
	json_put_u64(j, "evicted", seam_evicted(r->recording));
	json_map_end(j);
	json_put_u64(j, "events", c->events);

	json_key(j, "levels");
	json_list(j);
	for (uint32_t i = 0; i < c->levels_cnt; i++) {
		json_map(j);
		reportjson_label(j, r, "level", c->levels[i].level);
		reportjson_label(j, r, "ends", c->levels[i].ends);
		json_put_u64(j, "ns", c->levels[i].ns);
		json_map_end(j);
		known_ns += c->levels[i].ns;
	}
	json_list_end(j);
	json_key(j, "type_levels");
	json_list(j);
	for (uint32_t i = 0; i < c->types_cnt; i++) {
		json_map(j);
		reportjson_label(j, r, "type", c->types[i].type);
		reportjson_label(j, r, "level", c->types[i].level);
		json_put_u64(j, "ns", c->types[i].ns);
		json_map_end(j);
	}
	json_list_end(j);
	json_put_u64(j, "level_unknown_ns", r->span_ns > known_ns ? r->span_ns - known_ns : 0);

	json_put_u64(j, "lost_events", coverage_lost(c));
	json_key(j, "losses");
	json_list(j);
	for (uint32_t i = 0; i < c->losses_cnt; i++) {
		json_map(j);
		reportjson_label(j, r, "kind", c->losses[i].kind);
		reportjson_label(j, r, "cause", c->losses[i].cause);
		json_put_u64(j, "count", c->losses[i].count);
		json_put_u64(j, "from_ns", c->losses[i].from_ns);
		json_put_u64(j, "to_ns", c->losses[i].to_ns);
		json_key(j, "flaw");
		json_bool(j, c->losses[i].is_flaw);
		json_map_end(j);
	}
	json_list_end(j);
	json_put_u64(j, "inferred_ends", c->kinds[D9_EV_AGENT_INFERRED_END]);
	json_put_u64(j, "broken_events", c->broken);
	json_put_u64(j, "late_events", relay_late(r->relay));
	json_put_u64(j, "tasks_over_cap", tasktable_over_cap(r->account.tasks));
	json_put_u64(j, "labels_over_cap", labels_over_cap(r->labels));
	json_put_u64(j, "workers_over_cap", r->account.over_worker_cap);
	json_put_u64(j, "stray_ends", r->account.stray_ends);
	json_put_u64(j, "unknown_task_ends", r->account.unknown_ends);
	json_put_u64(j, "cut_waits", r->account.waits_cut);
}

static void reportjson_facts(struct json *j, const struct report *r)
{
	const struct coverage *c = &r->coverage;
	size_t key_len, value_len;

	json_key(j, "metadata");
	json_map(j);
	for (uint32_t i = 0; i < c->facts_cnt; i++) {
		const char *key = labels_text(r->labels, c->facts[i].key, &key_len);
		const char *value = labels_text(r->labels, c->facts[i].value, &value_len);

		json_key_bytes(j, key, key_len);
		json_bytes(j, value, value_len);
	}
	json_map_end(j);
	json_key(j, "cost");
	if (!c->has_self) {
		json_null(j);
		return;
	}
	json_map(j);
	json_put_u64(j, "agent_cpu_ns", c->self_cpu_ns);
	json_put_u64(j, "agent_rss_bytes", c->self_rss_sz);
	json_put_u64(j, "hits", c->self_hits);
	json_put_u64(j, "target_cpu_ns", c->target_cost_ns);
	json_put_u64(j, "over_ns", c->self_ns);
	json_map_end(j);
}

static void reportjson_types(struct json *j, const struct report *r)
{
	json_put_u64(j, "busy_ns", r->busy_ns);
	json_put_u64(j, "nested_polls", r->account.nested_polls);
	json_key(j, "types");
	json_list(j);
	for (uint32_t i = 0; i < r->types_cnt; i++) {
		const struct type_row *row = typetable_row(r->account.types, r->types[i]);

		json_map(j);
		reportjson_label(j, r, "type", row->label);
		json_put_u64(j, "spawned", row->spawned);
		json_put_u64(j, "seen_alive", row->seen);
		json_put_u64(j, "ended", row->ended);
		json_put_u64(j, "cancelled", row->cancelled);
		json_put_u64(j, "panicked", row->panicked);
		json_put_u64(j, "polls", row->polls);
		reportjson_known(j, "busy_ns", row->poll.cnt > 0, row->busy_ns);
		reportjson_histogram(j, "poll", &row->poll);
		reportjson_histogram(j, "wait", &row->wait);
		reportjson_known(j, "wakes", r->has_waits, row->wakes);
		reportjson_known(j, "redundant_wakes", r->has_waits, row->redundant_wakes);
		reportjson_known(j, "off_cpu_ns", r->has_off, row->off_cpu_ns);
		json_put_u64(j, "cpu_samples", row->samples);
		reportjson_known(j, "cpu_sampled_ns", r->sample_ns > 0, row->samples * r->sample_ns);
		json_map_end(j);
	}
	json_list_end(j);
}

static void reportjson_workers(struct json *j, const struct report *r)
{
	json_key(j, "workers");
	json_list(j);
	for (uint32_t i = 0; i < r->workers_cnt; i++) {
		const struct worker *w = workertable_get(r->account.workers, r->workers[i]);

		json_map(j);
		json_put_u64(j, "worker", r->workers[i]);
		reportjson_label(j, r, "runtime", w->runtime);
		reportjson_known(j, "busy_ns", r->has_polls, w->busy_ns);
		reportjson_known(j, "parked_ns", w->parks + w->unparks > 0, w->parked_ns);
		reportjson_known(j, "kernel_delay_ns", w->delays_known > 0, w->delayed_ns);
		json_put_u64(j, "between_ns", w->between_ns);
		json_put_u64(j, "unknown_ns", w->unknown_ns);
		json_put_u64(j, "polls", w->polls);
		json_put_u64(j, "cut_polls", w->cut_polls);
		json_put_u64(j, "parks", w->parks);
		json_put_u64(j, "unparks", w->unparks);
		json_put_u64(j, "unparks_with_delay", w->delays_known);
		json_put_u64(j, "cpu_samples", w->samples);
		json_map_end(j);
	}
	json_list_end(j);
}

static void reportjson_longest(struct json *j, const struct report *r)
{
	char text[OFFNAME_SZ];

	json_key(j, "longest_polls");
	json_list(j);
	for (uint32_t i = 0; i < r->account.longest.cnt; i++) {
		const struct longpoll *p = &r->account.longest.polls[i];

		json_map(j);
		json_put_u64(j, "ns", p->ns);
		json_put_u64(j, "start_ns", p->poll.start_ns);
		json_put_u64(j, "worker", p->worker);
		json_put_u64(j, "task", p->poll.task);
		reportjson_label(j, r, "type",
				 typetable_row(r->account.types, p->poll.type)->label);
		reportjson_known(j, "off_cpu_ns", r->has_off, p->poll.off_ns);
		if (p->poll.off_ns)
			json_put_text(j, "off_cpu_in", offname(text, p->poll.off_worst));
		else
			json_put_null(j, "off_cpu_in");
		json_put_u64(j, "cpu_samples", p->poll.samples);
		json_map_end(j);
	}
	json_list_end(j);
}

static void reportjson_off(struct json *j, const struct report *r)
{
	char text[OFFNAME_SZ];

	json_key(j, "off_cpu_in_polls");
	if (!r->has_off) {
		json_null(j);
		return;
	}
	json_list(j);
	for (uint32_t i = 0; i < r->off_cnt; i++) {
		const struct account_off *off = &r->account.off[r->off[i]];

		json_map(j);
		json_put_text(j, "in", offname(text, r->off[i]));
		reportjson_known(j, "syscall", r->off[i] >= MOMENT_SYSCALL,
				 r->off[i] - MOMENT_SYSCALL);
		json_put_u64(j, "count", off->cnt);
		json_put_u64(j, "sum_ns", off->sum_ns);
		json_put_u64(j, "max_ns", off->max_ns);
		json_map_end(j);
	}
	json_list_end(j);
}

static void reportjson_samples(struct json *j, const struct report *r)
{
	const struct account *a = &r->account;

	json_key(j, "cpu_samples");
	json_map(j);
	json_put_u64(j, "count", a->samples);
	json_put_u64(j, "in_polls", a->samples_in_polls);
	json_put_u64(j, "on_workers_outside_polls", a->samples_between);
	json_put_u64(j, "blocking_pool", a->samples_blocking);
	json_put_u64(j, "elsewhere", a->samples_unknown);
	json_key(j, "leaves");
	json_list(j);
	for (uint32_t i = 0; i < r->leaves_cnt; i++) {
		json_map(j);
		reportjson_label(j, r, "function", r->leaves[i].label);
		reportjson_known(j, "addr",
				 r->leaves[i].label == LABEL_UNKNOWN && r->leaves[i].addr != 0,
				 r->leaves[i].addr);
		json_put_u64(j, "samples", r->leaves[i].samples);
		json_put_u64(j, "in_polls", r->leaves[i].in_polls);
		json_map_end(j);
	}
	json_list_end(j);
	json_put_u64(j, "polls_not_recorded", a->samples_blind);
	json_put_u64(j, "in_polls_by_task_id", a->samples_by_id);
	json_put_u64(j, "of_unknown_type", a->samples_untyped);
	json_map_end(j);
}

static void reportjson_blocking(struct json *j, const struct report *r)
{
	json_key(j, "blocking_pool");
	json_list(j);
	for (uint32_t i = 0; i < r->blocking_cnt; i++) {
		const struct type_row *row = typetable_row(r->account.types, r->blocking[i]);

		json_map(j);
		reportjson_label(j, r, "type", row->label);
		json_put_u64(j, "tasks", row->blocking);
		reportjson_histogram(j, "queued", &row->queued);
		reportjson_histogram(j, "run", &row->run);
		json_map_end(j);
	}
	json_list_end(j);
	json_key(j, "block_in_place");
	json_map(j);
	json_put_u64(j, "count", r->account.block_in_places);
	json_put_u64(j, "sum_ns", r->account.block_in_place_ns);
	json_map_end(j);
}

/* Candidates for long polls, where polls were not recorded. */
static void reportjson_runs(struct json *j, const struct report *r)
{
	const struct busyruns *b = &r->account.runs;

	json_put_u64(j, "busy_runs_count", b->long_cnt);
	json_put_u64(j, "busy_runs_from_ns", b->from_ns);
	json_key(j, "busy_runs");
	json_list(j);
	for (uint32_t i = 0; i < b->cnt; i++) {
		const struct type_row *row = account_type_of(&r->account, b->runs[i].task);

		json_map(j);
		json_put_u64(j, "at_least_ns", b->runs[i].last_ns - b->runs[i].first_ns);
		json_put_u64(j, "first_ns", b->runs[i].first_ns);
		json_put_u64(j, "task", b->runs[i].task);
		reportjson_label(j, r, "type", row ? row->label : LABEL_UNKNOWN);
		json_put_u64(j, "samples", b->runs[i].samples);
		json_put_text(j, "type_polls_say",
			      row ? busyruns_verdict(&b->runs[i], row->poll.cnt, row->poll.max) :
				    "unknown");
		json_map_end(j);
	}
	json_list_end(j);
}

void reportjson_put(struct json *j, const struct report *r)
{
	json_map(j);
	json_put_text(j, "recording", r->recording->name);
	reportjson_known(j, "pid", r->coverage.has_pid, r->coverage.pid);
	reportjson_label(j, r, "service", coverage_fact(&r->coverage, "service_name"));
	reportjson_span(j, r);
	reportjson_coverage(j, r);
	reportjson_types(j, r);
	reportjson_workers(j, r);
	reportjson_longest(j, r);
	reportjson_off(j, r);
	reportjson_samples(j, r);
	reportjson_blocking(j, r);
	reportjson_facts(j, r);
	json_put_u64(j, "polls_not_recorded_ns", r->blind_ns);
	reportjson_runs(j, r);
	json_map_end(j);
}
