/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - typed events to the bytes of a segment: one batch per segment, its pools, its counts.
 *
 * The last gate before the file: every event that passes here is either in the segment or counted
 * as lost, by schema. It knows events, names and stacks, never tasks or threads, and reaches files
 * only through struct emit_sink. One thread uses it. After emit_open nothing is allocated.
 *
 * Each segment begins with a header, ClockSync, SegmentMetadata and agent:Level, and ends with
 * SegmentMetadata and ClockSync. Polls may reach across segments; they are not cut in two.
 */
#ifndef DIAL9_EMIT_H
#define DIAL9_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"

struct emit;
struct metadata;

#define EMIT_BATCH_SZ (512u << 10) /* bytes gathered before they are written */
#define EMIT_FLUSH_NS 200000000ull /* ... or after this time */
#define EMIT_RETRY_NS 1000000000ull /* between tries to begin a segment after a failed write */
#define EMIT_WORKERS_MAX 2048 /* worker ids; a poll of a higher one is dropped and counted */

/* Where bytes go; as in segment.h. A sink that fails says so in the log. */
struct emit_sink {
	int (*write)(void *ctx, const void *frames, size_t sz);
	bool (*should_rotate)(void *ctx, uint64_t now_ns);
	int (*rotate)(void *ctx, uint64_t now_ns, const uint64_t *addrs, size_t addrs_cnt);
};
extern const struct emit_sink emit_segments; /* for it, ctx is a struct segments * */

#define EMIT_DROPPED_MAX 256 /* types told in each segment; further ones only where they are dropped */

struct emit_level { /* agent:Level; the strings are copied */
	uint32_t pid;
	const char *level; /* "stat", "polls", "wakes", "full" */
	const char *types; /* "" = all */
	const char *ends; /* "exact", "inferred", "none" */
	const char *reason;
};

struct emit_options {
	const struct emit_sink *sink;
	void *ctx; /* its context */
	struct metadata *metadata; /* borrowed; written again when it changes */
	struct emit_level level;
};

/* Begins the first segment: it must be open. 0, -ENOMEM. */
int emit_open(const struct emit_options *o, uint64_t now_ns, struct emit **ret);
void emit_close(struct emit *e);

/* The metadata, if it has changed since it was written: what comes next needs it before. */
void emit_tell(struct emit *e, uint64_t now_ns);

/* At each tick (pace.h): writes what is due, rotates when the sink asks, tries again after failures. */
void emit_tick(struct emit *e, uint64_t now_ns);

/* Hands all bytes so far to the sink. Call it before segments_flush. 0 or the sink's error (the
 * events in them are then counted as lost). */
int emit_flush(struct emit *e);

/* The last words of the last segment: metadata, ClockSync, flush. Then close the segments with
 * emit_addrs. */
void emit_finish(struct emit *e, uint64_t now_ns);

/* Code addresses of the open segment's stacks, sorted, unique; valid until the next call. */
const uint64_t *emit_addrs(struct emit *e, size_t *ret_cnt);

/* `count` events of `kind` that happened in [from_ns, ts_ns] are missing because of `cause`. */
void emit_loss(struct emit *e, uint64_t ts_ns, const char *kind, const char *cause, uint64_t count,
	       uint64_t from_ns);

/* What is recorded from ts_ns on; repeated at the start of each segment. */
void emit_level(struct emit *e, uint64_t ts_ns, const struct emit_level *level);
/* Right behind it: tasks of this type are at level stat all the same. */
void emit_dropped(struct emit *e, uint64_t ts_ns, const char *type);

/* The agent's own cost, each second. */
void emit_self(struct emit *e, uint64_t ts_ns, uint64_t cpu_ns, uint64_t rss_bytes, uint64_t hits,
	       uint64_t target_cost_ns);

/* ---- for track.c ---- */

/* A stable number for a string; never fails, see names.h. 0 is the empty string. */
uint32_t emit_name(struct emit *e, const char *p, size_t len);

/* The list given to emit_open. */
struct metadata *emit_metadata(const struct emit *e);

/* Stack of the next event put (leaf first); borrowed until then. */
void emit_frames(struct emit *e, const uint64_t *frames, size_t cnt);

/*
 * emit_put_poll_start(e, ts_ns, &ev) and kin, one per event that dial9-agent writes. Pooled strings
 * (PS) in `ev` are numbers from emit_name; a pooled stack (PK) is the one given to emit_frames.
 * A PollEndEvent for a worker whose PollStartEvent is not in the file is dropped and counted.
 */
#define D9_EVENT(NAME, name, wire, use, doc)                                                       \
	void emit_put_##name(struct emit *e, uint64_t ts_ns, const struct d9_##name *ev);
#include "format/records.def"

struct emit_stats {
	uint64_t events[D9_EV_CNT]; /* handed to the sink or still in the batch, by schema */
	uint64_t lost[D9_EV_CNT]; /* encoded, but the sink refused the bytes; or an unstarted end */
	uint64_t batches, raw_sz, rotations, write_failures;
	uint64_t pool_resets; /* new headers because a pool was full */
	uint64_t names_over_cap, addrs_over_cap;
};
void emit_stats(const struct emit *e, struct emit_stats *ret);

#endif /* DIAL9_EMIT_H */
