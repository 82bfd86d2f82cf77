// SPDX-License-Identifier: Apache-2.0
#include "summary.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include <linux/types.h>

#include "bpf/wire.h"
#include "budget.h"
#include "clock.h"
#include "event.h"
#include "target.h"

_Static_assert(WIRE_KIND_CNT <= 32, "summary.records is too small");

const char *const summary_events[D9_EV_CNT] = {
#define D9_EVENT(NAME, name, wire, use, doc) [D9_EV_##NAME] = wire,
#include "format/records.def"
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

void summary_lost(struct summary *s, const char *kind, const char *cause, uint64_t cnt, bool is_flaw)
{
	size_t i;

	for (i = 0; i < s->losses_cnt; i++)
		if (!strcmp(s->losses[i].kind, kind) && !strcmp(s->losses[i].cause, cause))
			break;
	if (i == SUMMARY_LOSSES_MAX)
		i--;
	if (i == s->losses_cnt)
		s->losses[s->losses_cnt++] = (struct summary_loss){ .kind = kind,
								  .cause = cause,
								  .is_flaw = is_flaw };
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

static void summary_print_losses(const struct summary *s, const struct summary_facts *f, FILE *out)
{
	const char *title[] = { "  lost        ", "  flawed      " };

	for (int is_flaw = 0; is_flaw < 2; is_flaw++) {
		uint64_t total = is_flaw ? 0 : f->unwritten;

		for (size_t i = 0; i < s->losses_cnt; i++)
			total += s->losses[i].is_flaw == is_flaw ? s->losses[i].cnt : 0;
		if (total || !is_flaw)
			fprintf(out, "%s%" PRIu64 "\n", title[is_flaw], total);
		for (size_t i = 0; i < s->losses_cnt; i++)
			if (s->losses[i].is_flaw == is_flaw)
				fprintf(out, "    %-11s %-28s %12" PRIu64 "\n", s->losses[i].kind,
					s->losses[i].cause, s->losses[i].cnt);
		if (!is_flaw && f->unwritten)
			fprintf(out, "    %-11s %-28s %12" PRIu64 "\n", "events", "not written to disk",
				f->unwritten);
	}
}

void summary_gather(const struct summary *s, const struct target *target, const struct track *track,
		    const struct emit *emit, const struct segments *segments, uint64_t now_ns,
		    uint32_t hit_cost_ns, struct summary_facts *ret)
{
	struct rusage usage;

	*ret = (struct summary_facts){
		.pid = target->pid,
		.path = segments_path(segments),
		.secs = (double)((s->end_ns ? s->end_ns : now_ns) - s->start_ns) / CLOCK_SEC_NS,
		.hits = summary_hits(s),
		.cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - s->agent_cpu_ns,
		.hit_cost_ns = hit_cost_ns,
	};
	if (ret->secs < 1e-9)
		ret->secs = 1e-9;
	if (!getrusage(RUSAGE_SELF, &usage))
		ret->peak_sz = (uint64_t)usage.ru_maxrss << 10;
	segments_stats(segments, &ret->segments);
	track_stats(track, &ret->track);
	emit_stats(emit, &ret->emit);
	for (int i = 0; i < WIRE_KIND_CNT; i++)
		ret->records += s->records[i];
	for (int i = 0; i < D9_EV_CNT; i++)
		ret->unwritten += ret->emit.lost[i];
}

/* A name from the command line, with what could drive a terminal replaced. */
static void summary_print_path(const char *path, FILE *out)
{
	for (; *path; path++)
		fputc((unsigned char)*path < 0x20 || *path == 0x7f ? '?' : *path, out);
}

static void summary_print_budget(const struct summary_facts *f, FILE *out)
{
	const struct overhead_sums *c = &f->cost;
	uint64_t own_ns = c->cpu_ns > c->cost_ns ? c->cpu_ns - c->cost_ns : 0;

	if (!c->is_known || !own_ns)
		return;
	fprintf(out, "  budget      %.1f %% of the target's CPU time: probes %.1f, switches and samples %.1f",
		100.0 * (double)c->cost_ns / (double)own_ns,
		100.0 * (double)(c->cost_ns - c->base_ns) / (double)own_ns,
		100.0 * (double)c->base_ns / (double)own_ns);
	if (f->max_overhead > 0)
		fprintf(out, ", %.4g %% allowed%s", 100 * f->max_overhead,
			(double)own_ns < BUDGET_IDLE_SHARE * f->secs * CLOCK_SEC_NS ?
				" of a tenth of a core, as for all that use less" :
				"");
	fprintf(out, ", %" PRIu64 " changes of level\n", c->changes_cnt);
}

void summary_print(const struct summary *s, const struct summary_facts *f, FILE *out)
{
	flockfile(out); /* recordings may end side by side */
	fprintf(out, "recorded pid %d for %.1f s into ", f->pid, f->secs);
	summary_print_path(f->path, out);
	fputc('\n', out);
	summary_print_events(&f->emit, out);
	summary_print_losses(s, f, out);
	fprintf(out,
		"  unsure      %" PRIu64 " poll ends inferred, %" PRIu64 " polls on an unknown worker\n",
		f->track.inferred_ends, f->track.unknown_worker);
	if (s->task_word[0])
		fprintf(out, "  task word   %s\n", s->task_word);
	fprintf(out, "  disk        %" PRIu64 " bytes in segment files, %" PRIu64 " segments evicted\n",
		f->segments.written_sz, f->segments.evicted_cnt);
	fprintf(out, "  probes      %zu sites, %" PRIu64 " hits (%.0f/s), attached in %.0f ms\n",
		s->sites_cnt, f->hits, (double)f->hits / f->secs, (double)s->attach_ns / 1e6);
	fprintf(out, "  agent       %.2f s CPU (%.1f %% of one core, %.0f ns a record), "
		"at most %.1f MiB of memory\n",
		(double)f->cpu_ns / CLOCK_SEC_NS, (double)f->cpu_ns / 1e7 / f->secs,
		f->records ? (double)f->cpu_ns / (double)f->records : 0.0, (double)f->peak_sz / (1 << 20));
	if (f->hit_cost_ns)
		fprintf(out,
			"  target      about %.2f s CPU added (%.1f %% of one core): hits x %u ns, "
			"an empty probe here\n",
			(double)f->hits * f->hit_cost_ns / CLOCK_SEC_NS,
			(double)f->hits * f->hit_cost_ns / 1e7 / f->secs, f->hit_cost_ns);
	summary_print_budget(f, out);
	funlockfile(out);
}
