/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ladder.h - the level of detail at which a target is recorded, changed while it runs.
 *
 * Below polls lies what is left of it where a few hot types are too dear: poll starts of the other
 * types, and the ends that their own poll functions show (polltypes.h): the types are *kept*, the hot
 * ones are dropped to stat.
 *
 * Each level holds the sites of the one below it and some more (its rung), which are attached and
 * removed as one group of probe.h, numbered like the level; the kept types' sites are groups of their own behind them, two in turns.
 * What a change means for records already on their way is decided by time: the change is handed on
 * to emit and track between the last record before it and the first one after.
 */
#ifndef DIAL9_LADDER_H
#define DIAL9_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"

struct answer;
struct emit;
struct emit_level;
struct ladder;
struct polltypes;
struct probe;
struct target;
struct track;
struct track_level;

#define LADDER_DROPS_MAX 64 /* types named as dropped; further ones are counted */
#define LADDER_CHANGES_MAX 16 /* on their way at once (50 ms); a further one has to wait */

struct ladder_options {
	struct probe *probe;
	unsigned slot;
	const struct target *target;
	const struct plan *plan; /* its level is the highest that can be reached */
	const struct polltypes *types; /* of that plan */
	struct answer *answer; /* for their names */
	bool has_cpu; /* CPU samples are taken */
	bool has_task_events;
};

/* Takes the target on in the probe and puts the sites of `level` in; the gate stays closed. All
 * borrowed. On failure (logged) nothing stays. */
int ladder_open(const struct ladder_options *o, enum plan_level level, struct ladder **ret);
/* Leaves the sites where they are: probe_detach takes them out. */
void ladder_close(struct ladder *l);

/* The level that holds for all types. */
enum plan_level ladder_now(const struct ladder *l);
bool ladder_is_at(const struct ladder *l, enum plan_level level); /* and no types are kept */

/*
 * Goes to another level at once. `reason` is a literal. 0; -EAGAIN: too many changes on their way;
 * or the failure of an attach (logged): the level is then as before. Takes some ms to tens of ms.
 */
int ladder_go(struct ladder *l, enum plan_level level, const char *reason);
/* The same, to all types but the dropped ones: is_dropped[type]. Those without ends of their own are
 * dropped too. */
int ladder_keep(struct ladder *l, const bool *is_dropped, const char *reason);

/* Stamp of the oldest change that has not been handed on, UINT64_MAX = none. */
uint64_t ladder_due_ns(const struct ladder *l);
/* Hands on every change up to ts_ns: agent:Level, then track_level. */
void ladder_pass(struct ladder *l, uint64_t ts_ns, struct emit *e, struct track *t);

/* "stat", "polls", "wakes", "full" */
const char *ladder_level_name(enum plan_level level);

/* What the level that holds now means to those to the right. */
void ladder_describe(const struct ladder *l, const char *reason, struct emit_level *ret);
void ladder_track_level(const struct ladder *l, struct track_level *ret);

#endif /* DIAL9_LADDER_H */
