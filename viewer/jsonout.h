/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonout.h - JSON to a stream: yajl, with strings made valid and integers kept whole.
 *
 * Strings: bytes that are no UTF-8 become U+FFFD; control characters are escaped. Integers are
 * written exactly, u64 up to 2^64-1: readers that use doubles lose the low bits above 2^53, so
 * use one that does not (jq 1.7, Python). Numbers that JSON cannot hold (NaN, infinity) are null.
 * A failure sticks: json_close tells.
 */
#ifndef DIAL9_JSONOUT_H
#define DIAL9_JSONOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json;

/* `pretty` indents by two spaces; else json_line ends each document. NULL: out of memory. */
struct json *json_open(FILE *out, bool pretty);

/* Flushes. 0, -ENOMEM, or the errno of writing. NULL is fine. */
int json_close(struct json *j);

/* Ends one document: a newline, and the next may begin. */
void json_line(struct json *j);

void json_map(struct json *j);
void json_map_end(struct json *j);
void json_list(struct json *j);
void json_list_end(struct json *j);

/* Key of the next value. */
void json_key(struct json *j, const char *key);
void json_key_bytes(struct json *j, const char *p, size_t len);

void json_u64(struct json *j, uint64_t value);
void json_i64(struct json *j, int64_t value);
void json_f64(struct json *j, double value);
void json_bool(struct json *j, bool value);
void json_null(struct json *j);
void json_text(struct json *j, const char *text);
void json_bytes(struct json *j, const char *p, size_t len);
void json_hex(struct json *j, const uint8_t *p, size_t len); /* two digits a byte */

/* Key and value. */
void json_put_u64(struct json *j, const char *key, uint64_t value);
void json_put_text(struct json *j, const char *key, const char *text);
void json_put_bytes(struct json *j, const char *key, const char *p, size_t len);
void json_put_null(struct json *j, const char *key);

#endif /* DIAL9_JSONOUT_H */
