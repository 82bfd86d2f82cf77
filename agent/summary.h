/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - the account given at the end of a recording: what was produced, written and lost.
 */
#ifndef DIAL9_SUMMARY_H
#define DIAL9_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emit.h"
#include "overhead.h"
#include "segment.h"
#include "track.h"

#define SUMMARY_LOSSES_MAX 64 /* distinct (kind, cause) pairs; the last one gathers the rest */

struct emit;
struct segments;
struct target;
struct track;
struct wire_head;

struct summary_loss {
	const char *kind, *cause; /* string literals */
	uint64_t cnt;
	bool is_flaw; /* the event is in the trace, but not whole, or out of order */
};

struct summary {
	uint64_t start_ns, attach_ns; /* recording since; time the attach took */
	uint64_t end_ns; /* of the recording, before the probes were taken out; 0 = it goes on */
	uint64_t agent_cpu_ns; /* of this process when the recording began */
	size_t sites_cnt;
	uint64_t records[32]; /* by enum wire_kind */
	uint64_t records_sz;
	uint64_t raised, unpaired; /* hits that are no record */
	struct summary_loss losses[SUMMARY_LOSSES_MAX];
	size_t losses_cnt;
	char task_word[200]; /* one line on the task id in thread-local storage, "" = none */
};

void summary_begin(struct summary *s, uint64_t now_ns, uint64_t attach_from_ns, size_t sites_cnt);
void summary_count(struct summary *s, const struct wire_head *rec);
void summary_lost(struct summary *s, const char *kind, const char *cause, uint64_t cnt,
		  bool is_flaw);

/* Probe hits so far: records made by a uprobe, those lost, and hits that are no record. */
uint64_t summary_hits(const struct summary *s);

struct summary_facts { /* all that is told at the end, gathered once */
	int pid;
	const char *path; /* of the trace; borrowed from the segments */
	double secs;
	uint64_t hits, records, cpu_ns; /* cpu: of the whole agent since this recording began */
	uint64_t peak_sz; /* most memory the agent ever held, all recordings; 0 = unknown */
	uint32_t hit_cost_ns; /* 0 = unknown */
	uint64_t unwritten; /* events that the disk refused */
	struct track_stats track;
	struct emit_stats emit;
	struct segment_stats segments;
	struct overhead_sums cost;
	double max_overhead; /* 0 = no budget */
};

/* `hit_cost_ns` as measured at start-up (features.hit_cost_ns). */
void summary_gather(const struct summary *s, const struct target *target, const struct track *track,
		    const struct emit *emit, const struct segments *segments, uint64_t now_ns,
		    uint32_t hit_cost_ns, struct summary_facts *ret);

/* Wire name of each event, by enum d9_event. */
extern const char *const summary_events[D9_EV_CNT];

void summary_print(const struct summary *s, const struct summary_facts *f, FILE *out);
/* One document on one line; what is unknown is null. summary_json.c. */
void summary_print_json(const struct summary *s, const struct summary_facts *f, FILE *out);

#endif /* DIAL9_SUMMARY_H */
