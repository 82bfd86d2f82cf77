/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell.h - the account's lines to its watch (watch.h); of no effect where nobody watches.
 */
#ifndef DIAL9_TELL_H
#define DIAL9_TELL_H

#include <stdint.h>

#include "workertable.h"

struct account;
struct task;

/* workertable_cut, told as a slice; the last `delay_ns` of a park count as delayed. The slice of
 * a poll is kept back until the worker's next cut, since its end may turn out not to be one. */
uint64_t tell_cut(struct account *a, uint32_t worker, uint64_t ts_ns, enum worker_state expected,
		  enum worker_state next, uint64_t delay_ns);

/* Parks that were added up, of the time up to to_ns since the worker's last cut: it is cut there. */
void tell_parks(struct account *a, uint32_t worker, uint64_t to_ns, uint64_t parked_ns,
		uint64_t delayed_ns);

/* A task that was woken is polled from ts_ns on, its poll `nr`: counted for its type, and told. */
void tell_wait(struct account *a, uint32_t worker, uint32_t type, const struct task *t,
	       uint32_t nr, uint64_t ts_ns);

/* Counts a wake for the poll that it came from, or as one of a task by itself. */
void tell_waker(struct account *a, const struct moment *m);

void tell_poll(struct account *a, uint32_t worker, const struct worker_poll *p, uint64_t end_ns);
void tell_off(struct account *a, const struct moment *m, uint32_t type);
void tell_sample(struct account *a, const struct moment *m, uint32_t worker, uint32_t type);
void tell_moment(struct account *a, const struct moment *m);

#endif /* DIAL9_TELL_H */
