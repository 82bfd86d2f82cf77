/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judgecolumns.h - findings that the columns tell: starvation, LIFO stalls, no free worker, wakes by
 * themselves, spans, and off-CPU samples where no times off CPU were recorded. None is critical.
 */
#ifndef DIAL9_JUDGECOLUMNS_H
#define DIAL9_JUDGECOLUMNS_H

struct findings;
struct study;

/* Opens the recording's columns (cached, most of the time) and adds to `f`. 0 or negative errno. */
int judgecolumns(struct study *s, struct findings *f);

#endif /* DIAL9_JUDGECOLUMNS_H */
