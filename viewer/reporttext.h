/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reporttext.h - a report as a page for people. What is unknown is "-".
 */
#ifndef DIAL9_REPORTTEXT_H
#define DIAL9_REPORTTEXT_H

#include <stdint.h>
#include <stdio.h>

struct report;

/* At most `top` rows in each table, 0 = all. */
void reporttext_print(FILE *out, const struct report *r, uint64_t top);

#endif /* DIAL9_REPORTTEXT_H */
