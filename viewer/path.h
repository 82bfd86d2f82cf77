/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - `dial9-view path`: what the end of a task, or of one poll, had to wait for.
 *
 * With --explain the path to that poll's end, with --task the path to the end of the task's last
 * poll, step by step; else the sum over the paths to the ends of all tasks that ended, by type.
 * At most PATH_STEPS_MAX steps are walked in all; paths left out are counted.
 */
#ifndef DIAL9_PATH_H
#define DIAL9_PATH_H

struct request;
struct traceset;

#define PATH_STEPS_MAX 50000000ull

/* Returns an exit code of notice.h. */
int path_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_PATH_H */
