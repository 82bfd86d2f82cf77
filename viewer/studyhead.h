/* SPDX-License-Identifier: Apache-2.0 */
/*
 * studyhead.h - what stands above every analysis: which recording, which filter, how much of the
 * truth it covers. What is not covered is unknown, not absent.
 */
#ifndef DIAL9_STUDYHEAD_H
#define DIAL9_STUDYHEAD_H

#include <stdio.h>

struct json;
struct study;

void studyhead_text(FILE *out, const struct study *s);
void studyhead_json(struct json *j, const struct study *s);

#endif /* DIAL9_STUDYHEAD_H */
