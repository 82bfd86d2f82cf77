// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/types.h>

#include "answer.h"
#include "arrivals.h"
#include "bpf/wire.h"
#include "calibration.h"
#include "clock.h"
#include "control.h"
#include "emit.h"
#include "feature.h"
#include "ladder.h"
#include "log.h"
#include "losses.h"
#include "manifest.h"
#include "metadata.h"
#include "opt.h"
#include "overhead.h"
#include "plan.h"
#include "polltypes.h"
#include "probe.h"
#include "roster.h"
#include "seat.h"
#include "seatlearn.h"
#include "segment.h"
#include "summary.h"
#include "symbols.h"
#include "target.h"
#include "taskword.h"
#include "track.h"

struct session {
	struct target *target;
	struct plan *plan;
	struct polltypes types;
	struct segments *segments;
	struct symbols *symbols;
	struct seats *seats;
	struct roster *roster;
	struct metadata *metadata;
	struct emit *emit;
	struct track *track;
	struct taskword *taskword;
	struct answer answer;
	struct arrivals *arrivals;
	struct probe *probe;
	unsigned slot;
	struct ladder *ladder;
	struct calibration calibration;
	struct overhead *overhead;
	struct control *control; /* NULL = it could not be made */
	bool is_attached, has_execed;
	struct seatlearn seatlearn;
	struct losses losses;
	struct summary summary;
	uint32_t hit_cost_ns;
	double max_overhead; /* 0 = no budget */
};

static int session_plan(struct session *s, const struct opt *o, const struct features *f)
{
	struct plan_options po = {
		.level = (enum plan_level)opt_plan_level(o),
		.allow_stepped = o->allow_stepped,
		.allow_stack = true,
		.has_own_ends = s->max_overhead > 0,
	};
	int err = plan_build(s->target, &po, f, &s->plan);

	return err ? err : polltypes_open(s->plan, &s->types);
}

static int session_segments(struct session *s, const struct opt *o)
{
	struct segment_options so = {
		.trace_dir = o->trace_dir,
		.compress = (enum segment_compress)o->compress,
		.rotation_secs = (uint32_t)o->rotation_secs,
		.segment_max_sz = o->segment_max_sz,
		.total_max_sz = o->total_max_sz,
		.dir_max_sz = o->dir_max_sz,
	};

	return segments_open(&so, s->target, &s->segments);
}

static int session_attach(struct session *s, const struct opt *o)
{
	struct ladder_options lo = {
		.probe = s->probe,
		.slot = s->slot,
		.target = s->target,
		.plan = s->plan,
		.types = &s->types,
		.answer = &s->answer,
		.has_cpu = o->cpu_hz > 0,
		.has_task_events = o->has_task_events,
	};
	enum plan_level level = (enum plan_level)opt_base_level(o);
	bool needs_probes = level == PLAN_STAT && o->has_tokio_events;
	int err;

	err = ladder_open(&lo, needs_probes ? PLAN_WAKES : level, &s->ladder);
	s->calibration = (struct calibration){
		.ladder = s->ladder,
		.taskword = s->taskword,
		.metadata = s->metadata,
		.pid = s->target->pid,
		.start_ns = clock_now_ns(),
		.is_on = needs_probes,
	};
	s->is_attached = !err;
	return err;
}

static int session_watch_cost(struct session *s, const struct opt *o, const struct features *f)
{
	struct overhead_options oo = {
		.probe = s->probe,
		.slot = s->slot,
		.pid = s->target->pid,
		.plan = s->plan,
		.types = &s->types,
		.features = f,
		.ladder = s->ladder,
		.share = s->max_overhead,
		.level = opt_base_level(o),
		.on_demand = o->on_demand,
	};

	return overhead_open(&oo, clock_now_ns(), &s->overhead);
}

