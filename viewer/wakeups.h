/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakeups.h - wakes by the type of the woken task: which made it runnable, which changed nothing.
 *
 * effective: it was idle. in_poll: it was being polled, and is runnable when that poll ends.
 * redundant: it stood woken already. self: by the task itself, inside its own poll. yields: an
 * effective wake by no other task, outside polls, on the worker that polled the task last, within
 * WAKEUPS_YIELD_NS after that poll's end and before that worker sleeps. So does yield_now since
 * Tokio 1.23; a driver that finds the task's socket ready just then looks the same, so these are
 * at most what was yielded.
 */
#ifndef DIAL9_WAKEUPS_H
#define DIAL9_WAKEUPS_H

#include <stdbool.h>
#include <stdint.h>

struct columns;
struct scope;

#define WAKEUPS_YIELD_NS 100000ull

struct wakeups_type {
	uint32_t place; /* text */
	uint64_t wakes, effective, in_poll, redundant, self, yields;
};

struct wakeups {
	struct wakeups_type *at; /* most wakes first */
	uint32_t cnt;
	struct wakeups_type all;
};

/* 0 or -ENOMEM; wakeups_done frees in either case. */
int wakeups_of(const struct columns *c, const struct scope *s, struct wakeups *ret);
void wakeups_done(struct wakeups *w);

#endif /* DIAL9_WAKEUPS_H */
