/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reportcell.h - the cells of a report's tables. What is unknown is reportcell_unknown.
 */
#ifndef DIAL9_REPORTCELL_H
#define DIAL9_REPORTCELL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct histogram;
struct report;

extern const char *const reportcell_unknown; /* "-" */

/* A type or symbol (a label), its end if it is long. */
void reportcell_name(FILE *out, const struct report *r, uint32_t label);

/* A space and the value, right-aligned in `width`. */
void reportcell_duration(FILE *out, int width, bool is_known, uint64_t ns);
void reportcell_share(FILE *out, int width, bool is_known, uint64_t part, uint64_t whole);
void reportcell_quantiles(FILE *out, const struct histogram *h); /* p50, p99, greatest */

/* How many rows of `cnt` are printed (top 0: all), and the line that says how many are not. */
uint64_t reportcell_rows(uint64_t cnt, uint64_t top);
void reportcell_more(FILE *out, uint64_t cnt, uint64_t top);

#endif /* DIAL9_REPORTCELL_H */
