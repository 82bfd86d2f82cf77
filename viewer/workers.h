/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.h - `dial9-view workers`: the time of each worker, split into what it did.
 */
#ifndef DIAL9_WORKERS_H
#define DIAL9_WORKERS_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int workers_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_WORKERS_H */
