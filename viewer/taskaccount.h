/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskaccount.h - the part of the account that follows tasks: spawn, first sight, wakes, end.
 */
#ifndef DIAL9_TASKACCOUNT_H
#define DIAL9_TASKACCOUNT_H

#include <stdint.h>

struct account;
struct moment;
struct task;

/* Gives a task its type (a row of the type table) when it is first known; a task is counted, as
 * spawned or as seen alive, only then. */
void taskaccount_type(struct account *a, struct task *t, uint32_t type);

/* One for each kind of moment. */
void taskaccount_spawn(struct account *a, const struct moment *m);
void taskaccount_alive(struct account *a, const struct moment *m);
void taskaccount_end(struct account *a, const struct moment *m);
void taskaccount_cause(struct account *a, const struct moment *m);
void taskaccount_wake(struct account *a, const struct moment *m);

#endif /* DIAL9_TASKACCOUNT_H */
