/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reporthead.h - what stands above a report's tables: which recording, how much of the truth it
 * holds, what it cost.
 */
#ifndef DIAL9_REPORTHEAD_H
#define DIAL9_REPORTHEAD_H

#include <stdio.h>

struct report;

void reporthead_print(FILE *out, const struct report *r);

#endif /* DIAL9_REPORTHEAD_H */
