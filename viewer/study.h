/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study.h - the frame of an analysis command: reads each recording, filters, decomposes, prints.
 *
 * A command is a table of functions. Its own state is study.own, made zero by the frame for each
 * recording. Functions may be NULL; an analysis that runs out of memory sets study.err.
 */
#ifndef DIAL9_STUDY_H
#define DIAL9_STUDY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "behind.h"
#include "filter.h"
#include "watch.h"

struct d9_ev;
struct json;
struct report;
struct request;
struct traceset;
struct worker_poll;

struct study {
	const struct request *req;
	struct report *report; /* whole once the recording is read, unfiltered */
	struct filter filter;
	struct behind *behind; /* NULL unless asked for */
	void *own, *ctx;
	uint64_t base_ns; /* what relative times count from */
	bool has_base;
	int exit_code; /* of this recording */
	int err;
};

struct study_ops {
	const char *schema; /* of the JSON */
	void *ctx; /* study.ctx: of who runs the command */
	size_t own_sz;
	bool with_stacks, with_behind;
	bool is_bare; /* the text is for a tool or a script: nothing stands above it */
	/* what passes the filter, as in watch.h; parts is NULL without with_behind */
	void (*slice)(struct study *s, const struct watch_slice *slice);
	void (*poll)(struct study *s, uint32_t worker, const struct worker_poll *p,
		     uint64_t end_ns);
	void (*wait)(struct study *s, const struct watch_wait *w, const struct behind_parts *parts);
	void (*harm)(struct study *s, const struct behind_harm *h);
	void (*off)(struct study *s, const struct moment *m, uint32_t type);
	void (*sample)(struct study *s, const struct moment *m, uint32_t worker, uint32_t type);
	void (*moment)(struct study *s, const struct moment *m); /* by time only */
	void (*event)(struct study *s, const struct d9_ev *ev); /* not filtered */
	int (*finish)(struct study *s); /* all is read: sort. 0 or -ENOMEM */
	void (*text)(FILE *out, struct study *s);
	void (*json)(struct json *j, struct study *s); /* keys of the recording's map */
	void (*done)(struct study *s);
};

/* Returns an exit code of notice.h. */
int study_run(const struct request *req, const struct traceset *set, const struct study_ops *ops);

/* ---- words that all of them use ---- */

/* "+1.234567 s" since the recording's start. */
void study_when(FILE *out, const struct study *s, uint64_t ts_ns);

/* The name of a task type, its end if it is longer than `columns`. */
void study_type(FILE *out, const struct study *s, uint32_t row, uint32_t columns);
void study_json_type(struct json *j, const struct study *s, const char *key, uint32_t row);

#define STUDY_HANDLE_SZ 48
/* "p:812.17": the 17th poll seen of task 812. Returns `to`. */
const char *study_poll_handle(char to[STUDY_HANDLE_SZ], uint64_t task, uint32_t nr);

/* "  name value": a duration, "-" where it is not known. */
void study_duration(FILE *out, int width, bool is_known, uint64_t ns);

/* Rows to be printed of `cnt`, and the line that says how many are not. */
uint64_t study_rows(const struct study *s, uint64_t cnt);
void study_more(FILE *out, const struct study *s, uint64_t cnt);

#endif /* DIAL9_STUDY_H */
