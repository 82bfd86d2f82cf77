/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passed.h - what the filters let pass of a recording, by task type: polls, busy time, waits.
 */
#ifndef DIAL9_PASSED_H
#define DIAL9_PASSED_H

#include <stdbool.h>
#include <stdint.h>

#include "filter.h"
#include "typetable.h"

struct progress;
struct report;
struct request;

struct passed {
	struct report *report; /* borrowed */
	struct filter filter;
	uint64_t span_ns; /* looked at */
	struct type_row *types; /* by row of the type table; only polls, busy_ns, poll and wait */
	uint32_t types_cnt;
	bool has_base;
	int err;
};

/* Reads the recording of a fresh report, which stays whole. *p is zero before; passed_done frees
 * what it holds in either case. Where nothing is asked for, nothing is added up. 0 or -ENOMEM. */
int passed_read(struct passed *p, struct report *r, const struct request *req,
		struct progress *progress);
void passed_done(struct passed *p);

/* A row of the report's type table, as far as it passes; NULL: nothing of it does. */
const struct type_row *passed_type(struct passed *p, uint32_t row);

#endif /* DIAL9_PASSED_H */
