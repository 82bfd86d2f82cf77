/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - `dial9-view verify`: are the files whole, and do their events make sense?
 *
 * Prints the files, the events by name, each invariant and a verdict. Exit 3 if a file is damaged
 * (an .active file that is cut off is not: it is being written, or its recorder was killed), 1 if
 * an invariant is broken, else 0.
 */
#ifndef DIAL9_VERIFY_H
#define DIAL9_VERIFY_H

#include "coverage.h"
#include "facts.h"
#include "invariants.h"
#include "seam.h"

struct json;
struct labels;
struct parksums;
struct reorder;
struct request;
struct traceset;

#define VERIFY_SCHEMA "dial9-view.verify/1" /* of the JSON; keys are added, never changed */
#define VERIFY_NAMES_MAX 1024 /* event names counted one by one; more are counted together */

struct verify_name {
	uint32_t label;
	uint64_t cnt;
};

struct verify {
	const struct traceset_recording *recording;
	struct labels *labels;
	struct coverage coverage;
	struct facts facts;
	struct seam seam;
	struct invariants invariants;
	struct parksums *parksums;
	struct reorder *reorder;
	struct reader_end *ends; /* one for each file */
	struct verify_name names[VERIFY_NAMES_MAX + 1]; /* by label's text; the last: all others */
	uint32_t names_cnt;
	uint32_t last_name; /* index of the name last counted: a cache */
	const void *last_schema;
	uint64_t last_batch;
	bool has_unexplained; /* wakes, spawns and Alive are claimed: the count means something */
	int exit_code;
};

/* Returns an exit code of notice.h. */
int verify_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_VERIFY_H */
