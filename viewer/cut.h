/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.h - a recording's columns without the rows that a filter leaves out: a copy in which all
 * references are right again, so that SQL and exports need not know of filters.
 *
 * Rows that pass nowhere are gone; references to them are COLUMNS_NONE. A task stays if it passes
 * or if a kept row names it (who woke whom stays true). Sums in `tasks` are of the polls that are
 * left. The zoom pyramid is left out.
 */
#ifndef DIAL9_CUT_H
#define DIAL9_CUT_H

struct columns;
struct request;
struct scope;

/* 0 or -ENOMEM. cut_free gives it back; NULL is fine. */
int cut_make(const struct columns *c, const struct scope *s, struct columns **ret);
void cut_free(struct columns *c);

/* The cut that a command line asks for; *ret is NULL if it has no filter. 0 or -ENOMEM. */
int cut_asked(const struct columns *c, const struct request *req, struct columns **ret);

#endif /* DIAL9_CUT_H */
