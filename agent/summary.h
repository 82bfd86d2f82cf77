/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - the account given at the end of a recording: what was produced, written and lost.
 */
#ifndef DIAL9_SUMMARY_H
#define DIAL9_SUMMARY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SUMMARY_LOSSES_MAX 64 /* distinct (kind, cause) pairs; the last one gathers the rest */

struct emit;
struct segments;
struct target;
struct track;
struct wire_head;

struct summary_loss {
	const char *kind, *cause; /* string literals */
	uint64_t cnt;
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
void summary_lost(struct summary *s, const char *kind, const char *cause, uint64_t cnt);

/* Probe hits so far: records made by a uprobe, those lost, and hits that are no record. */
uint64_t summary_hits(const struct summary *s);

/* `hit_cost_ns` as measured at start-up (features.hit_cost_ns), 0 = unknown. */
void summary_print(const struct summary *s, FILE *out, const struct target *target,
		   const struct track *track, const struct emit *emit,
		   const struct segments *segments, uint64_t now_ns, uint32_t hit_cost_ns);

#endif /* DIAL9_SUMMARY_H */
