/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.h - `dial9-view tasks`: the life of each task, split into what it did.
 */
#ifndef DIAL9_TASKS_H
#define DIAL9_TASKS_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int tasks_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_TASKS_H */
