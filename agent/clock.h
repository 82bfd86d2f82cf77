/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - CLOCK_MONOTONIC, the one clock of records, events and files. */
#ifndef DIAL9_CLOCK_H
#define DIAL9_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_SEC_NS 1000000000ull

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * CLOCK_SEC_NS + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

#endif /* DIAL9_CLOCK_H */
