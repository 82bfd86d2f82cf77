// SPDX-License-Identifier: Apache-2.0
/*
 * emit.c - see emit.h.
 *
 * One header per segment: its pools grow until the segment ends, so a name costs its bytes once
 * per segment. Only a full pool makes a further header. Measured against a header per batch in
 * test/bench/bench_track.c.
 *
 * After a write has failed, all bytes up to the next segment are lost, since they may need
 * definitions that were lost. The events in them are counted, the loss is written first thing in
 * the next segment, and polls whose start is in the file but whose end is not are closed there:
 * per worker, starts and ends alternate in the file as well.
 */
#include "agent/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/addrs.h"
#include "agent/batch.h"
#include "agent/metadata.h"
#include "agent/segment.h"

#define RULE_LOST 6 /* agent:InferredEnd.rule, as in worker.h */

struct emit {
	struct batch *b;
	struct metadata *metadata;
	uint64_t metadata_version; /* the one in the file */
	uint64_t retry_ns; /* when to try a new segment after a failure */
	uint64_t unstarted_cnt; /* ends without a start in the file, not yet told */
	uint32_t level_pid;
	char *dropped[EMIT_DROPPED_MAX]; /* types that the level does not hold for */
	size_t dropped_cnt;
	char level_level[16], level_types[1024], level_ends[16], level_reason[256];
};

static int sink_write(void *ctx, const void *frames, size_t sz)
{
	return segments_write(ctx, frames, sz);
}

static bool sink_should_rotate(void *ctx, uint64_t now_ns)
{
	return segments_should_rotate(ctx, now_ns);
}

static int sink_rotate(void *ctx, uint64_t now_ns, const uint64_t *addrs, size_t addrs_cnt)
{
	return segments_rotate(ctx, now_ns, addrs, addrs_cnt);
}

const struct emit_sink emit_segments = {sink_write, sink_should_rotate, sink_rotate};

/* ---- events ---- */

/* A PollEndEvent or PollStartEvent that would break the worker's alternation in the file. */
static void refuse(struct emit *e, enum d9_event kind)
{
	e->b->stats.lost[kind]++;
	e->unstarted_cnt += kind == D9_EV_POLL_END;
}

