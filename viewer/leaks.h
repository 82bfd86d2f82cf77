/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaks.h - tasks that do not end, and tasks that hardly live, by type.
 *
 * Only tasks whose spawn was seen count: of others it is not known how old they are. alive[] counts
 * those spawned and not ended at a quarter, half, three quarters and the end of the time looked at.
 * It is a leak if it grew in each of the last three quarters, to more than twice the first quarter's
 * and by 100 and more. Churn: tasks that ended within LEAKS_CHURN_NS of their spawn after one poll.
 */
#ifndef DIAL9_LEAKS_H
#define DIAL9_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

struct columns;
struct scope;

#define LEAKS_CHURN_NS 100000ull
#define LEAKS_QUARTERS 4

struct leaks_type {
	uint32_t place; /* text */
	uint64_t spawned, ended, churn;
	uint64_t alive[LEAKS_QUARTERS];
	uint64_t oldest_ns, ages_ns; /* of those alive at the end: the greatest age, the sum */
	bool is_leak;
};

struct leaks {
	struct leaks_type *at; /* most alive at the end first */
	uint32_t cnt;
	uint64_t unseen; /* tasks whose spawn was not seen */
};

/* 0 or -ENOMEM; leaks_done frees in either case. */
int leaks_of(const struct columns *c, const struct scope *s, struct leaks *ret);
void leaks_done(struct leaks *l);

#endif /* DIAL9_LEAKS_H */
