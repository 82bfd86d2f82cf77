// SPDX-License-Identifier: Apache-2.0
/* gauge.c - see gauge.h. */
#include "agent/gauge.h"

#include "agent/emit.h"
#include "agent/metadata.h"
#include "agent/runtime.h"
#include "agent/tasklist.h"
#include "agent/track.h"

/* A read in the middle of a change says nothing: such a sample is left out, and only when they go
 * on is the value unknown again. */
#define MISSES_MAX 10

static bool is_passing(struct runtime_sampled *was, uint32_t owner_id, int64_t depth, int64_t alive)
{
	if (was->owner_id != owner_id)
		*was = (struct runtime_sampled){.owner_id = owner_id};
	if ((depth < 0 && was->has_depth) || (alive < 0 && was->has_alive)) {
		if (was->missed++ < MISSES_MAX)
			return true;
	}
	*was = (struct runtime_sampled){owner_id, depth >= 0, alive >= 0, 0};
	return false;
}

static void tell_field(struct metadata *m, const char *field, bool is_unknown)
{
	if (is_unknown)
		metadata_add(m, "agent.unknown", field);
	else
		metadata_drop(m, "agent.unknown", field);
}

void gauges_sample(struct runtimes *rs, const struct track_options *o, struct emit *e,
		   const struct tasklists *lists, uint64_t now_ns, bool has_all)
{
	static const char depths[] = "RuntimeMetricsEvent.global_queue_depth";
	static const char alives[] = "RuntimeMetricsEvent.alive_tasks";
	struct metadata *m = emit_metadata(e);
	bool has_depths = true, has_alives = true, has_sample = false;
	struct runtime *rt;
	uint32_t at = 0;

	while ((rt = runtimes_next(rs, &at))) {
		int64_t depth = -1, alive = -1;
		const struct tasklist *list;

		if (!rt->owner_id)
			continue;
		list = tasklists_by_owner(lists, rt->owner_id);
		o->ops->runtime(o->ctx, rt->scheduler, rt->owner_id, list ? list->owned_tasks : 0,
				&depth, &alive);
		if (alive < 0 && has_all && list)
			alive = list->alive;
		if (is_passing(&rt->sampled, rt->owner_id, depth, alive))
			continue;
		has_sample = true;
		has_depths &= depth >= 0;
		has_alives &= alive >= 0;
		if (depth < 0)
			tell_field(m, depths, true);
		if (alive < 0)
			tell_field(m, alives, true);
		emit_tell(e, now_ns);
		emit_put_runtime_metrics(
			e, now_ns,
			&(struct d9_runtime_metrics){
				.runtime_name = rt->name,
				.global_queue_depth = depth < 0 ? 0 : (uint32_t)depth,
				.alive_tasks = alive < 0 ? 0 : (uint32_t)alive});
	}
	if (!has_sample)
		return;
	/* the next ones' values: one that is not known again says so before it is written */
	if (has_depths)
		tell_field(m, depths, false);
	if (has_alives)
		tell_field(m, alives, false);
}
