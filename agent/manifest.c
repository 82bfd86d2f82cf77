// SPDX-License-Identifier: Apache-2.0
#include "manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <linux/types.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"
#include "metadata.h"
#include "opt.h"
#include "plan.h"
#include "target.h"

/* Says which events this recording claims to hold: what is not in the list was not recorded. */
static int manifest_claim(struct metadata *m, const struct opt *o, const struct plan *p)
{
	int level = opt_top_level(o); /* what stat's calibration shows besides is not claimed */
	const struct {
		const char *event;
		bool is_claimed;
	} claims[] = {
		{ "WorkerParkEvent", true },
		{ "WorkerUnparkEvent", true },
		{ "RuntimeMetricsEvent", true },
		{ "agent:OffCpu", o->has_tokio_events },
		{ "CpuSampleEvent", o->cpu_hz > 0 },
		{ "agent:Sample", o->cpu_hz > 0 && level < PLAN_POLLS && o->has_tokio_events },
		{ "agent:Parks", level < PLAN_POLLS },
		{ "PollStartEvent", level >= PLAN_POLLS },
		{ "PollEndEvent", level >= PLAN_POLLS },
		{ "agent:NestedPoll", level >= PLAN_POLLS },
		{ "agent:Blocking", level >= PLAN_POLLS },
		{ "agent:Alive", o->has_tokio_events },
		{ "WakeEventEvent", level >= PLAN_WAKES && plan_has_site(p, WIRE_SITE_SCHEDULE) },
		{ "TaskSpawnEvent", level == PLAN_FULL && o->has_task_events },
		{ "TaskTerminateEvent", level == PLAN_FULL && o->has_task_events },
		{ "agent:TaskEnd", level == PLAN_FULL && o->has_task_events },
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(claims) / sizeof(claims[0]); i++)
		if (claims[i].is_claimed)
			err = metadata_add(m, "agent.has", claims[i].event);
	return err;
}

/* Says which of them lack those of some places: these could not be probed (the plan says why). */
static int manifest_partial(struct metadata *m, const struct plan *p)
{
	static const char *const events[WIRE_SITE_CNT] = {
		[WIRE_SITE_POLL] = "PollStartEvent",	  [WIRE_SITE_SCHEDULE] = "WakeEventEvent",
		[WIRE_SITE_BIND] = "TaskSpawnEvent",	  [WIRE_SITE_SPAWN_ID] = "TaskSpawnEvent",
		[WIRE_SITE_SHUTDOWN] = "TaskTerminateEvent",
	};
	int err = 0;

	for (size_t i = 0; !err && i < p->omissions_cnt; i++)
		if (p->omissions[i].kind < WIRE_SITE_CNT && events[p->omissions[i].kind])
			err = metadata_add(m, "agent.partial", events[p->omissions[i].kind]);
	return err;
}

/* Until it is told otherwise (unread.c, runtime.c), what is read from memory is not known. */
static int manifest_unknown(struct metadata *m)
{
	int err = metadata_set(m, "tokio.local_queue", "false");

	if (!err)
		err = metadata_set(m, "agent.unknown",
				   "PollStartEvent.local_queue,"
				   "RuntimeMetricsEvent.global_queue_depth,"
				   "RuntimeMetricsEvent.alive_tasks");
	return err;
}

/* The file that carries Tokio: others are in the plan for the unwinder's sake. */
static const struct plan_file *manifest_tokio(const struct plan *p)
{
	for (size_t i = 0; i < p->files_cnt; i++)
		if (p->files[i].vtables_cnt)
			return &p->files[i];
	return &p->files[0];
}

/* Task ids of the second copy of Tokio and further ones are told by their high bits: whose are they? */
static int manifest_copies(struct metadata *m, const struct target *t, const struct plan *p)
{
	int err = 0;

	for (size_t i = 1; !err && i < p->files_cnt; i++) {
		const struct plan_file *f = &p->files[i];
		char key[32];

		if (!f->vtables_cnt)
			continue;
		snprintf(key, sizeof(key), "tokio.copy.%zu", i);
		err = metadata_setf(m, key, "%s %s", f->tokio[0] ? f->tokio : "unknown",
				    t->files[f->target_file].path);
	}
	return err;
}

static int manifest_build(struct metadata *m, const struct plan_file *f)
{
	int err = metadata_set(m, "tokio.unstable", f->is_unstable ? "true" : "false");

	if (!err && f->tokio[0])
		err = metadata_set(m, "tokio.version", f->tokio);
	if (!err && f->rustc[0])
		err = metadata_set(m, "rustc.version", f->rustc);
	if (!err && f->build_id[0])
		err = metadata_set(m, "process.build_id", f->build_id);
	return err;
}

static int manifest_options(struct metadata *m, const struct opt *o)
{
	int err = metadata_set(m, "cpu.profile.enabled", o->cpu_hz ? "true" : "false");

	if (!err && o->cpu_hz)
		err = metadata_setf(m, "cpu.profile.frequency_hz", "%llu",
				    (unsigned long long)o->cpu_hz);
	for (size_t i = 0; !err && i < o->metadata_cnt; i++)
		err = metadata_set(m, o->metadata[i].key, o->metadata[i].value);
	return err;
}

int manifest_new(const struct opt *o, const struct target *t, const struct plan *p,
		 const char *boot_id, uint64_t now_ns, struct metadata **ret)
{
	struct metadata *m;
	int err = metadata_new(&m);

	if (err)
		return err;
	err = metadata_set_process(m, t->pid, t->start_ticks,
				   o->service_name ? o->service_name : t->comm, boot_id,
				   DIAL9_VERSION);
	if (!err)
		err = metadata_setf(m, "agent.session", "%llu", (unsigned long long)now_ns);
	if (!err)
		err = manifest_claim(m, o, p);
	if (!err && opt_top_level(o) < PLAN_POLLS)
		err = metadata_set(m, "tokio.poll_coverage", "none");
	if (!err)
		err = manifest_partial(m, p);
	if (!err)
		err = manifest_unknown(m);
	if (!err)
		err = manifest_build(m, manifest_tokio(p));
	if (!err)
		err = manifest_copies(m, t, p);
	if (!err)
		err = manifest_options(m, o);
	if (err)
		metadata_free(m);
	else
		*ret = m;
	return err;
}
