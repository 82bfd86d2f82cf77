/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownends.h - the ends of single types' polls: where the poll functions themselves return.
 *
 * A return site is hit by the polls of all types. Where a hot type is not probed any more, the others
 * have the ends of their own functions instead (exits.h).
 */
#ifndef DIAL9_OWNENDS_H
#define DIAL9_OWNENDS_H

struct planner;

/* Adds the exits of each poll function of the file at hand that has a poll site; of those that return
 * in a way that cannot be probed, an omission. 0 or -ENOMEM. */
int ownends_plan(struct planner *p);

#endif /* DIAL9_OWNENDS_H */
