/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame.h - `dial9-view blame`: which task types, and which polls, made others wait.
 */
#ifndef DIAL9_BLAME_H
#define DIAL9_BLAME_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int blame_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_BLAME_H */
