// SPDX-License-Identifier: Apache-2.0
#include "session_state.h"

#include <unistd.h>

#include "arrivals.h"
#include "bpf/cookie.h"
#include "bpf/wire.h"
#include "clock.h"
#include "control.h"
#include "emit.h"
#include "ladder.h"
#include "log.h"
#include "overhead.h"
#include "plan.h"
#include "probe.h"
#include "roster.h"
#include "segment.h"
#include "target.h"
#include "taskword.h"
#include "track.h"

static void session_hear(struct session *s, uint64_t now_ns)
{
	struct trigger_options look;

	for (int i = 0; s->control && i < CONTROL_CLIENTS_MAX; i++) {
		if (!control_next(s->control, now_ns, &look))
			return;
		control_answer(s->control,
			       overhead_ask(s->overhead, &look, "on demand: the control socket"));
	}
}

void session_look_closer(struct session *s, const char *reason)
{
	overhead_pull(s->overhead, reason);
}

void session_record(struct session *s, const struct wire_head *rec, size_t sz)
{
	if (rec->ts_ns >= ladder_due_ns(s->ladder))
		ladder_pass(s->ladder, rec->ts_ns, s->emit, s->track);
	if (rec->kind == WIRE_EXEC)
		s->has_execed = true;
	if (rec->kind == WIRE_RETURN_SITE) {
		const struct wire_return_site *site = (const struct wire_return_site *)rec;

		log_debug("polls of vtable %llx return to %llx", (unsigned long long)site->vtable,
			  (unsigned long long)site->return_addr);
		session_lost(s, rec->ts_ns, "ReturnSite", "polls return to an unprobed place", 1,
			     rec->ts_ns);
	}
	if (rec->kind == WIRE_SWITCH_IN)
		overhead_switch_in(s->overhead, (const struct wire_switch_in *)rec);
	if (rec->kind == WIRE_CPU_SAMPLE)
		overhead_sample(s->overhead, (const struct wire_cpu_sample *)rec);
	if (rec->kind == WIRE_PARKS)
		overhead_parks(s->overhead, (const struct wire_parks *)rec);
	summary_count(&s->summary, rec);
	if (rec->kind == WIRE_TLS)
		taskword_record(s->taskword, (const struct wire_tls *)rec);
	else
		track_record(s->track, rec, sz);
}

void session_lost(struct session *s, uint64_t now_ns, const char *kind, const char *cause,
		  uint64_t cnt, uint64_t from_ns)
{
	losses_add(&s->losses, now_ns, kind, cause, cnt, from_ns);
}

/* Is the level still the right one? */
static void session_weigh(struct session *s, uint64_t now_ns)
{
	if (s->calibration.is_on)
		calibration_tick(&s->calibration, summary_hits(&s->summary), now_ns);
	else
		overhead_tick(s->overhead, &s->losses.counts, now_ns);
}

void session_tick(struct session *s, uint64_t now_ns, uint64_t drained_ns)
{
	ladder_pass(s->ladder, drained_ns, s->emit, s->track);
	losses_tick(&s->losses, now_ns);
	track_tick(s->track, now_ns); /* reads memory as of now: before what takes a while */
	seatlearn_tick(&s->seatlearn, now_ns);
	session_hear(s, now_ns);
	taskword_tick(s->taskword, &s->losses.counts, now_ns);
	if (!s->summary.end_ns) /* then nothing is recorded any more, and no hit counted */
		session_weigh(s, now_ns);
	emit_tick(s->emit, now_ns);
}

bool session_is_sparse(const struct session *s)
{
	return !s->calibration.is_on && ladder_is_at(s->ladder, PLAN_STAT);
}

static uint64_t session_rss(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%*s %llu", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void session_second(struct session *s, uint64_t now_ns, uint64_t agent_cpu_ns)
{
	uint64_t hits = summary_hits(&s->summary);
	struct overhead_sums cost;

	losses_second(&s->losses, now_ns);
	if (track_is_stale(s->track, now_ns))
		roster_refresh(s->roster, now_ns); /* threads that sleep tell of it on the way */
	overhead_sums(s->overhead, &cost);
	emit_self(s->emit, now_ns, agent_cpu_ns, session_rss(), hits,
		  cost.is_known ? cost.cost_ns : hits * s->hit_cost_ns);
	if (!emit_flush(s->emit))
		segments_flush(s->segments);
}

int session_pidfd(const struct session *s)
{
	return s->target->pidfd;
}

pid_t session_pid(const struct session *s)
{
	return s->target->pid;
}

const char *session_path(const struct session *s)
{
	return segments_path(s->segments);
}

const char *session_newcomer(struct session *s, uint64_t now_ns)
{
	return arrivals_look(s->arrivals, now_ns) ? arrivals_path(s->arrivals) : NULL;
}

bool session_has_execed(const struct session *s)
{
	return s->has_execed;
}

void session_stop(struct session *s)
{
	if (s->summary.end_ns)
		return;
	if (s->track && track_has_summed(s->track))
		roster_refresh(s->roster, clock_now_ns()); /* what is added up, but not told yet */
	probe_deactivate(s->probe, s->slot);
	s->summary.end_ns = clock_now_ns();
}

void session_detach(struct session *s)
{
	if (!s->is_attached)
		return;
	session_stop(s);
	if (s->emit) {
		losses_tick(&s->losses, s->summary.end_ns);
		losses_second(&s->losses, s->summary.end_ns);
	}
	probe_detach(s->probe, s->slot);
	for (size_t i = 0; i < roster_cnt(s->roster); i++)
		probe_set_thread(s->probe, roster_tid(s->roster, i), NULL);
	s->is_attached = false;
}

int session_close(struct session *s, uint64_t now_ns, FILE *out, bool is_json)
{
	struct summary_facts facts;
	const uint64_t *addrs;
	size_t addrs_cnt;
	int err;

	session_detach(s);
	ladder_pass(s->ladder, now_ns, s->emit, s->track);
	track_finish(s->track, now_ns);
	taskword_finish(s->taskword, s->summary.task_word, sizeof(s->summary.task_word));
	emit_finish(s->emit, now_ns);
	addrs = emit_addrs(s->emit, &addrs_cnt);
	err = segments_finish(s->segments, addrs, addrs_cnt);
	if (!summary_hits(&s->summary) && plan_has_site(s->plan, WIRE_SITE_POLL))
		log_warn(0,
			 "no probe was hit in pid %d: it was idle, stopped or held by a debugger",
			 s->target->pid);
	summary_gather(&s->summary, s->target, s->track, s->emit, s->segments, now_ns,
		       s->hit_cost_ns, &facts);
	overhead_sums(s->overhead, &facts.cost);
	facts.max_overhead = s->max_overhead;
	if (out && is_json)
		summary_print_json(&s->summary, &facts, out);
	else if (out)
		summary_print(&s->summary, &facts, out);
	session_free(s);
	return err;
}
