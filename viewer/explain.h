/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.h - which finding causes which.
 */
#ifndef DIAL9_EXPLAIN_H
#define DIAL9_EXPLAIN_H

struct findings;

/* Lowers critical findings that another critical one causes to warnings, as ANALYSES.md says, and
 * names the cause. A finding whose `explained` is "" may have any cause of late polls. */
void explain(struct findings *f);

#endif /* DIAL9_EXPLAIN_H */
