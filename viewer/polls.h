/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polls.h - `dial9-view polls`: single polls, in time order or the longest first, and why each was long.
 */
#ifndef DIAL9_POLLS_H
#define DIAL9_POLLS_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int polls_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_POLLS_H */
