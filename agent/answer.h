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

/* ctx is a struct answer. */
extern const struct track_ops answer_ops;

#endif /* DIAL9_ANSWER_H */
