/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fieldtext.h - one field value of any wire type, as text and as JSON (see dump.h for the forms).
 */
#ifndef DIAL9_FIELDTEXT_H
#define DIAL9_FIELDTEXT_H

#include <stdio.h>

struct d9_value;
struct json;

void fieldtext_write(FILE *out, const struct d9_value *v);
void fieldtext_json(struct json *j, const struct d9_value *v);

#endif /* DIAL9_FIELDTEXT_H */
