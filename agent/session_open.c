// SPDX-License-Identifier: Apache-2.0
/* session_open.c - a session is put together, in the order that its parts need, and taken apart. */
#include "session_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arrivals.h"
#include "clock.h"
#include "control.h"
#include "emit.h"
#include "feature.h"
#include "ladder.h"
#include "log.h"
#include "manifest.h"
#include "metadata.h"
#include "opt.h"
#include "overhead.h"
#include "plan.h"
#include "probe.h"
#include "roster.h"
#include "seat.h"
#include "segment.h"
#include "symbols.h"
#include "target.h"
#include "taskword.h"
#include "track.h"

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
		.cpu_hz = (uint32_t)o->cpu_hz,
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

void session_free(struct session *s)
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
		err = taskword_open(p, slot, s->target, s->plan, o->task_words, s->metadata,
				    &s->taskword);
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
