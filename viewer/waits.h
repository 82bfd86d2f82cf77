/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.h - `dial9-view waits`: the longest waits from wake to poll, and what each consists of; with
 * --explain one of them, with the polls it stood behind.
 */
#ifndef DIAL9_WAITS_H
#define DIAL9_WAITS_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int waits_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_WAITS_H */
