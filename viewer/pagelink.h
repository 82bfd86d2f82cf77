/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagelink.h - `dial9-view link`: where in the page the filters point (viewer/page/PAGE.md).
 */
#ifndef DIAL9_PAGELINK_H
#define DIAL9_PAGELINK_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int pagelink_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_PAGELINK_H */
