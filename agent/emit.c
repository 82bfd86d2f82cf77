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
#include "agent/log.h"
#include "agent/metadata.h"
#include "agent/names.h"
#include "agent/segment.h"

/* More than any event with its schema, three new names and a new stack can need. */
#define ROOM_SZ (16u << 10)
_Static_assert(ROOM_SZ > 4 * (NAMES_LEN_MAX + 16) + 8 * D9_STACK_MAX + 2048, "ROOM_SZ");

struct worker_bits {
	uint64_t w[EMIT_WORKERS_MAX / 64];
};

struct emit {
	struct d9_enc enc;
	struct emit_options o;
	struct names *names;
	struct addrs *addrs;
	struct d9_pool *pool;
	const uint64_t *frames;
	size_t frames_cnt;
	struct worker_bits open; /* polls begun and not ended, the present batch included */
	struct worker_bits open_sent; /* the same, up to the last batch the sink took */
	uint32_t batch_cnt[D9_EV_CNT]; /* events in the present batch */
	uint64_t batch_from_ns, batch_since_ns; /* its first event's stamp; when that was put */
	uint64_t now_ns;
	bool has_failed; /* bytes were refused: nothing can be written before a new segment */
	uint64_t retry_ns, loss_from_ns;
	uint64_t loss_cnt[D9_EV_CNT]; /* not yet told in the trace */
	uint64_t metadata_version;
	char level_level[16], level_types[1024], level_ends[16], level_reason[256];
	struct emit_stats stats;
	struct {
		uint64_t batch_no;
		uint32_t id;
	} pooled[NAMES_MAX]; /* pool id of each name in the present encoder batch */
	uint8_t buf[EMIT_BATCH_SZ];
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

/* ---- batches ---- */

static void batch_lost(struct emit *e, int err)
{
	for (size_t i = 0; i < D9_EV_CNT; i++) {
		e->stats.events[i] -= e->batch_cnt[i];
		e->stats.lost[i] += e->batch_cnt[i];
		e->loss_cnt[i] += e->batch_cnt[i];
	}
	e->open = e->open_sent;
	e->stats.write_failures++;
	if (e->has_failed)
		return;
	e->has_failed = true;
	e->loss_from_ns = e->batch_from_ns;
	e->retry_ns = e->now_ns + EMIT_RETRY_NS;
	log_warn(err, "cannot write to the trace (%s): events are counted as lost until a new "
		      "segment can be begun; free space in the trace directory", strerror(-err));
}

int emit_flush(struct emit *e)
{
	int rc = 0;

	if (e->enc.len) {
		rc = e->o.sink->write(e->o.ctx, e->buf, e->enc.len);
		e->stats.batches++;
		e->stats.raw_sz += e->enc.len;
		if (rc)
			batch_lost(e, rc);
		else
			e->open_sent = e->open;
		d9_enc_drain(&e->enc);
	}
	memset(e->batch_cnt, 0, sizeof(e->batch_cnt));
	e->batch_since_ns = 0;
	return rc;
}

static inline void make_room(struct emit *e, size_t sz)
{
	if (e->enc.cap - e->enc.len < sz)
		emit_flush(e);
}

static inline void count(struct emit *e, enum d9_event ev, uint64_t ts_ns)
{
	e->stats.events[ev]++;
	e->batch_cnt[ev]++;
	if (!e->batch_since_ns) {
		e->batch_since_ns = e->now_ns ? e->now_ns : ts_ns;
		e->batch_from_ns = ts_ns;
	}
}

/* Room for a header is certain: make_room came before. */
static void new_header(struct emit *e)
{
	d9_enc_begin(&e->enc);
	e->stats.pool_resets++;
}

/* ---- what an event needs before it ---- */

static inline uint32_t pool_name(struct emit *e, uint32_t name)
{
	size_t len;
	const char *p;

	if (name >= NAMES_MAX)
		name = NAMES_UNKNOWN;
	if (e->pooled[name].batch_no == e->enc.batch_no)
		return e->pooled[name].id;
	p = names_get(e->names, name, &len);
	while (d9_intern_str(&e->enc, p, len, &e->pooled[name].id) == -D9_E_POOL_FULL)
		new_header(e);
	e->pooled[name].batch_no = e->enc.batch_no;
	return e->pooled[name].id;
}

static uint32_t pool_stack(struct emit *e)
{
	size_t cnt = e->frames_cnt < D9_STACK_MAX ? e->frames_cnt : D9_STACK_MAX;
	size_t before = e->enc.len;
	uint32_t id = 0;

	while (d9_intern_stack(&e->enc, e->frames, cnt, &id) == -D9_E_POOL_FULL)
		new_header(e);
	if (e->enc.len != before) /* new in this batch */
		addrs_add(e->addrs, e->frames, cnt);
	return id;
}

/* Per worker, the file holds start, end, start, end: anything else stops here. */
static inline bool poll_gate(struct emit *e, enum d9_event ev, uint64_t worker_id)
{
	uint64_t bit = 1ull << (worker_id & 63);
	uint64_t *word = &e->open.w[worker_id / 64 & (EMIT_WORKERS_MAX / 64 - 1)];
	bool is_start = ev == D9_EV_POLL_START;

	if (worker_id >= EMIT_WORKERS_MAX || !!(*word & bit) == is_start) {
		e->stats.lost[ev]++;
		return false;
	}
	*word ^= bit;
	return true;
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
#define T_PS(f) x.f = pool_name(e, ev->f);
#define T_PK(f) x.f = pool_stack(e);
#define T_oPS(f) x.f = x.has_##f ? pool_name(e, ev->f) : 0;
#define T_oPK(f) x.f = x.has_##f ? pool_stack(e) : 0;
#define D9_EVENT(NAME, name, wire, use, doc)                                                       \
	void emit_put_##name(struct emit *e, uint64_t ts_ns, const struct d9_##name *ev)           \
	{                                                                                          \
		struct d9_##name x = *ev;                                                          \
		const enum d9_event kind = D9_EV_##NAME;                                           \
		uint64_t batch_no;                                                                 \
                                                                                                   \
		if ((kind == D9_EV_POLL_START || kind == D9_EV_POLL_END) &&                        \
		    !poll_gate(e, kind, *(const uint64_t *)ev))                                    \
			return;                                                                    \
		make_room(e, ROOM_SZ);                                                             \
		do {                                                                               \
			batch_no = e->enc.batch_no;
#define D9_FIELD(name, field, type, doc) T_##type(field)
#define D9_END(name)                                                                               \
		} while (batch_no != e->enc.batch_no);                                             \
		if (!d9_put_##name(&e->enc, ts_ns, &x))                                            \
			count(e, kind, ts_ns);                                                     \
	}
#include "format/records.def"
#undef D9_EVENT
#undef D9_FIELD
#undef D9_END

uint32_t emit_name(struct emit *e, const char *p, size_t len)
{
	return names_put(e->names, p, len);
}

void emit_frames(struct emit *e, const uint64_t *frames, size_t cnt)
{
	e->frames = frames;
	e->frames_cnt = cnt;
}

struct metadata *emit_metadata(const struct emit *e)
{
	return e->o.metadata;
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
			     &(struct d9_agent_level){.pid = e->o.level.pid,
						      .level = name_of(e, e->level_level),
						      .types = name_of(e, e->level_types),
						      .ends = name_of(e, e->level_ends),
						      .reason = name_of(e, e->level_reason)});
}

static void keep(char *buf, size_t sz, const char *s)
{
	s = s ? s : "";
	memcpy(buf, s, strnlen(s, sz - 1));
	buf[strnlen(s, sz - 1)] = 0;
}

static void keep_level(struct emit *e, const struct emit_level *l)
{
	e->o.level.pid = l->pid;
	keep(e->level_level, sizeof(e->level_level), l->level);
	keep(e->level_types, sizeof(e->level_types), l->types);
	keep(e->level_ends, sizeof(e->level_ends), l->ends);
	keep(e->level_reason, sizeof(e->level_reason), l->reason);
}

void emit_level(struct emit *e, uint64_t ts_ns, const struct emit_level *level)
{
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

	ev.entries = metadata_pairs(e->o.metadata, &ev.entries_cnt, &sz);
	make_room(e, sz + 8 * (size_t)ev.entries_cnt + ROOM_SZ);
	emit_put_segment_metadata(e, now_ns, &ev);
	e->metadata_version = metadata_version(e->o.metadata);
}
_Static_assert(METADATA_SZ_MAX + 8 * METADATA_ENTRIES_MAX + ROOM_SZ < EMIT_BATCH_SZ, "metadata");

/* ---- segments ---- */

static void segment_begin(struct emit *e, uint64_t now_ns)
{
	d9_enc_begin(&e->enc); /* the buffer is empty here */
	put_clock_sync(e);
	put_metadata(e, now_ns);
	put_level(e, now_ns);
}

/* Tells what was lost before, and ends what the file still shows as running. */
static void segment_mend(struct emit *e, uint64_t now_ns)
{
	for (size_t i = 0; i < D9_EV_CNT; i++) {
		if (e->loss_cnt[i])
			emit_loss(e, now_ns, d9_event_def((enum d9_event)i)->name, "disk",
				  e->loss_cnt[i], e->loss_from_ns);
		e->loss_cnt[i] = 0;
	}
	for (uint64_t id = 0; id < EMIT_WORKERS_MAX; id++) {
		if (!(e->open.w[id / 64] >> (id & 63) & 1))
			continue;
		emit_put_poll_end(e, now_ns, &(struct d9_poll_end){.worker_id = id});
		emit_put_agent_inferred_end(
			e, now_ns, &(struct d9_agent_inferred_end){.worker_id = id, .rule = 6});
	}
}

static int next_segment(struct emit *e, uint64_t now_ns)
{
	size_t cnt;
	const uint64_t *addrs = addrs_sorted(e->addrs, &cnt);
	int rc = e->o.sink->rotate(e->o.ctx, now_ns, addrs, cnt);

	if (rc) {
		batch_lost(e, rc);
		return rc;
	}
	addrs_clear(e->addrs);
	e->stats.rotations++;
	segment_begin(e, now_ns);
	return 0;
}

void emit_finish(struct emit *e, uint64_t now_ns)
{
	put_metadata(e, now_ns);
	put_clock_sync(e);
	emit_flush(e);
}

void emit_tick(struct emit *e, uint64_t now_ns)
{
	e->now_ns = now_ns;
	if (e->has_failed && now_ns >= e->retry_ns) {
		emit_flush(e); /* counts what is in the batch: it cannot be written any more */
		e->retry_ns = now_ns + EMIT_RETRY_NS;
		if (!next_segment(e, now_ns)) {
			e->has_failed = false;
			segment_mend(e, now_ns);
		}
	} else if (!e->has_failed && e->o.sink->should_rotate(e->o.ctx, now_ns)) {
		emit_finish(e, now_ns);
		if (!e->has_failed)
			next_segment(e, now_ns);
	}
	if (e->metadata_version != metadata_version(e->o.metadata))
		put_metadata(e, now_ns);
	if (e->batch_since_ns && now_ns - e->batch_since_ns >= EMIT_FLUSH_NS)
		emit_flush(e);
}

const uint64_t *emit_addrs(struct emit *e, size_t *ret_cnt)
{
	return addrs_sorted(e->addrs, ret_cnt);
}

void emit_stats(const struct emit *e, struct emit_stats *ret)
{
	*ret = e->stats;
	ret->names_over_cap = names_over_cap(e->names);
	ret->addrs_over_cap = addrs_over_cap(e->addrs);
}

int emit_open(const struct emit_options *o, uint64_t now_ns, struct emit **ret)
{
	struct emit *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->o = *o;
	e->now_ns = now_ns;
	keep_level(e, &o->level);
	e->pool = d9_pool_new(NAMES_MAX, 0, 0);
	if (!e->pool || names_new(&e->names) || addrs_new(&e->addrs)) {
		emit_close(e);
		return -ENOMEM;
	}
	d9_enc_init(&e->enc, e->buf, sizeof(e->buf), e->pool);
	segment_begin(e, now_ns);
	*ret = e;
	return 0;
}

void emit_close(struct emit *e)
{
	if (!e)
		return;
	names_free(e->names);
	addrs_free(e->addrs);
	d9_pool_free(e->pool);
	free(e);
}
