/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.h - `dial9-view flame`: where polls spend CPU, or lose it, as a tree of stacks.
 */
#ifndef DIAL9_FLAME_H
#define DIAL9_FLAME_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int flame_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_FLAME_H */
