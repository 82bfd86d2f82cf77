// SPDX-License-Identifier: Apache-2.0
/* verdict.c - the parts of a poll's time and the greatest of them. */
#include "verdict.h"

#include "workertable.h"

#define VERDICT_SAMPLES 2u /* one sample may be chance */

void verdict_parts(const struct worker_poll *p, uint64_t ns, uint64_t ret[VERDICT_CNT])
{
	uint64_t off_ns = p->off_ns < ns ? p->off_ns : ns;
	uint64_t preempted_ns = p->off_preempted_ns < off_ns ? p->off_preempted_ns : off_ns;
	uint64_t lock_ns =
		p->off_lock_ns < off_ns - preempted_ns ? p->off_lock_ns : off_ns - preempted_ns;

	ret[VERDICT_UNKNOWN] = 0;
	ret[VERDICT_COMPUTE] = ns - off_ns;
	ret[VERDICT_BLOCKING] = off_ns - preempted_ns - lock_ns;
	ret[VERDICT_LOCK] = lock_ns;
	ret[VERDICT_PREEMPTED] = preempted_ns;
}

enum verdict verdict_of(const struct worker_poll *p, uint64_t ns, bool has_off)
{
	uint64_t parts[VERDICT_CNT];
	enum verdict best = VERDICT_COMPUTE;

	if (!has_off && p->off_ns == 0)
		return p->samples >= VERDICT_SAMPLES ? VERDICT_COMPUTE : VERDICT_UNKNOWN;
	verdict_parts(p, ns, parts);
	for (int i = VERDICT_BLOCKING; i < VERDICT_CNT; i++)
		if (parts[i] > parts[best])
			best = i;
	return best;
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = { "unknown", "compute", "blocking", "lock",
					     "preempted" };

	return names[v];
}
