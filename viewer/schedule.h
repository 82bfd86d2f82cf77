/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - `dial9-view sched`: how well the runtimes shared out the work: availability, starvation
 * and imbalance, LIFO stalls, wakes, queues, leaks and the blocking pool.
 */
#ifndef DIAL9_SCHEDULE_H
#define DIAL9_SCHEDULE_H

#include "avail.h"
#include "buildup.h"
#include "crews.h"
#include "leaks.h"
#include "lifo.h"
#include "blockpool.h"
#include "userspans.h"
#include "starve.h"
#include "summed.h"
#include "wakeups.h"

struct columns;
struct request;
struct scope;
struct traceset;

struct schedule {
	struct crews crews;
	struct avail *avail; /* by crew */
	struct starve *starve; /* by crew */
	struct lifo lifo;
	struct wakeups wakeups;
	struct buildup buildup;
	struct leaks leaks;
	struct blockpool pool;
	struct userspans spans;
	struct summed *summed; /* by lane: parks that all of the above knows nothing of */
};

/* All of it. `sched` must be zero. 0 or -ENOMEM; schedule_done frees in either case. */
int schedule_of(const struct columns *c, const struct scope *s, struct schedule *ret);
void schedule_done(struct schedule *x);

/* Returns an exit code of notice.h. */
int schedule_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_SCHEDULE_H */
