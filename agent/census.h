/* SPDX-License-Identifier: Apache-2.0 */
/*
 * census.h - how many tasks wait in a runtime's inject queue, and how many are alive in it.
 *
 * Both counts are words of the runtime's Handle. Which words is learnt: a linked list of real
 * tasks is walked, and the word that equals its length, again and again, is the count. Until then
 * the count is unknown. Tokio before 1.29 counts no live tasks, and its current_thread runtime
 * has another inject queue: those stay unknown.
 */
#ifndef DIAL9_CENSUS_H
#define DIAL9_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"
#include "remotes.h"

#define CENSUS_WALK_MAX 512 /* tasks walked to learn a count; longer lists teach nothing */
#define CENSUS_TRIES_MAX 200 /* fruitless walks of a kind; then only every 64th call walks */
#define CENSUS_WORDS REMOTES_HANDLE_WORDS

struct plan;

enum census_owned { CENSUS_NONE, CENSUS_SHARDED, CENSUS_COUNTED };

struct census { /* what is learnt of one build's Handle, of one flavor; all 0 = nothing */
	/* inject queue: head and tail stand side by side */
	bool has_len;
	uint16_t ends, len; /* word indexes */
	uint32_t seen; /* length at the first observation, 0 = none yet */
	uint64_t may_be[CENSUS_WORDS / 64]; /* words that still can be the length */
	/* what the two words at an index were, mixed, when they were the ends of no chain: most are
	 * two addresses of other things, which stay, and are looked at a hundred times a second */
	uint64_t fruitless[CENSUS_WORDS];
	/* OwnedTasks */
	enum census_owned owned;
	uint16_t list, count; /* word indexes: (slice, shards) or (head, tail); the count */
	uint16_t owner; /* COUNTED: word index of the owner id */
	bool has_added; /* SHARDED: two words, all ever added and alive, in unknown order */
	uint32_t calls, inject_tries, owned_tries;
};

struct census_count {
	bool is_known;
	uint32_t cnt;
};

/* The Handle as read just now: `cnt` words at `addr`. */
struct census_handle {
	struct memory *m;
	const struct plan *plan;
	uint64_t addr, owner_id, owned_tasks; /* the latter two: 0 = unknown */
	const uint64_t *words;
	int cnt;
};

/* Tasks in the inject queue. While it is not known a queue that is not empty is walked. */
struct census_count census_inject(struct census *c, const struct census_handle *h);

/* Tasks alive. Needs owner_id. */
struct census_count census_alive(struct census *c, const struct census_handle *h);

/* A list of tasks or a sharded list with its owner id stands in the Handle: what every runtime's
 * has. */
bool census_has_owned(const struct census_handle *h);

#endif /* DIAL9_CENSUS_H */
