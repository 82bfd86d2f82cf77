/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inquiry.h - the frame of an analysis over columns: opens each recording, works, prints, closes.
 *
 * What study.h is for analyses that follow events. Own state is zero before `work`.
 */
#ifndef DIAL9_INQUIRY_H
#define DIAL9_INQUIRY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "recorded.h"
#include "scope.h"

struct columns;
struct json;
struct request;
struct traceset;

struct inquiry {
	const struct request *req;
	const struct columns *c;
	struct scope scope;
	struct recorded recorded;
	const char *name; /* of the recording */
	uint64_t base_ns; /* what relative times count from */
	void *own;
};

struct inquiry_ops {
	const char *schema; /* of the JSON */
	size_t own_sz;
	int (*work)(struct inquiry *q); /* 0 or -ENOMEM */
	void (*text)(FILE *out, const struct inquiry *q);
	void (*json)(struct json *j, const struct inquiry *q); /* keys of the recording's map */
	void (*done)(struct inquiry *q);
};

/* Returns an exit code of notice.h. */
int inquiry_run(const struct request *req, const struct traceset *set,
		const struct inquiry_ops *ops);

/* ---- words that all of them use ---- */

/* "+1.234567 s" since the recording's start. */
void inquiry_when(FILE *out, const struct inquiry *q, uint64_t ts_ns);

/* A space and a duration, "-" where it is not known. */
void inquiry_duration(FILE *out, int width, bool is_known, uint64_t ns);

/* The name of a task type (a text), its end if it is long; "-" for none. */
void inquiry_type(FILE *out, const struct inquiry *q, uint32_t place);
void inquiry_json_type(struct json *j, const struct inquiry *q, const char *key, uint32_t place);

#define INQUIRY_HANDLE_SZ 48
/* "p:812.17", as polls, waits and blame print it; "-" for COLUMNS_NONE and polls of no task. */
const char *inquiry_handle(char to[INQUIRY_HANDLE_SZ], const struct columns *c, uint32_t poll);

/* The poll that a handle names: the task's `nr`th seen on a worker; or COLUMNS_NONE. */
uint32_t inquiry_poll(const struct columns *c, uint64_t task, uint32_t nr);

/* Rows to be printed of `cnt`, and the line that says how many are not. */
uint32_t inquiry_rows(const struct inquiry *q, uint32_t cnt);
void inquiry_more(FILE *out, const struct inquiry *q, uint32_t cnt);

#endif /* DIAL9_INQUIRY_H */
