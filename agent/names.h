/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - strings to small stable numbers, in fixed memory, for the length of a recording.
 *
 * Number 0 is the empty string, 1 is "?". A full table answers 1 and counts it. Longer strings are
 * cut at NAMES_LEN_MAX on a UTF-8 boundary. Pages are touched only as they fill.
 */
#ifndef DIAL9_NAMES_H
#define DIAL9_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NAMES_MAX 32768
#define NAMES_SZ_MAX (4u << 20) /* bytes of all strings together */
#define NAMES_LEN_MAX 1024
#define NAMES_UNKNOWN 1u /* "?" */

struct names;

int names_new(struct names **ret);
void names_free(struct names *n);

uint32_t names_put(struct names *n, const char *p, size_t len);

/* Valid for the life of the table. A number that was never given out reads as "?". */
const char *names_get(const struct names *n, uint32_t name, size_t *ret_len);

/* Strings that found no room. */
uint64_t names_over_cap(const struct names *n);

#endif /* DIAL9_NAMES_H */
