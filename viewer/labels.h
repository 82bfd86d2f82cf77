/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - strings of a trace (places, types, names) as small numbers, each kept once.
 *
 * A number is valid as long as the table. At LABELS_MAX strings, or LABELS_BYTES_MAX bytes, every
 * further new string gets the number LABEL_OTHER, whose text is "(other)", and is counted.
 */
#ifndef DIAL9_LABELS_H
#define DIAL9_LABELS_H

#include <stddef.h>
#include <stdint.h>

#define LABELS_MAX (1u << 18)
#define LABELS_BYTES_MAX (64u << 20)

enum { LABEL_OTHER = 0, LABEL_UNKNOWN = 1 }; /* texts "(other)" and "(unknown)" */

struct labels;
struct d9_ev;

struct labels *labels_new(void); /* NULL: out of memory */
void labels_free(struct labels *l);

/* The number of a string. Never fails: out of memory counts as a full table. */
uint32_t labels_put(struct labels *l, const char *p, size_t len);

/*
 * The number of a string field of an event (a D9F_* of its kind); LABEL_UNKNOWN if it is absent,
 * empty or no string. Pooled strings are looked up by their pool id, without hashing.
 */
uint32_t labels_field(struct labels *l, const struct d9_ev *ev, int field);

/* Forgets pool ids: to be called at the start of each file. */
void labels_new_file(struct labels *l);

/* Text of a number; not ended by NUL. */
const char *labels_text(const struct labels *l, uint32_t label, size_t *ret_len);

/* Orders two numbers by their text (bytes): output sorted so does not depend on event order. */
int labels_compare(const struct labels *l, uint32_t a, uint32_t b);

uint32_t labels_cnt(const struct labels *l);
uint64_t labels_over_cap(const struct labels *l);

#endif /* DIAL9_LABELS_H */
