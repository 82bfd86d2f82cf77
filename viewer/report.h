/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - `dial9-view report`: one page about each recording.
 *
 * One pass over the files, in bounded memory: a window that sorts by time (reorder.h), a table of
 * living tasks, histograms per type. What a cap left out is said in the report.
 */
#ifndef DIAL9_REPORT_H
#define DIAL9_REPORT_H

#include "account.h"
#include "coverage.h"
#include "facts.h"
#include "seam.h"

struct json;
struct labels;
struct progress;
struct relay;
struct request;
struct stacktable;
struct traceset;
struct traceset_recording;
struct watch;

#define REPORT_SCHEMA "dial9-view.report/1" /* of the JSON; keys are added, never changed */

struct report {
	const struct traceset_recording *recording;
	struct labels *labels;
	struct coverage coverage;
	struct account account;
	struct facts facts;
	struct seam seam;
	struct report_sample { /* the last agent:Sample: its CPU sample follows */
		uint64_t ts_ns, task;
		uint32_t tid;
	} sample;
	struct relay *relay;
	struct stacktable *stacks; /* NULL: not kept */
	uint64_t span_ns; /* last minus first stamp */
	bool has_waits; /* wakes were recorded: that a task was not woken is known */
	bool has_polls; /* polls were recorded */
	uint64_t sample_ns; /* of CPU for which a CPU sample stands; 0 = unknown */
	uint64_t blind_ns; /* time in which they were not, by the level */
	bool has_off; /* times without CPU inside polls were */
	/* made by report.c when all is read: row numbers of the types with tasks or polls, most
	 * busy first; those with blocking tasks, longest run first; ids of the workers seen */
	uint32_t *types, types_cnt;
	uint32_t *blocking, blocking_cnt;
	uint32_t *workers, workers_cnt;
	uint32_t off[MOMENT_SYSCALL + MOMENT_SYSCALL_MAX + 1],
		off_cnt; /* of account.off, longest first */
	struct leaf_row *leaves;
	uint32_t leaves_cnt;
	uint64_t busy_ns; /* of all types */
	int exit_code;
};

/* An empty one for a recording, or NULL: out of memory. with_stacks keeps whole stacks, not only
 * their tops. report_free accepts NULL. */
struct report *report_new(const struct traceset_recording *rec, bool with_stacks);
void report_free(struct report *r);

/* Reads the recording, telling `watch` (or NULL) what comes, and works everything out. Once.
 * 0 or -ENOMEM. progress may be NULL. */
int report_read(struct report *r, const struct watch *watch, struct progress *progress);

/* Returns an exit code of notice.h. */
int report_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_REPORT_H */
