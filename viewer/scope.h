/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - which rows of a recording's columns the filters let pass: --from --to --task --type
 * --worker --runtime, of the same meaning as filter.h gives them for events.
 *
 * A poll counts by its start, a wake and a sample by their stamp, a time off CPU by its end, a
 * park if any of it lies within. Parks and samples of queues belong to no task: filters by task
 * or type leave them. Other records are told apart by time alone.
 */
#ifndef DIAL9_SCOPE_H
#define DIAL9_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

struct columns;
struct request;

struct scope {
	const struct columns *c; /* borrowed */
	uint64_t from_ns, to_ns; /* absolute */
	uint8_t *lanes; /* by row: passes; NULL: all do */
	uint8_t *places; /* by text: a type that passes; NULL: all do */
	bool has_task;
	uint32_t task; /* COLUMNS_NONE: no such task, nothing passes */
	const char *runtime; /* NULL: any */
};

/* What relative times count from: the first event, clock pairs and records included. */
uint64_t scope_base(const struct columns *c);

/* 0 or -ENOMEM. scope_done frees what it holds, in either case. */
int scope_init(struct scope *s, const struct columns *c, const struct request *req);
void scope_done(struct scope *s);

bool scope_has_any(const struct scope *s); /* is anything asked at all? */
bool scope_time(const struct scope *s, uint64_t ns);
bool scope_lane(const struct scope *s, uint32_t lane);
bool scope_task(const struct scope *s, uint32_t task); /* by id and type; COLUMNS_NONE: no task */
bool scope_place(const struct scope *s, uint32_t place);

/* Does a row of a table (tables.h) pass? Tables that no filter is about pass whole. */
bool scope_row(const struct scope *s, uint32_t table, uint32_t row);

#endif /* DIAL9_SCOPE_H */
