/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.h - which threads show one task in all their CPU samples, and for how long.
 *
 * Without probes that is the only sign of a long poll that computes. A task that only yields, or
 * wakes itself at once, looks the same: it is a reason to look closer, no finding.
 */
#ifndef DIAL9_BUSY_H
#define DIAL9_BUSY_H

#include <stdint.h>

#define BUSY_THREADS_MAX 64 /* two threads that share a place end each other's runs */
#define BUSY_GAP_FACTOR 3 /* no sample for so many periods: the thread was off its CPU */

struct busy { /* zero, but for period_ns */
	uint64_t period_ns; /* from one CPU sample of a thread to its next; 0 = there are none */
	struct busy_run {
		uint32_t tid;
		uint64_t task, first_ns, last_ns;
	} runs[BUSY_THREADS_MAX];
};

/* A sample of thread `tid` shows `task` (0 = none). For how long has it been nothing else? At least
 * so many ns: from the first sample of the run to this one. */
uint64_t busy_sample(struct busy *b, uint32_t tid, uint64_t task, uint64_t ts_ns);

#endif /* DIAL9_BUSY_H */
