/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox.h - Firefox Profiler's processed profile format, version 60 (its CHANGELOG-formats).
 *
 * Everything there is columns, so each is a pass over ours. Rows: function and frame i are our
 * symbol i; those behind them stand for addresses without a name. String i is our text i, then
 * come the words, then those addresses. A thread is a lane.
 */
#ifndef DIAL9_FIREFOX_H
#define DIAL9_FIREFOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dict.h"

#define FIREFOX_ROOT UINT32_MAX /* parent of an outermost frame; node of an empty stack */

enum { FIREFOX_WORD_UNKNOWN, FIREFOX_WORD_PARKED, FIREFOX_WORD_OFF, FIREFOX_WORDS };

struct columns;
struct export;
struct json;

struct firefox {
	const struct export *x;
	const struct columns *c;
	struct json *j;
	uint32_t *frame_of; /* symbol to frame */
	uint32_t *bare, *bare_frames, bare_cnt; /* frame to its number without a name; and back */
	uint32_t *stack_node; /* stack to the node of its leaf */
	struct dict nodes; /* {parent node, row of the frame table} */
};

/* Frames and the tree of stacks. x and c are set, the rest is zero. 0 or -ENOMEM; firefox_done in
 * either case. */
int firefox_make(struct firefox *f);
void firefox_done(struct firefox *f);

/* "shared": what threads refer to. */
void firefox_shared(struct firefox *f);

/* One element of "threads". */
void firefox_thread(struct firefox *f, uint32_t lane, const char *pid, size_t pid_len);

/* A key and the list that its values follow in; json_list_end ends it. */
void firefox_column(struct firefox *f, const char *key);
/* A column of cnt equal values: a number, or null. */
void firefox_same(struct firefox *f, const char *key, uint64_t cnt, bool is_null, int64_t value);
void firefox_or_null(struct firefox *f, bool is_known, uint64_t value);

/* ms since the recording's first event. */
double firefox_ms(const struct firefox *f, uint64_t ns);

#endif /* DIAL9_FIREFOX_H */