/* A full pool while the second of two fields is looked up voids the first: then once more. */
#define T_V(f)
#define T_U8(f)
#define T_U16(f)
#define T_U32(f)
#define T_BOOL(f)
#define T_F64(f)
#define T_STR(f)
#define T_MAP(f)
#define T_oV(f)
#define T_PS(f) x.f = batch_name(b, ev->f);
#define T_PK(f) x.f = batch_stack(b);
#define T_oPS(f) x.f = x.has_##f ? batch_name(b, ev->f) : 0;
#define T_oPK(f) x.f = x.has_##f ? batch_stack(b) : 0;
#define D9_EVENT(NAME, name, wire, use, doc)                                                       \
	void emit_put_##name(struct emit *e, uint64_t ts_ns, const struct d9_##name *ev)           \
	{                                                                                          \
		struct batch *b = e->b;                                                            \
		struct d9_##name x = *ev;                                                          \
		const enum d9_event kind = D9_EV_##NAME;                                           \
		uint64_t batch_no;                                                                 \
                                                                                                   \
		batch_make_room(b, BATCH_ROOM_SZ);                                                 \
		if ((kind == D9_EV_POLL_START || kind == D9_EV_POLL_END) &&                        \
		    !batch_poll(b, kind == D9_EV_POLL_START, *(const uint64_t *)ev)) {             \
			refuse(e, kind);                                                           \
			return;                                                                    \
		}                                                                                  \
		do {                                                                               \
			batch_no = b->enc.batch_no;
#define D9_FIELD(name, field, type, doc) T_##type(field)
#define D9_END(name)                                                                               \
		} while (batch_no != b->enc.batch_no);                                             \
		if (!d9_put_##name(&b->enc, ts_ns, &x))                                            \
			batch_count(b, kind, ts_ns);                                               \
		else                                                                               \
			b->stats.lost[kind]++;                                                     \
	}
#include "format/records.def"

uint32_t emit_name(struct emit *e, const char *p, size_t len)
{
	return names_put(e->b->names, p, len);
}

void emit_frames(struct emit *e, const uint64_t *frames, size_t cnt)
{
	e->b->frames = frames;
	e->b->frames_cnt = cnt;
}

struct metadata *emit_metadata(const struct emit *e)
{
	return e->metadata;
}

static uint32_t name_of(struct emit *e, const char *s)
{
	return emit_name(e, s, strlen(s));
}

/* ---- events of the recording itself ---- */

void emit_loss(struct emit *e, uint64_t ts_ns, const char *kind, const char *cause, uint64_t cnt,
	       uint64_t from_ns)
{
	emit_put_agent_loss(e, ts_ns,
			    &(struct d9_agent_loss){.kind = name_of(e, kind),
						    .cause = name_of(e, cause),
						    .count = cnt,
						    .from_ns = from_ns});
}

static void put_level(struct emit *e, uint64_t ts_ns)
{
	emit_put_agent_level(e, ts_ns,
			     &(struct d9_agent_level){.pid = e->level_pid,
						      .level = name_of(e, e->level_level),
						      .types = name_of(e, e->level_types),
						      .ends = name_of(e, e->level_ends),
						      .reason = name_of(e, e->level_reason)});
}

static void put_dropped(struct emit *e, uint64_t ts_ns, const char *type)
{
	emit_put_agent_level(e, ts_ns,
			     &(struct d9_agent_level){.pid = e->level_pid,
						      .level = name_of(e, "stat"),
						      .types = name_of(e, type),
						      .ends = name_of(e, "none"),
						      .reason = name_of(e, e->level_reason)});
}

void emit_dropped(struct emit *e, uint64_t ts_ns, const char *type)
{
	char *copy = e->dropped_cnt < EMIT_DROPPED_MAX ? strdup(type) : NULL;

	if (copy)
		e->dropped[e->dropped_cnt++] = copy;
	put_dropped(e, ts_ns, type);
}

static void forget_dropped(struct emit *e)
{
	while (e->dropped_cnt)
		free(e->dropped[--e->dropped_cnt]);
}

static void keep(char *buf, size_t sz, const char *s)
{
	s = s ? s : "";
	memcpy(buf, s, strnlen(s, sz - 1));
	buf[strnlen(s, sz - 1)] = 0;
}

static void keep_level(struct emit *e, const struct emit_level *l)
{
	e->level_pid = l->pid;
	keep(e->level_level, sizeof(e->level_level), l->level);
	keep(e->level_types, sizeof(e->level_types), l->types);
	keep(e->level_ends, sizeof(e->level_ends), l->ends);
	keep(e->level_reason, sizeof(e->level_reason), l->reason);
}

void emit_level(struct emit *e, uint64_t ts_ns, const struct emit_level *level)
{
	forget_dropped(e);
	keep_level(e, level);
	put_level(e, ts_ns);
}

void emit_self(struct emit *e, uint64_t ts_ns, uint64_t cpu_ns, uint64_t rss_bytes, uint64_t hits,
	       uint64_t target_cost_ns)
{
	emit_put_agent_self(e, ts_ns,
			    &(struct d9_agent_self){.cpu_ns = cpu_ns,
						    .rss_bytes = rss_bytes,
						    .hits = hits,
						    .target_cost_ns = target_cost_ns});
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Stamped in the middle of the two reads that enclose the wall clock's. */
static void put_clock_sync(struct emit *e)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC), wall = clock_ns(CLOCK_REALTIME);
	uint64_t mid = before + (clock_ns(CLOCK_MONOTONIC) - before) / 2;

	emit_put_clock_sync(e, mid, &(struct d9_clock_sync){.realtime_ns = wall});
}

static void put_metadata(struct emit *e, uint64_t now_ns)
{
	struct d9_segment_metadata ev = {0};
	size_t sz;

	ev.entries = metadata_pairs(e->metadata, &ev.entries_cnt, &sz);
	batch_make_room(e->b, sz + 8 * (size_t)ev.entries_cnt + BATCH_ROOM_SZ);
	emit_put_segment_metadata(e, now_ns, &ev);
	e->metadata_version = metadata_version(e->metadata);
}
_Static_assert(METADATA_SZ_MAX + 8 * METADATA_ENTRIES_MAX + BATCH_ROOM_SZ < EMIT_BATCH_SZ, "metadata");

void emit_tell(struct emit *e, uint64_t now_ns)
{
	if (e->metadata_version != metadata_version(e->metadata))
		put_metadata(e, now_ns);
}