static int session_start_track(struct session *s, const struct opt *o)
{
	struct track_level level;
	struct emit_options eo = {
		.sink = &emit_segments,
		.ctx = s->segments,
		.metadata = s->metadata,
	};
	struct track_options to = {
		.ops = &answer_ops,
		.ctx = &s->answer,
		.runtime_name = o->runtime_name,
	};
	int err;

	ladder_describe(s->ladder, "asked for", &eo.level);
	ladder_track_level(s->ladder, &level);
	err = emit_open(&eo, clock_now_ns(), &s->emit);
	if (!err)
		err = track_open(&to, s->emit, &s->track);
	if (!err)
		track_level(s->track, &level, clock_now_ns());
	return err;
}

/* A recording is worth having without it. */
static void session_listen(struct session *s)
{
	int err = control_open(NULL, s->target->pid, s->target->start_ticks, &s->control);

	if (err)
		log_warn(err, "pid %d: no control socket (%s): --zoom will not reach this agent",
			 s->target->pid, strerror(-err));
}

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

static void session_free(struct session *s)
{
	session_detach(s);
	control_close(s->control);
	overhead_close(s->overhead);
	ladder_close(s->ladder);
	arrivals_close(s->arrivals);
	track_close(s->track);
	emit_close(s->emit);
	segments_close(s->segments);
	taskword_close(s->taskword);
	metadata_free(s->metadata);
	roster_close(s->roster);
	seats_close(s->seats);
	symbols_close(s->symbols);
	polltypes_close(&s->types);
	plan_free(s->plan);
	target_close(s->target);
	free(s);
}

int session_open(const struct opt *o, const struct features *f, struct probe *p, unsigned slot,
		 pid_t pid, struct session **ret)
{
	struct session *s = calloc(1, sizeof(*s));
	uint64_t start_ns = clock_now_ns();
	int err;

	if (!s)
		return -ENOMEM;
	s->probe = p;
	s->slot = slot;
	s->hit_cost_ns = f->hit_cost_ns;
	s->max_overhead = o->level == OPT_LEVEL_AUTO ? o->max_overhead : 0;
	err = target_open(pid, &s->target);
	if (!err)
		err = session_plan(s, o, f);
	if (!err)
		err = session_segments(s, o);
	if (!err)
		err = manifest_new(o, s->target, s->plan, segments_boot_id(s->segments), start_ns,
				   &s->metadata);
	if (!err)
		err = symbols_open(s->target, &s->symbols);
	if (!err)
		err = seats_open(s->target, s->plan, &s->seats);
	if (!err)
		err = taskword_open(p, slot, s->target, s->plan, s->metadata, &s->taskword);
	if (!err)
		err = roster_open(p, pid, &s->roster);
	if (!err)
		err = arrivals_open(pid, s->target, &s->arrivals);
	if (err)
		goto out;
	s->answer = (struct answer){
		.target = s->target,
		.plan = s->plan,
		.probe = p,
		.roster = s->roster,
		.seats = s->seats,
		.symbols = s->symbols,
	};
	answer_prepare(&s->answer);
	err = session_attach(s, o);
	if (!err)
		err = session_start_track(s, o);
	if (!err)
		err = session_watch_cost(s, o, f);
	if (!err)
		err = roster_refresh(s->roster, clock_now_ns());
	if (err)
		goto out;
	for (size_t i = 0; i < roster_cnt(s->roster); i++)
		track_thread(s->track, roster_tid(s->roster, i));
	s->seatlearn = (struct seatlearn){
		.seats = s->seats,
		.roster = s->roster,
		.probe = p,
		.slot = slot,
		.left = -EAGAIN,
	};
	seatlearn_tick(&s->seatlearn, clock_now_ns());
	summary_begin(&s->summary, clock_now_ns(), start_ns, probe_sites(p, slot));
	s->losses = (struct losses){
		.probe = p,
		.slot = slot,
		.emit = s->emit,
		.track = s->track,
		.summary = &s->summary,
		.counts_ns = clock_now_ns(),
		.flaws_ns = clock_now_ns(),
	};
	session_listen(s);
	probe_activate(p, slot);
out:
	if (err)
		session_free(s);
	else
		*ret = s;
	return err;
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
