/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - the thread that finishes segments: symbols, sync, rename, budgets.
 *
 * All that may take long happens here, so that the recorder never waits. It owns the compressors
 * (one is being written, the others are finishing): a gzip file is a single member, so its symbols
 * must go through the compressor that wrote its events; in the other formats they are one more
 * frame behind them.
 */
#ifndef DIAL9_SEAL_H
#define DIAL9_SEAL_H

#include "format/trace.h"
#include "retain.h"
#include "symtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_SINKS 3 /* when all are finishing, the next segment is published without symbols */

struct seal;
struct symbols;

struct seal_options {
	struct d9_sink_opt sink;
	struct symbols *symbols; /* taken over by seal_open if that succeeds; NULL = no names */
	int trace_fd; /* borrowed */
	uint64_t budget_sz; /* sealed segments of the directory may take this much */
	uint64_t dir_max_sz; /* of the whole trace dir, 0 = no limit */
};

struct seal_job { /* one written segment; all of it is taken over */
	struct d9_sink *sink; /* from seal_take_sink; all that was written to it is flushed */
	int fd; /* of the .active file */
	int dir_fd; /* of its directory */
	char name[RETAIN_NAME_SZ]; /* of the .active file */
	bool is_torn; /* a write failed inside: publish the bytes as they are */
	uint64_t *addrs; /* malloc'ed, sorted, unique */
	size_t addrs_cnt;
};

struct seal_stats {
	uint64_t sealed_cnt, failed_cnt; /* published; left behind as .active */
	uint64_t bare_cnt; /* published without symbols that were asked for */
	uint64_t evicted_cnt, evicted_sz;
	uint64_t written_sz; /* bytes of published files */
	int last_errno;
	struct symtab_stats symbols;
};

int seal_open(const struct seal_options *o, struct seal **ret);

/* A free compressor, NULL when all are in use. */
struct d9_sink *seal_take_sink(struct seal *s);
void seal_return_sink(struct seal *s, struct d9_sink *sink);

/* Hands the segment to the thread. Never blocks. */
void seal_submit(struct seal *s, const struct seal_job *job);

/* Publishes it here and now: neither symbols nor sync, which may take long. */
void seal_hurry(struct seal *s, const struct seal_job *job);

void seal_stats(struct seal *s, struct seal_stats *ret);

/* Waits until all that was submitted is published; nothing may be submitted afterwards. */
void seal_finish(struct seal *s);

/* seal_finish, then frees. NULL is fine. */
void seal_close(struct seal *s);

#endif /* DIAL9_SEAL_H */
