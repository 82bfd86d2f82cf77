/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakemap.h - every wake call that dial9 recorded, mapped to what we recorded of it.
 *
 * dial9 stamps each call before it acts; we record the effective ones, when the task is scheduled.
 */
#ifndef TRUTH_WAKEMAP_H
#define TRUTH_WAKEMAP_H

#include "test/truth/pair.h"
#include "test/truth/side.h"

struct wakemap {
	uint64_t theirs, ours; /* in the windows; ours: of tasks whose wakes dial9 has */
	uint64_t direct; /* one of ours follows within the limit */
	uint64_t late; /* it came to act later than that; its thread did nothing else meanwhile */
	uint64_t own; /* during the task's own poll: ours is at that poll's end */
	uint64_t own_unseen; /* the same at level wakes, which does not see it */
	uint64_t redundant; /* an effective wake already stood */
	uint64_t swallowed; /* by dial9's own waker, as a poll began: Tokio never saw it */
	uint64_t after_end; /* of a task that is over */
	uint64_t edge;
	uint64_t unmapped; /* none of these */
	uint64_t aborts; /* ours: of cancelled tasks, no wake call */
	uint64_t belated; /* ours, at the end of a poll: the call came before that poll began */
	uint64_t ours_only; /* ours without any of theirs */
	uint64_t plain; /* ours, of tasks that dial9 has no wakes of */
	uint64_t wrong_waker;
	struct diffs delay; /* direct ones */
	struct diffs lateness; /* late ones */
};

void wakemap_all(struct wakemap *m, const struct pairing *p, struct side *theirs,
		 struct side *ours);
void wakemap_free(struct wakemap *m);

#endif
