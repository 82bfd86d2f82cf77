/* SPDX-License-Identifier: Apache-2.0 */
/*
 * issues.h - `dial9-view issues`: what is wrong, worst first. Exit code 1 when a finding reaches
 * --fail-on.
 */
#ifndef DIAL9_ISSUES_H
#define DIAL9_ISSUES_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int issues_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_ISSUES_H */
