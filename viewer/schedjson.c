// SPDX-License-Identifier: Apache-2.0
/* schedjson.c - one key for each analysis. */
#include "schedjson.h"

#include "core/columns.h"
#include "inquiry.h"
#include "jsonout.h"
#include "schedule.h"

static void schedjson_known(struct json *j, const char *key, bool is_known, uint64_t value)
{
	if (is_known)
		json_put_u64(j, key, value);
	else
		json_put_null(j, key);
}

static void schedjson_poll(struct json *j, const struct inquiry *q, const char *key, uint32_t poll)
{
	char handle[INQUIRY_HANDLE_SZ];

	if (poll == COLUMNS_NONE)
		json_put_null(j, key);
	else
		json_put_text(j, key, inquiry_handle(handle, q->c, poll));
}

static void schedjson_sum(struct json *j, const struct inquiry *q, const char *key, bool is_known,
			  const struct starve_sum *s)
{
	if (!is_known) {
		json_put_null(j, key);
		return;
	}
	json_key(j, key);
	json_map(j);
	json_put_u64(j, "count", s->cnt);
	json_put_u64(j, "total_ns", s->ns);
	json_put_u64(j, "worst_ns", s->worst_ns);
	schedjson_poll(j, q, "worst", s->worst);
	json_put_u64(j, "idle_peers", s->peers);
	json_map_end(j);
}

static void schedjson_avail(struct json *j, const struct inquiry *q, const struct avail *a)
{
	bool is_known = q->recorded.polls;

	json_key(j, "availability");
	json_map(j);
	json_put_u64(j, "span_ns", a->to_ns - a->from_ns);
	schedjson_known(j, "blackouts", is_known, a->blackouts);
	schedjson_known(j, "blackout_ns", is_known, a->blackout_ns);
	schedjson_known(j, "longest_ns", is_known, a->longest_ns);
	schedjson_known(j, "longest_at_ns", is_known && a->longest_ns, a->longest_at_ns);
	json_key(j, "worst_windows");
	json_list(j);
	for (int i = 0; i < AVAIL_WINDOWS; i++) {
		if (avail_windows_ns[i] > a->to_ns - a->from_ns)
			continue;
		json_map(j);
		json_put_u64(j, "window_ns", avail_windows_ns[i]);
		schedjson_known(j, "free_ns", is_known, avail_windows_ns[i] - a->window_ns[i]);
		json_map_end(j);
	}
	json_list_end(j);
	json_map_end(j);
}

static void schedjson_runtimes(struct json *j, const struct inquiry *q)
{
	const struct schedule *x = q->own;
	size_t len;

	json_key(j, "runtimes");
	json_list(j);
	for (uint32_t i = 0; i < x->crews.cnt; i++) {
		const struct starve *st = &x->starve[i];
		const char *name = columns_text(q->c, x->crews.at[i].runtime, &len);
		bool is_team = x->crews.at[i].cnt > 1, waits = q->recorded.wakes;

		if (!crews_pass(&x->crews, i, &q->scope))
			continue;
		json_map(j);
		json_put_bytes(j, "runtime", name, len);
		json_put_u64(j, "workers", x->crews.at[i].cnt);
		schedjson_avail(j, q, &x->avail[i]);
		schedjson_sum(j, q, "starved", waits && is_team, &st->starved);
		schedjson_sum(j, q, "saturated", waits && is_team, &st->saturated);
		schedjson_sum(j, q, "single", waits && !is_team, &st->single);
		schedjson_sum(j, q, "stuck_queues", is_team && q->recorded.local_queue, &st->stuck);
		json_put_u64(j, "queue_unknown", st->queue_unknown);
		schedjson_known(j, "most_polls", q->recorded.polls, st->most_polls);
		schedjson_known(j, "least_polls", q->recorded.polls, st->least_polls);
		schedjson_known(j, "most_busy_ns", q->recorded.polls, st->busy_most_ns);
		schedjson_known(j, "least_busy_ns", q->recorded.polls, st->busy_least_ns);
		json_map_end(j);
	}
	json_list_end(j);
}

