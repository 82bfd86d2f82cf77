/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buildup.h - queues that grew: the injection queue of each runtime, the own queue of each worker.
 *
 * The injection queue is sampled: a build-up is a run of samples one after the other of more than
 * BUILDUP_DEPTH tasks; it lasts from the first of them to the first below again (or the last
 * sample). A worker's own queue is known at the start of each poll, where the recorder read it.
 */
#ifndef DIAL9_BUILDUP_H
#define DIAL9_BUILDUP_H

#include <stdint.h>

struct columns;
struct scope;

#define BUILDUP_DEPTH 100u

struct buildup_queue {
	uint32_t key; /* text of the runtime, or row of lanes */
	uint64_t samples, sum, max, max_at_ns;
	uint64_t unknown; /* poll starts that do not tell; of injection queues 0 */
	uint64_t cnt, ns, longest_ns, longest_at_ns; /* build-ups */
	uint64_t since_ns; /* of the one under way, 0 none */
	uint64_t last_ns;
};

struct buildup {
	struct buildup_queue *global, *local; /* deepest first */
	uint32_t global_cnt, local_cnt;
};

/* 0 or -ENOMEM; buildup_done frees in either case. */
int buildup_of(const struct columns *c, const struct scope *s, struct buildup *ret);
void buildup_done(struct buildup *b);

#endif /* DIAL9_BUILDUP_H */
