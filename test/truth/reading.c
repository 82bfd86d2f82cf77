// SPDX-License-Identifier: Apache-2.0
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/truth/reading.h"
#include "test/truth/vec.h"

#define U(field) d9_u64(ev, D9F_##field, 0)
#define STR(field) side_intern(d9_value_str(d9_val(ev, D9F_##field)))

void reading_begin(struct reading *r, struct side *s, bool is_ours)
{
	memset(r, 0, sizeof(*r));
	r->s = s;
	r->is_ours = is_ours;
	r->has_depth = r->has_alive = true;
}

/* A new batch of theirs: another thread, maybe. */
static void turn(struct reading *r)
{
	struct side *s = r->s;

	for (; r->wakes_unfollowed < s->wakes.cnt; r->wakes_unfollowed++)
		s->wakes.at[r->wakes_unfollowed].next_ns = UINT64_MAX;
	r->open_before = r->open_cnt;
	r->has_slept = true;
}

static bool is_read(const struct reading *r, uint64_t worker)
{
	return r->queues == READING_ALL ||
	       (r->queues == READING_PARTIAL && worker < READING_WORKERS_MAX &&
		!r->is_unread[worker]);
}

static void begin_poll(struct reading *r, const struct d9_ev *ev)
{
	struct side *s = r->s;
	uint64_t worker = U(poll_start_worker_id);
	struct side_poll *p = vec_push(&s->polls);

	*p = (struct side_poll){ .task = U(poll_start_task_id),
				 .start_ns = ev->ts_ns,
				 .end_ns = SIDE_OPEN,
				 .worker = worker,
				 .queue = (uint32_t)U(poll_start_local_queue),
				 .has_queue = is_read(r, worker),
				 .loc = STR(poll_start_spawn_loc),
				 .mate = SIDE_NONE,
				 .is_cold = r->has_slept };
	r->has_slept = false;
	if (r->is_ours)
		for (size_t i = 0; i < r->open_cnt; i++)
			if (r->open[i].worker == worker) {
				s->flaws++; /* a start inside an open poll: that one never ends */
				r->open[i] = r->open[--r->open_cnt];
				break;
			}
	if (r->open_cnt == READING_WORKERS_MAX) {
		s->flaws++;
		return;
	}
	r->open[r->open_cnt++] = (struct reading_open){ worker, s->polls.cnt - 1 };
}

static void end_poll(struct reading *r, const struct d9_ev *ev)
{
	struct side *s = r->s;
	uint64_t worker = U(poll_end_worker_id);

	for (size_t i = r->open_cnt; i-- > (r->is_ours ? 0 : r->open_before);)
		if (r->open[i].worker == worker) {
			struct side_poll *p = &s->polls.at[r->open[i].poll];

			p->end_ns = ev->ts_ns;
			r->has_slept |= p->end_ns - p->start_ns > READING_COLD_NS;
			r->open_cnt--;
			memmove(&r->open[i], &r->open[i + 1],
				(r->open_cnt - i) * sizeof(*r->open));
			return;
		}
	if (r->is_ours)
		s->flaws++;
	else
		*vec_push(&r->left) = (struct reading_late){ worker, ev->ts_ns };
}

/* The latest open poll of that worker before the end; each takes one. */
static void join_cut(struct reading *r)
{
	for (size_t e = 0; e < r->left.cnt; e++) {
		size_t best = SIZE_MAX;
		uint64_t best_ns = 0;

		for (size_t i = 0; i < r->open_cnt; i++) {
			const struct side_poll *p = &r->s->polls.at[r->open[i].poll];

			if (p->worker == r->left.at[e].worker && p->end_ns == SIDE_OPEN &&
			    p->start_ns < r->left.at[e].ts_ns && p->start_ns >= best_ns) {
				best = i;
				best_ns = p->start_ns;
			}
		}
		if (best == SIZE_MAX)
			r->s->flaws++;
		else
			r->s->polls.at[r->open[best].poll].end_ns = r->left.at[e].ts_ns;
	}
}

static void park(struct reading *r, const struct d9_ev *ev)
{
	struct side *s = r->s;
	uint64_t worker = U(worker_park_worker_id);
	uint32_t tid = (uint32_t)U(worker_park_tid);

	*vec_push(&s->parks) = (struct side_park){
		.worker = worker, .tid = tid, .from_ns = ev->ts_ns, .to_ns = SIDE_OPEN
	};
	for (size_t i = 0; i < r->parked_cnt; i++)
		if (r->parked[i].tid == tid && r->parked[i].worker == worker) {
			r->parked[i].park = s->parks.cnt - 1;
			return;
		}
	if (r->parked_cnt < READING_WORKERS_MAX)
		r->parked[r->parked_cnt++] = (struct reading_park){ worker, tid, s->parks.cnt - 1 };
}

