// SPDX-License-Identifier: Apache-2.0
#include "summary.h"

#include <inttypes.h>
#include <string.h>

#include <linux/types.h>

#include "bpf/wire.h"
#include "clock.h"
#include "emit.h"
#include "event.h"
#include "segment.h"
#include "target.h"
#include "track.h"

_Static_assert(WIRE_KIND_CNT <= 32, "summary.records is too small");

static const char *const summary_events[D9_EV_CNT] = {
#define D9_EVENT(NAME, name, wire, use, doc) [D9_EV_##NAME] = wire,
#define D9_FIELD(name, field, type, doc)
#define D9_END(name)
#include "format/records.def"
#undef D9_EVENT
#undef D9_FIELD
#undef D9_END
};

void summary_begin(struct summary *s, uint64_t now_ns, uint64_t attach_from_ns, size_t sites_cnt)
{
	*s = (struct summary){
		.start_ns = now_ns,
		.attach_ns = now_ns - attach_from_ns,
		.agent_cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID),
		.sites_cnt = sites_cnt,
	};
}

void summary_count(struct summary *s, const struct wire_head *rec)
{
	s->records[rec->kind]++;
}

void summary_lost(struct summary *s, const char *kind, const char *cause, uint64_t cnt)
{
	size_t i;

	for (i = 0; i < s->losses_cnt; i++)
		if (!strcmp(s->losses[i].kind, kind) && !strcmp(s->losses[i].cause, cause))
			break;
	if (i == SUMMARY_LOSSES_MAX)
		i--;
	if (i == s->losses_cnt)
		s->losses[s->losses_cnt++] = (struct summary_loss){ .kind = kind, .cause = cause };
	s->losses[i].cnt += cnt;
}

uint64_t summary_hits(const struct summary *s)
{
	static const uint8_t kinds[] = { WIRE_POLL_START, WIRE_POLL_END, WIRE_WAKE, WIRE_SPAWN_ID,
					 WIRE_BIND, WIRE_SHUTDOWN };
	uint64_t hits = s->raised + s->unpaired;

	for (size_t i = 0; i < sizeof(kinds); i++)
		hits += s->records[kinds[i]];
	for (size_t i = 0; i < s->losses_cnt; i++)
		for (size_t k = 0; k < sizeof(kinds); k++)
			if (!strcmp(s->losses[i].kind, event_name(kinds[k])))
				hits += s->losses[i].cnt;
	return hits;
}

static void summary_print_events(const struct emit_stats *es, FILE *out)
{
	uint64_t total = 0;

	for (int i = 0; i < D9_EV_CNT; i++)
		total += es->events[i];
	fprintf(out, "  events      %" PRIu64 "\n", total);
	for (int i = 0; i < D9_EV_CNT; i++)
		if (es->events[i])
			fprintf(out, "    %-24s %12" PRIu64 "\n", summary_events[i], es->events[i]);
}

static void summary_print_losses(const struct summary *s, const struct emit_stats *es, FILE *out)
{
	uint64_t unwritten = 0;

	for (int i = 0; i < D9_EV_CNT; i++)
		unwritten += es->lost[i];
	if (!s->losses_cnt && !unwritten) {
		fprintf(out, "  lost        0\n");
		return;
	}
	fprintf(out, "  lost\n");
	for (size_t i = 0; i < s->losses_cnt; i++)
		fprintf(out, "    %-12s %-28s %12" PRIu64 "\n", s->losses[i].kind, s->losses[i].cause,
			s->losses[i].cnt);
	if (unwritten)
		fprintf(out, "    %-12s %-28s %12" PRIu64 "\n", "events", "not written to disk", unwritten);
}

void summary_print(const struct summary *s, FILE *out, const struct target *target,
		   const struct track *track, const struct emit *emit,
		   const struct segments *segments, uint64_t now_ns, uint32_t hit_cost_ns)
{
	double secs = (double)((s->end_ns ? s->end_ns : now_ns) - s->start_ns) / CLOCK_SEC_NS;
	uint64_t cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - s->agent_cpu_ns;
	uint64_t hits = summary_hits(s), records = 0;
	struct segment_stats ss;
	struct track_stats ts;
	struct emit_stats es;

	segments_stats(segments, &ss);
	track_stats(track, &ts);
	emit_stats(emit, &es);
	for (int i = 0; i < WIRE_KIND_CNT; i++)
		records += s->records[i];
	if (secs <= 0)
		secs = 1e-9;
	fprintf(out, "recorded pid %d for %.1f s into %s\n", target->pid, secs, segments_path(segments));
	summary_print_events(&es, out);
	summary_print_losses(s, &es, out);
	fprintf(out, "  unsure      %" PRIu64 " poll ends inferred, %" PRIu64 " polls on an unknown worker\n",
		ts.inferred_ends, ts.unknown_worker);
	if (s->task_word[0])
		fprintf(out, "  task word   %s\n", s->task_word);
	fprintf(out, "  disk        %" PRIu64 " bytes in segment files, %" PRIu64 " segments evicted\n",
		ss.written_sz, ss.evicted_cnt);
	fprintf(out, "  probes      %zu sites, %" PRIu64 " hits (%.0f/s), attached in %.0f ms\n",
		s->sites_cnt, hits, (double)hits / secs, (double)s->attach_ns / 1e6);
	fprintf(out, "  agent       %.2f s CPU (%.1f %% of one core, %.0f ns a record)\n",
		(double)cpu_ns / CLOCK_SEC_NS, (double)cpu_ns / 1e7 / secs,
		records ? (double)cpu_ns / (double)records : 0.0);
	if (hit_cost_ns)
		fprintf(out, "  target      about %.2f s CPU added (%.1f %% of one core): hits x %u ns, an "
			     "empty probe here\n",
			(double)hits * hit_cost_ns / CLOCK_SEC_NS,
			(double)hits * hit_cost_ns / 1e7 / secs, hit_cost_ns);
}
