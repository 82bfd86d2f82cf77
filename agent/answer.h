/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - what track asks about a target (struct track_ops), answered from its plan, its
 * memory and its symbols. Answers are slow and asked once; nothing here is on the event path.
 */
#ifndef DIAL9_ANSWER_H
#define DIAL9_ANSWER_H

#include "track.h"

struct plan;
struct probe;
struct roster;
struct seats;
struct symbols;
struct target;

struct answer { /* all borrowed */
	const struct target *target;
	const struct plan *plan;
	struct probe *probe;
	struct roster *roster;
	struct seats *seats;
	struct symbols *symbols; /* NULL = none */
};

#define ANSWER_PREPARE_NS 50000000ull

/* Names future types before the probes go live, so that no look-up delays the first drain; stops
 * after ANSWER_PREPARE_NS, the rest is named when asked for. */
void answer_prepare(struct answer *a);

/* ctx is a struct answer. */
extern const struct track_ops answer_ops;

#endif /* DIAL9_ANSWER_H */