static void unpark(struct reading *r, const struct d9_ev *ev)
{
	uint64_t worker = U(worker_unpark_worker_id);
	uint32_t tid = (uint32_t)U(worker_unpark_tid);

	for (size_t i = 0; i < r->parked_cnt; i++) {
		struct side_park *p = &r->s->parks.at[r->parked[i].park];

		if (r->parked[i].tid == tid && r->parked[i].worker == worker &&
		    p->to_ns == SIDE_OPEN) {
			p->to_ns = ev->ts_ns;
			p->is_guess = !d9_val(ev, D9F_worker_unpark_sched_wait_ns);
			return;
		}
	}
}

static bool is_key(struct d9_str key, const char *name)
{
	return key.len == strlen(name) && !memcmp(key.p, name, key.len);
}

/* Numbers of a comma-separated list, one after the other; false at its end. */
static bool next_number(char **list, uint64_t *ret)
{
	char *word = strsep(list, ",");

	if (!word)
		return false;
	*ret = strtoull(word, NULL, 10);
	return true;
}

static void metadata(struct reading *r, const struct d9_ev *ev)
{
	struct side *s = r->s;
	const struct d9_value *map = d9_val(ev, D9F_segment_metadata_entries);
	struct d9_iter it = { 0 };
	struct d9_pair kv;

	while (map && d9_map_next(map, &it, &kv)) {
		char text[16384], *list = text;
		uint64_t id;

		snprintf(text, sizeof(text), "%.*s", (int)kv.val.len, kv.val.p);
		if (kv.key.len > 8 && !memcmp(kv.key.p, "runtime.", 8)) {
			struct d9_str name = { kv.key.p + 8, kv.key.len - 8 };

			while (next_number(&list, &id))
				*vec_push(&s->members) =
					(struct side_member){ side_intern(name), id };
		} else if (is_key(kv.key, "agent.unknown")) {
			r->has_depth = !strstr(text, "RuntimeMetricsEvent.global_queue_depth");
			r->has_alive = !strstr(text, "RuntimeMetricsEvent.alive_tasks");
		} else if (is_key(kv.key, "tokio.local_queue") && r->is_ours) {
			r->queues = !strcmp(text, "true")    ? READING_ALL :
				    !strcmp(text, "partial") ? READING_PARTIAL :
							       READING_NONE;
		} else if (is_key(kv.key, "agent.local_queue_unread")) {
			memset(r->is_unread, 0, sizeof(r->is_unread));
			while (kv.val.len && next_number(&list, &id))
				if (id < READING_WORKERS_MAX)
					r->is_unread[id] = true;
		}
	}
}

static void ours_only(struct reading *r, const struct d9_ev *ev)
{
	struct side *s = r->s;

	switch (ev->schema->kind) {
	case D9_EV_AGENT_NESTED_POLL:
		*vec_push(&s->polls) =
			(struct side_poll){ .task = U(agent_nested_poll_task_id),
					    .start_ns = U(agent_nested_poll_start_ns),
					    .end_ns = ev->ts_ns,
					    .worker = U(agent_nested_poll_worker_id),
					    .loc = STR(agent_nested_poll_spawn_loc),
					    .mate = SIDE_NONE,
					    .kind = POLL_INNER };
		break;
	case D9_EV_AGENT_BLOCK_IN_PLACE:
		*vec_push(&r->marks) =
			(struct side_poll){ .task = U(agent_block_in_place_task_id),
					    .start_ns = U(agent_block_in_place_start_ns),
					    .end_ns = ev->ts_ns,
					    .kind = POLL_HANDED };
		break;
	case D9_EV_AGENT_INFERRED_END:
		*vec_push(&r->marks) =
			(struct side_poll){ .task = U(agent_inferred_end_task_id),
					    .end_ns = ev->ts_ns,
					    .rule = (uint8_t)U(agent_inferred_end_rule) };
		break;
	case D9_EV_AGENT_BLOCKING:
		*vec_push(&s->tasks) = (struct side_task){ .task = U(agent_blocking_task_id),
							   .start_ns = U(agent_blocking_start_ns),
							   .end_ns = ev->ts_ns,
							   .what = 'b' };
		break;
	case D9_EV_AGENT_ALIVE:
		*vec_push(&s->tasks) =
			(struct side_task){ .task = U(agent_alive_task_id), .what = 'a' };
		break;
	case D9_EV_AGENT_TASK_END:
		*vec_push(&s->tasks) =
			(struct side_task){ .task = U(agent_task_end_task_id),
					    .what = 'e',
					    .cause = (uint8_t)U(agent_task_end_cause) };
		break;
	case D9_EV_AGENT_LOSS:
		if (strcmp(side_str(STR(agent_loss_kind)), "Stack") &&
		    strcmp(side_str(STR(agent_loss_kind)), "SwitchTime"))
			s->lost += U(agent_loss_count);
		break;
	default:
		break;
	}
}

