/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - from pains to findings: what is wrong, how bad, whose type, at which place.
 */
#ifndef DIAL9_JUDGE_H
#define DIAL9_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

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

/* study.own begins with a struct pains. 0 or -ENOMEM; findings_done frees. */
int judge(struct study *s, struct findings *ret);
void findings_done(struct findings *f);

#endif /* DIAL9_JUDGE_H */
