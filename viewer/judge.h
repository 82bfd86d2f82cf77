/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - from pains to findings: what is wrong, how bad, whose type, at which place.
 */
#ifndef DIAL9_JUDGE_H
#define DIAL9_JUDGE_H

#include "findings.h"

struct study;

/* study.own begins with a struct pains. 0 or -ENOMEM; findings_done frees. */
int judge(struct study *s, struct findings *ret);

#endif /* DIAL9_JUDGE_H */
