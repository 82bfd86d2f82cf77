/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.h - the recordings that the server shows, decoded, and kept up with the directory.
 *
 * One thread of its own lists the path every HELD_LOOK_MS and decodes what is new; requests read
 * the columns of the last look meanwhile. A recording keeps its number as long as the server runs;
 * its generation grows each time its columns are replaced. A new sealed segment is decoded when
 * decoding has rested as long as the last decoding took; one that is still being written, which changes
 * all the time, when it has rested HELD_REST times as long. What nobody has asked about for
 * HELD_ASKED_MS is not decoded again until somebody does.
 *
 * Of recordings that grow, what was decoded once is kept (core/live.h), together up to a
 * HELD_KEPT_SHARE of the machine's memory: one that does not fit is decoded anew each time. What has
 * not changed for HELD_KEPT_MS is given back.
 */
#ifndef DIAL9_HELD_H
#define DIAL9_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELD_RECORDINGS_MAX 1024u /* further ones are counted in held_over_cap, not shown */
#define HELD_LOOK_MS 1000u
#define HELD_REST 4u
#define HELD_ASKED_MS 10000u /* a page asks each 1.5 s, a hidden one each 5 */
#define HELD_NAME_SZ 256u
#define HELD_KEPT_SHARE 8u
#define HELD_KEPT_MS 60000u

struct columns;
struct held;

enum held_state { HELD_WAITING, HELD_LOADING, HELD_READY, HELD_FAILED };

struct held_status {
	char name[HELD_NAME_SZ];
	enum held_state state; /* of the last attempt; columns of an earlier one may be there */
	int err; /* of the last attempt, negative */
	uint64_t generation; /* 0: no columns yet */
	uint64_t files, file, bytes, done_bytes, events; /* of an attempt that goes on */
	bool is_live; /* its last segment is still being written */
};

/* Starts the thread. NULL: out of memory. held_free stops it and accepts NULL. */
struct held *held_new(const char *path);
void held_free(struct held *h);

/* What is known of the path; an error of the last listing, or 0. */
int held_err(struct held *h);
uint32_t held_cnt(struct held *h);
uint64_t held_over_cap(struct held *h);
bool held_status(struct held *h, uint32_t nr, struct held_status *ret);

/* Is it time to decode again what has changed? pure; sealed: a segment that will not grow is new.
 * rested_ms, took_ms: since the last decoding, and how long that took; unasked_ms: since a question. */
bool held_is_due(bool sealed, uint64_t rested_ms, uint64_t took_ms, uint64_t unasked_ms);

/* The columns of a recording, until held_put; NULL: none (yet). Never blocks for long. */
struct held_columns;
struct held_columns *held_get(struct held *h, uint32_t nr);
const struct columns *held_columns(const struct held_columns *hc);
uint64_t held_generation(const struct held_columns *hc);
void held_put(struct held_columns *hc); /* NULL is fine */

#endif /* DIAL9_HELD_H */
