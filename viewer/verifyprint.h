/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verifyprint.h - what verify found, for people and for programs.
 */
#ifndef DIAL9_VERIFYPRINT_H
#define DIAL9_VERIFYPRINT_H

#include <stdio.h>

struct json;
struct verify;

void verifyprint_text(FILE *out, const struct verify *v);

/* One element of "recordings". */
void verifyprint_json(struct json *j, const struct verify *v);

/* "ok", "broken" or "damaged", of an exit code. */
const char *verifyprint_verdict(int exit_code);

#endif /* DIAL9_VERIFYPRINT_H */
