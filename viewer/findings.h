/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - what is wrong: a list that the judges add to.
 */
#ifndef DIAL9_FINDINGS_H
#define DIAL9_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

struct pain_poll;
struct study;

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL };

#define FINDING_TEXT_SZ 256
#define FINDING_PLACE_SZ 384

struct finding {
	const char *kind; /* "long-poll", ...: a fixed word, see ANALYSES.md */
	enum severity severity;
	uint32_t type; /* row of the type table, TASK_TYPE_NONE: not about one type */
	char place[FINDING_PLACE_SZ]; /* system call and function, where they are known */
	char text[FINDING_TEXT_SZ]; /* what happened, in figures */
	const char *next; /* what to do about it or to look at */
	const char *explained; /* kind of the finding that explains this one, or NULL */
	uint64_t cnt, worst_ns, total_ns;
	bool has_task, has_worker, has_span; /* the evidence */
	uint64_t task, from_ns, to_ns;
	uint32_t nr, worker; /* nr: of the poll, 0 none */
};

#define FINDINGS_MAX 256 /* the most severe and costly are kept, the others counted */

struct findings {
	struct finding *at;
	uint32_t cnt;
	uint64_t over_cap;
};

/* 0 or -ENOMEM; findings_done frees. */
int findings_init(struct findings *f);
void findings_done(struct findings *f);

/* A finding to be filled in. At the cap: a scrap that nobody reads. */
struct finding *findings_add(struct findings *f, const char *kind, enum severity severity,
			     uint32_t type);

/* The evidence is this poll. */
void findings_poll(struct finding *at, const struct pain_poll *p);

/* Its place, where no system call is one: the program's function on a stack, else where its type
 * was spawned. `what` ("preempted in ", "") stands before it. */
void findings_place(struct finding *at, const struct study *s, const char *what, uint32_t stack);

/* The most severe and costly first. */
void findings_sort(struct findings *f, struct study *s);

#endif /* DIAL9_FINDINGS_H */