static void schedjson_lifo(struct json *j, const struct inquiry *q)
{
	const struct lifo *l = &((const struct schedule *)q->own)->lifo;

	json_key(j, "lifo_stalls");
	json_map(j);
	schedjson_known(j, "count", q->recorded.wakes, l->stalls);
	schedjson_known(j, "total_ns", q->recorded.wakes, l->ns);
	schedjson_known(j, "polls_woken_by_the_one_before", q->recorded.wakes, l->woken_polls);
	json_key(j, "types");
	json_list(j);
	for (uint32_t i = 0; i < inquiry_rows(q, l->cnt); i++) {
		json_map(j);
		inquiry_json_type(j, q, "type", l->at[i].place);
		json_put_u64(j, "count", l->at[i].cnt);
		json_put_u64(j, "total_ns", l->at[i].ns);
		json_put_u64(j, "worst_ns", l->at[i].worst_ns);
		schedjson_poll(j, q, "worst", l->at[i].worst);
		schedjson_poll(j, q, "behind", l->at[i].behind);
		json_put_u64(j, "idle_peers", l->at[i].peers);
		json_map_end(j);
	}
	json_list_end(j);
	json_map_end(j);
}

static void schedjson_wakes(struct json *j, const struct inquiry *q)
{
	const struct wakeups *w = &((const struct schedule *)q->own)->wakeups;

	json_key(j, "wakes");
	json_list(j);
	for (uint32_t i = 0; i < inquiry_rows(q, w->cnt); i++) {
		const struct wakeups_type *t = &w->at[i];

		json_map(j);
		inquiry_json_type(j, q, "type", t->place);
		json_put_u64(j, "wakes", t->wakes);
		json_put_u64(j, "effective", t->effective);
		json_put_u64(j, "in_poll", t->in_poll);
		schedjson_known(j, "redundant", q->recorded.all_wakes || t->redundant,
				t->redundant);
		json_put_u64(j, "self", t->self);
		json_put_u64(j, "maybe_yields", t->yields);
		json_map_end(j);
	}
	json_list_end(j);
}

static void schedjson_queue(struct json *j, const struct buildup_queue *b)
{
	bool is_known = b->samples > 0;

	json_put_u64(j, "samples", b->samples);
	json_put_u64(j, "unknown", b->unknown);
	schedjson_known(j, "sum", is_known, b->sum);
	schedjson_known(j, "max", is_known, b->max);
	schedjson_known(j, "max_at_ns", is_known, b->max_at_ns);
	schedjson_known(j, "buildups", is_known, b->cnt);
	schedjson_known(j, "buildup_ns", is_known, b->ns);
	schedjson_known(j, "longest_ns", is_known, b->longest_ns);
	json_map_end(j);
}

static void schedjson_queues(struct json *j, const struct inquiry *q)
{
	const struct buildup *b = &((const struct schedule *)q->own)->buildup;
	const char *name;
	size_t len;

	json_key(j, "injection_queues");
	json_list(j);
	for (uint32_t i = 0; i < b->global_cnt; i++) {
		json_map(j);
		name = columns_text(q->c, b->global[i].key, &len);
		json_put_bytes(j, "runtime", name, len);
		schedjson_queue(j, &b->global[i]);
	}
	json_list_end(j);
	json_key(j, "worker_queues");
	json_list(j);
	for (uint32_t i = 0; i < b->local_cnt; i++) {
		json_map(j);
		json_put_u64(j, "worker", q->c->lanes.id[b->local[i].key]);
		schedjson_queue(j, &b->local[i]);
	}
	json_list_end(j);
}

