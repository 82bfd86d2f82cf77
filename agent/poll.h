/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll.h - poll starts and ends of each thread, nested ones included, and what hangs on them:
 * blocking tasks, wakes during the own poll, task ends.
 *
 * A multi_thread worker is itself a blocking task (its "launch") that never ends; polls inside it
 * are the worker's own, not nested ones. A launch is known by the async polls inside it, and from
 * then on by its type.
 */
#ifndef DIAL9_POLL_H
#define DIAL9_POLL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/worker.h"

struct thread;
struct track;
struct wire_poll_end;
struct wire_poll_start;
struct wire_task_seen;
struct wire_wake;

bool poll_start(struct track *t, const struct wire_poll_start *rec);
bool poll_end(struct track *t, const struct wire_poll_end *rec);
bool poll_wake(struct track *t, const struct wire_wake *rec);

/* A task was found in a poll where polls are not recorded. */
bool poll_seen(struct track *t, const struct wire_task_seen *rec);

/* Ends every open poll of the thread from depth `from` on, innermost first. */
void poll_close(struct track *t, struct thread *th, unsigned from, uint64_t ts_ns,
		enum worker_rule rule);

/* Worker id for samples: the thread's worker, WORKER_BLOCKING or WORKER_UNKNOWN. */
uint32_t poll_worker_id(struct thread *th);

#endif /* DIAL9_POLL_H */
