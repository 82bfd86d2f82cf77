/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take.h - one event, taken apart into rows of gather.h. An event that lacks a field it must have
 * is counted and left out; failures are kept in g->err.
 */
#ifndef DIAL9_TAKE_H
#define DIAL9_TAKE_H

struct d9_ev;
struct gather;

void take_event(struct gather *g, const struct d9_ev *ev);

#endif /* DIAL9_TAKE_H */
