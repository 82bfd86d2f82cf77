/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pollaccount.h - the part of the account that follows polls: start, end, nested ones, ends that
 * turn out not to be any.
 */
#ifndef DIAL9_POLLACCOUNT_H
#define DIAL9_POLLACCOUNT_H

#include <stdint.h>

#include "workertable.h"

struct account;
struct moment;

/* One for each kind of moment. */
void pollaccount_start(struct account *a, const struct moment *m);
void pollaccount_end(struct account *a, const struct moment *m);
void pollaccount_inferred(struct account *a, const struct moment *m);
void pollaccount_nested(struct account *a, const struct moment *m);

/* Counts the last poll of a worker, of all workers, now that nothing cuts it any more. */
void pollaccount_settle(struct account *a, struct worker *w, uint32_t worker);
void pollaccount_settle_all(struct account *a);

/* The worker does something else though its poll has not ended: events are missing, and what
 * became of its task is unknown. */
void pollaccount_cut(struct account *a, const struct worker *w, uint16_t worker);

/* Awake and in no poll that is recorded: Tokio's own work, unless some polls are not recorded. */
enum worker_state pollaccount_awake(const struct account *a);

#endif /* DIAL9_POLLACCOUNT_H */
