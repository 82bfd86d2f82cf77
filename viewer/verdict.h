/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - why a poll was long: the largest of what its thread did meanwhile.
 */
#ifndef DIAL9_VERDICT_H
#define DIAL9_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

struct worker_poll;

enum verdict {
	VERDICT_UNKNOWN, /* neither times off CPU nor enough samples tell */
	VERDICT_COMPUTE, /* it ran */
	VERDICT_BLOCKING, /* off CPU in a system call other than futex, or in none (page fault) */
	VERDICT_LOCK, /* off CPU in futex */
	VERDICT_PREEMPTED, /* runnable, but another thread had the CPU */
};
#define VERDICT_CNT 5

/* A poll of `ns`. Without times off CPU (has_off), two samples inside it say "compute". */
enum verdict verdict_of(const struct worker_poll *p, uint64_t ns, bool has_off);

/* The parts of a poll whose times off CPU are known; they sum to ns. ret[VERDICT_UNKNOWN] is 0. */
void verdict_parts(const struct worker_poll *p, uint64_t ns, uint64_t ret[VERDICT_CNT]);

/* "compute", "blocking", "lock", "preempted", "unknown". */
const char *verdict_name(enum verdict v);

#endif /* DIAL9_VERDICT_H */
