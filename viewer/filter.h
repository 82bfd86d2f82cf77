/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - which part of a recording an analysis looks at: --from --to --task --type --worker
 * --runtime, of the same meaning everywhere.
 *
 * A poll counts by its start, a wait by its end (the start of the poll it leads to), a sample or a
 * time off CPU by its stamp; a worker's time is cut at both ends. What a filter asks and the
 * recording does not say (the worker of a sample off all workers) does not pass.
 */
#ifndef DIAL9_FILTER_H
#define DIAL9_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "moment.h"
#include "typetable.h"

struct d9_ev;
struct json;
struct labels;
struct request;

struct filter {
	const struct request *req;
	uint64_t from_ns, to_ns; /* absolute, once filter_base was told the start */
	uint8_t workers[MOMENT_WORKERS_MAX / 8]; /* bit set: of the runtime asked for */
	uint8_t types[TYPETABLE_MAX]; /* by row: 0 not yet looked at, 1 passes, 2 does not */
};

void filter_init(struct filter *f, const struct request *req);

/* Relative times count from here. */
void filter_base(struct filter *f, uint64_t first_ns);

/* Learns a runtime's workers from SegmentMetadataEvent; other events are passed over. */
void filter_event(struct filter *f, const struct d9_ev *ev);

bool filter_has_any(const struct filter *f); /* is anything asked at all? */
bool filter_time(const struct filter *f, uint64_t ts_ns);
bool filter_worker(const struct filter *f, uint32_t worker);
bool filter_task(const struct filter *f, uint64_t task);

/* `row` of the type table, TASK_TYPE_NONE passes only where no type is asked for. */
bool filter_type(struct filter *f, const struct typetable *types, const struct labels *labels,
		 uint32_t row);

/* All four at once. */
bool filter_passes(struct filter *f, const struct typetable *types, const struct labels *labels,
		   uint32_t worker, uint64_t task, uint32_t row, uint64_t ts_ns);

/* What is asked, as text on a line of its own (nothing if nothing is) and as the keys of a map. */
void filter_text(FILE *out, const struct filter *f);
void filter_json(struct json *j, const struct filter *f);

#endif /* DIAL9_FILTER_H */
