/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h - `dial9-view diff A B`: what changed between two recordings, type by type.
 *
 * Everything that grows with time is compared as a rate, so the recordings may differ in length.
 * Types are the same if their names are.
 */
#ifndef DIAL9_DIFF_H
#define DIAL9_DIFF_H

struct request;
struct traceset;

/* `set` is A's; B's is opened from req->path_b. Returns an exit code of notice.h. */
int diff_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_DIFF_H */