static void one(struct reading *r, const struct d9_ev *ev)
{
	struct side *s = r->s;

	if (!r->is_ours && ev->batch != r->batch)
		turn(r);
	r->batch = ev->batch;
	if (ev->ts_ns && ev->schema->kind != D9_EV_CLOCK_SYNC) {
		s->first_ns = ev->ts_ns < s->first_ns ? ev->ts_ns : s->first_ns;
		s->last_ns = ev->ts_ns > s->last_ns ? ev->ts_ns : s->last_ns;
	}
	for (; r->wakes_unfollowed < s->wakes.cnt; r->wakes_unfollowed++)
		s->wakes.at[r->wakes_unfollowed].next_ns = ev->ts_ns;
	switch (ev->schema->kind) {
	case D9_EV_POLL_START:
		begin_poll(r, ev);
		break;
	case D9_EV_POLL_END:
		end_poll(r, ev);
		break;
	case D9_EV_WAKE:
		*vec_push(&s->wakes) = (struct side_wake){ .woken = U(wake_woken_task_id),
							   .waker = U(wake_waker_task_id),
							   .ts_ns = ev->ts_ns,
							   .worker = (uint32_t)U(wake_target_worker) };
		break;
	case D9_EV_TASK_SPAWN:
		*vec_push(&s->births) =
			(struct side_birth){ .task = U(task_spawn_task_id),
					     .ts_ns = ev->ts_ns,
					     .worker = d9_u64(ev, D9F_task_spawn_worker_id, UINT64_MAX),
					     .loc = STR(task_spawn_spawn_loc),
					     .has_wakes = U(task_spawn_instrumented) != 0,
					     .mate = SIDE_NONE };
		break;
	case D9_EV_TASK_TERMINATE:
		*vec_push(&s->deaths) = (struct side_death){ .task = U(task_terminate_task_id),
							     .ts_ns = ev->ts_ns,
							     .mate = SIDE_NONE };
		break;
	case D9_EV_WORKER_PARK:
		park(r, ev);
		break;
	case D9_EV_WORKER_UNPARK:
		r->has_slept = true;
		unpark(r, ev);
		break;
	case D9_EV_RUNTIME_METRICS:
		*vec_push(&s->metrics) = (struct side_metric){
			.ts_ns = ev->ts_ns,
			.runtime = STR(runtime_metrics_runtime_name),
			.queue = (uint32_t)U(runtime_metrics_global_queue_depth),
			.alive = (uint32_t)U(runtime_metrics_alive_tasks),
			.has_queue = r->has_depth,
			.has_alive = r->has_alive,
		};
		break;
	case D9_EV_SEGMENT_METADATA:
		metadata(r, ev);
		break;
	default:
		if (r->is_ours)
			ours_only(r, ev);
	}
}

void reading_file(struct reading *r, const char *path)
{
	struct d9_src *src;
	struct d9_ev ev;
	int rc = d9_src_open(&src, path, NULL);

	if (rc)
		errx(3, "truth: %s: %s", path, d9_strerror(rc));
	r->batch = 0;
	while ((rc = d9_src_next(src, &ev)) == 1)
		one(r, &ev);
	if (rc)
		errx(3, "truth: %s: %s at byte %llu", path, d9_strerror(rc),
		     (unsigned long long)d9_src_off(src));
	d9_src_close(src);
}

void reading_end(struct reading *r)
{
	turn(r);
	join_cut(r);
}

void reading_amend(struct reading *r)
{
	struct side *s = r->s;

	for (size_t i = 0; i < r->marks.cnt; i++) {
		const struct side_poll *m = &r->marks.at[i];
		size_t at;

		if (m->kind == POLL_HANDED) {
			at = side_poll_at(s, m->task, m->start_ns);
			if (at == s->polls.cnt || s->polls.at[at].task != m->task ||
			    s->polls.at[at].start_ns != m->start_ns)
				continue;
			s->polls.at[at].kind = POLL_HANDED;
			s->polls.at[at].end_ns = m->end_ns;
			continue;
		}
		at = side_poll_at(s, m->task, m->end_ns);
		if (at && s->polls.at[at - 1].task == m->task && !s->polls.at[at - 1].rule)
			s->polls.at[at - 1].rule = m->rule;
	}
	free(r->marks.at);
	free(r->left.at);
}
