/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mark.h - a place in the gathering to come back to: what was gathered since is forgotten.
 *
 *	err = mark_set(&m, g);
 *	... files are taken, the gather (is_kept) is settled ...
 *	mark_rewind(&m, g);
 *
 * Rows and names are only ever added, so their counts do; tasks and facts, which later events change,
 * are copied.
 */
#ifndef DIAL9_MARK_H
#define DIAL9_MARK_H

#include "gather.h"

struct mark {
	size_t rows_cnt[GATHER_ROWS];
	uint32_t dicts_cnt[GATHER_DICTS];
	uint64_t over_cnt[GATHER_DICTS];
	struct columns_odd odd;
	size_t gaps_cnt;
	uint32_t session;
	struct gather_sampled sampled;
	void *tasks, *facts;
};

/* Between two files. 0 or -ENOMEM; mark_free gives back what it holds, and accepts a zeroed one. */
int mark_set(struct mark *m, const struct gather *g);
void mark_free(struct mark *m);

/* As it was at the mark, which stays. g->err must be 0. */
void mark_rewind(const struct mark *m, struct gather *g);

#endif /* DIAL9_MARK_H */
