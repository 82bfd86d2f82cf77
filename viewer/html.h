/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - the pieces of a page that stands alone: one file, no script, nothing from elsewhere.
 *
 * Its policy (a meta tag) forbids all but the one style sheet, by its hash; so there are no style
 * attributes, and what is drawn is SVG. Every text from a trace goes through html_bytes: made
 * harmless as plain.h does it, then escaped for elements and attributes alike.
 */
#ifndef DIAL9_HTML_H
#define DIAL9_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct columns;
struct labels;

#define HTML_LANES_MAX 64u /* workers drawn; the others are counted in a note */
#define HTML_CELLS 720u /* of a lane */
#define HTML_FLAME_DEPTH 96u /* frames drawn; what lies above is within its callee's width */

/* From the document's type to the opened body, title and heading included; and the end. */
void html_begin(FILE *out, const char *title);
void html_end(FILE *out);

void html_bytes(FILE *out, const char *p, size_t len);
void html_text(FILE *out, const char *text);
/* What plain.h has made harmless already: only escaped. */
void html_safe(FILE *out, const char *p, size_t len);

/* A section's heading. */
void html_section(FILE *out, const char *title);

/* A table: its heads (NULL ends them; one that begins with '#' is a column of numbers), then cells
 * row by row, then the end. */
void html_table(FILE *out, const char *const *heads);
void html_row(FILE *out);
void html_cell(FILE *out, const char *p, size_t len);
void html_number(FILE *out, uint64_t value);
void html_duration(FILE *out, int is_known, uint64_t ns);
void html_share(FILE *out, uint64_t part, uint64_t whole);
void html_row_end(FILE *out);
void html_table_end(FILE *out);

/* htmlgraph.c: each worker's time as a strip of cells, darker where busier, long polls marked. */
void html_lanes(FILE *out, const struct columns *c);
/* CPU samples (or, is_off, times without CPU in polls) as an icicle. 0 or -ENOMEM. */
int html_flame(FILE *out, const struct columns *c, int is_off);

#endif /* DIAL9_HTML_H */