static void schedjson_leaks(struct json *j, const struct inquiry *q)
{
	const struct leaks *l = &((const struct schedule *)q->own)->leaks;

	json_put_u64(j, "tasks_spawned_before", l->unseen);
	json_key(j, "alive");
	json_list(j);
	for (uint32_t i = 0; i < inquiry_rows(q, l->cnt); i++) {
		const struct leaks_type *t = &l->at[i];

		json_map(j);
		inquiry_json_type(j, q, "type", t->place);
		json_put_u64(j, "spawned", t->spawned);
		json_put_u64(j, "ended", t->ended);
		json_put_u64(j, "churn", t->churn);
		json_key(j, "quarters");
		json_list(j);
		for (int k = 0; k < LEAKS_QUARTERS; k++)
			json_u64(j, t->alive[k]);
		json_list_end(j);
		json_put_u64(j, "oldest_ns", t->oldest_ns);
		json_put_u64(j, "ages_ns", t->ages_ns);
		json_key(j, "is_leak");
		json_bool(j, t->is_leak);
		json_map_end(j);
	}
	json_list_end(j);
}

static void schedjson_pool(struct json *j, const struct inquiry *q)
{
	const struct blockpool *p = &((const struct schedule *)q->own)->pool;
	bool is_known = p->queue_known > 0;

	if (!q->recorded.blocking) {
		json_put_null(j, "blocking_pool");
		return;
	}
	json_key(j, "blocking_pool");
	json_map(j);
	json_put_u64(j, "tasks", p->tasks);
	json_put_u64(j, "threads", p->threads);
	json_put_null(j, "limit");
	json_put_u64(j, "busy_ns", p->busy_ns);
	json_put_u64(j, "most_at_work", p->most_busy);
	json_put_u64(j, "long_runs", p->long_cnt);
	json_put_u64(j, "queue_known", p->queue_known);
	schedjson_known(j, "most_queued", is_known, p->most_queued);
	schedjson_known(j, "queued_p50_ns", is_known, histogram_quantile(&p->queued, 500));
	schedjson_known(j, "queued_p99_ns", is_known, histogram_quantile(&p->queued, 990));
	schedjson_known(j, "queued_max_ns", is_known, p->queued.max);
	schedjson_known(j, "saturated_ns", is_known, p->saturated_ns);
	json_map_end(j);
}

static void schedjson_spans(struct json *j, const struct inquiry *q)
{
	const struct userspans *x = &((const struct schedule *)q->own)->spans;

	json_key(j, "spans");
	json_map(j);
	json_put_u64(j, "count", x->spans);
	json_put_u64(j, "unmatched", x->unmatched);
	json_put_u64(j, "of_known_worker", x->located);
	json_put_u64(j, "crowded_polls", x->crowded_polls);
	json_put_u64(j, "most_in_one_poll", x->most);
	schedjson_poll(j, q, "most_in", x->most_poll);
	json_key(j, "names");
	json_list(j);
	for (uint32_t i = 0; i < inquiry_rows(q, x->cnt); i++) {
		json_map(j);
		inquiry_json_type(j, q, "name", x->at[i].name);
		json_put_u64(j, "count", x->at[i].cnt);
		json_put_u64(j, "sum_ns", x->at[i].sum_ns);
		json_put_u64(j, "p50_ns", x->at[i].p50_ns);
		json_put_u64(j, "max_ns", x->at[i].max_ns);
		json_put_u64(j, "outliers", x->at[i].outliers);
		json_map_end(j);
	}
	json_list_end(j);
	json_map_end(j);
}

static void schedjson_summed(struct json *j, const struct inquiry *q)
{
	const struct summed *all = ((const struct schedule *)q->own)->summed;

	json_key(j, "parks_added_up");
	json_list(j);
	for (uint32_t i = 0; i < q->c->lanes.cnt; i++) {
		if (!all[i].parks || !scope_lane(&q->scope, i))
			continue;
		json_map(j);
		json_put_u64(j, "worker", q->c->lanes.id[i]);
		json_put_u64(j, "parks", all[i].parks);
		json_put_u64(j, "parked_ns", all[i].parked_ns);
		json_put_u64(j, "delayed_ns", all[i].delayed_ns);
		json_map_end(j);
	}
	json_list_end(j);
}

void schedjson_put(struct json *j, const struct inquiry *q)
{
	schedjson_runtimes(j, q);
	schedjson_lifo(j, q);
	schedjson_wakes(j, q);
	schedjson_queues(j, q);
	schedjson_leaks(j, q);
	schedjson_pool(j, q);
	schedjson_spans(j, q);
	schedjson_summed(j, q);
}
