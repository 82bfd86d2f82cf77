/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist.h - `dial9-view hist`: how long polls and waits are, as distributions.
 */
#ifndef DIAL9_HIST_H
#define DIAL9_HIST_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int hist_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_HIST_H */
