/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judgewide.h - findings about the whole process: CPUs, queues, workers, storms of wakes.
 */
#ifndef DIAL9_JUDGEWIDE_H
#define DIAL9_JUDGEWIDE_H

#include <stdint.h>

struct findings;
struct study;

/* study.own begins with a struct pains. */
void judgewide(struct study *s, struct findings *f);

/* Storms made by polls of one type, below pains.types_cnt. */
void judgewide_storm(struct study *s, struct findings *f, uint32_t type);

#endif /* DIAL9_JUDGEWIDE_H */
