/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedtext.h - the answers of sched as tables for people. What is unknown is "-".
 */
#ifndef DIAL9_SCHEDTEXT_H
#define DIAL9_SCHEDTEXT_H

#include <stdio.h>

struct inquiry;

/* own is a struct schedule. */
void schedtext_print(FILE *out, const struct inquiry *q);

#endif /* DIAL9_SCHEDTEXT_H */