/* ---- segments ---- */

static void segment_begin(struct emit *e, uint64_t now_ns)
{
	d9_enc_begin(&e->b->enc); /* the batch is empty here */
	put_clock_sync(e);
	put_metadata(e, now_ns);
	put_level(e, now_ns);
	for (size_t i = 0; i < e->dropped_cnt; i++)
		put_dropped(e, now_ns, e->dropped[i]);
}

/* Tells what was lost before, and ends what the file still shows as running. */
static void segment_mend(struct emit *e, uint64_t now_ns)
{
	struct batch *b = e->b;

	for (size_t i = 0; i < D9_EV_CNT; i++) {
		if (b->loss_cnt[i])
			emit_loss(e, now_ns, d9_event_def((enum d9_event)i)->name, "disk",
				  b->loss_cnt[i], b->loss_from_ns);
		b->loss_cnt[i] = 0;
	}
	for (uint64_t id = 0; id < EMIT_WORKERS_MAX; id++) {
		if (!(b->open.w[id / 64] >> (id & 63) & 1))
			continue;
		emit_put_poll_end(e, now_ns, &(struct d9_poll_end){.worker_id = id});
		emit_put_agent_inferred_end(
			e, now_ns,
			&(struct d9_agent_inferred_end){.worker_id = id, .rule = RULE_LOST});
	}
}

static int next_segment(struct emit *e, uint64_t now_ns)
{
	size_t cnt;
	const uint64_t *addrs = addrs_sorted(e->b->addrs, &cnt);
	int rc = e->b->sink->rotate(e->b->ctx, now_ns, addrs, cnt);

	if (rc) {
		batch_lost(e->b);
		return rc;
	}
	addrs_clear(e->b->addrs);
	e->b->stats.rotations++;
	segment_begin(e, now_ns);
	return 0;
}

void emit_finish(struct emit *e, uint64_t now_ns)
{
	put_metadata(e, now_ns);
	put_clock_sync(e);
	batch_flush(e->b);
}

/* After a failure: whatever is in the batch cannot be written, it needs what was lost. */
static void try_again(struct emit *e, uint64_t now_ns)
{
	batch_flush(e->b);
	e->retry_ns = now_ns + EMIT_RETRY_NS;
	if (next_segment(e, now_ns))
		return;
	e->b->has_failed = false;
	segment_mend(e, now_ns);
}

void emit_tick(struct emit *e, uint64_t now_ns)
{
	struct batch *b = e->b;

	b->now_ns = now_ns;
	if (b->has_failed) {
		if (now_ns >= e->retry_ns)
			try_again(e, now_ns);
	} else if (b->sink->should_rotate(b->ctx, now_ns)) {
		emit_finish(e, now_ns);
		if (!b->has_failed)
			next_segment(e, now_ns);
	}
	emit_tell(e, now_ns);
	if (e->unstarted_cnt) {
		emit_loss(e, now_ns, "PollEndEvent", "start lost", e->unstarted_cnt,
			  b->loss_from_ns);
		e->unstarted_cnt = 0;
	}
	if (b->since_ns && now_ns - b->since_ns >= EMIT_FLUSH_NS)
		batch_flush(b);
}

const uint64_t *emit_addrs(struct emit *e, size_t *ret_cnt)
{
	return addrs_sorted(e->b->addrs, ret_cnt);
}

int emit_open(const struct emit_options *o, uint64_t now_ns, struct emit **ret)
{
	struct emit *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->metadata = o->metadata;
	if (batch_new(o->sink, o->ctx, &e->b)) {
		emit_close(e);
		return -ENOMEM;
	}
	e->b->now_ns = now_ns;
	keep_level(e, &o->level);
	segment_begin(e, now_ns);
	*ret = e;
	return 0;
}

void emit_close(struct emit *e)
{
	if (!e)
		return;
	forget_dropped(e);
	batch_free(e->b);
	free(e);
}

int emit_flush(struct emit *e)
{
	return batch_flush(e->b);
}

void emit_stats(const struct emit *e, struct emit_stats *ret)
{
	*ret = e->b->stats;
	ret->names_over_cap = names_over_cap(e->b->names);
	ret->addrs_over_cap = addrs_over_cap(e->b->addrs);
}
