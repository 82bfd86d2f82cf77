/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracewrite.h - libdial9trace's half that writes: events to bytes, bytes to a file. Comes with trace.h, which says what holds for all of it.
 */
#ifndef DIAL9_TRACEWRITE_H
#define DIAL9_TRACEWRITE_H

#include "trace.h"

/* ---- encoder -------------------------------------------------------------------------------- */

/*
 * A batch is a header and all that follows up to the next header. It is self-contained: schemas
 * are written at an event's first use, pool entries when they are interned, reset frames where the
 * time steps back or by more than D9_DELTA_MAX_NS. Events may come in any time order; order by time
 * is the smallest on disk.
 *
 * The buffer is the caller's. Nothing is allocated. Each put either writes all or, with
 * -D9_E_ROOM, nothing: the caller then takes enc->buf[0..enc->len), hands it on, calls
 * d9_enc_drain() and repeats the put; the batch goes on across drains. A buffer of at least
 * D9_ENC_BUF_MIN bytes never refuses a typed event in an empty state (maps and strings aside).
 */
struct d9_pool;

#define D9_ENC_BUF_MIN 4096u

struct d9_enc {
	uint8_t *buf;
	size_t cap, len;
	uint64_t base_ns; /* stamp of the last event */
	uint64_t declared; /* bit per enum d9_event: schema written in this batch */
	struct d9_pool *pool;
	uint64_t batch_no; /* counts d9_enc_begin; a pool id is valid for one batch_no only */
	uint64_t event_cnt; /* since d9_enc_init */
};

/* Bind buffer and pool (NULL if nothing is interned); both stay the caller's. Writes nothing. */
void d9_enc_init(struct d9_enc *enc, void *buf, size_t cap, struct d9_pool *pool);

/* Write a header: a new batch. Forgets schemas, pool and time. 0 or -D9_E_ROOM. */
int d9_enc_begin(struct d9_enc *enc);

/* The caller has taken the bytes: len = 0, the batch goes on. */
static inline void d9_enc_drain(struct d9_enc *enc)
{
	enc->len = 0;
}

/*
 * Lanes: events of one worker after the other compress best (FORMAT.md has the figures). A lane is a
 * d9_enc with a buffer of its own that writes into another one's batch: declare all schemas on the
 * main encoder first, intern on it only, put each worker's events on its own lane. To hand on, write
 * out the main encoder's bytes first, then each lane's, and d9_enc_cut() all of them. After
 * d9_enc_begin on the main one, make the lanes again. No event may be stamped UINT64_MAX.
 */
int d9_enc_declare_all(struct d9_enc *enc); /* 0, -D9_E_ROOM (D9_ENC_BUF_MIN * 2 is enough) */
void d9_enc_lane(struct d9_enc *lane, void *buf, size_t cap, const struct d9_enc *main);

/* As d9_enc_drain, where bytes of other lanes come between: the next event brings its full stamp. */
static inline void d9_enc_cut(struct d9_enc *enc)
{
	enc->len = 0;
	enc->base_ns = UINT64_MAX;
}

/*
 * d9_put_poll_start(enc, ts_ns, &e) and kin, one per records.def entry. 0, -D9_E_ROOM,
 * -D9_E_TOO_BIG (string map or string over D9_UNIT_MAX), -D9_E_STATE (no d9_enc_begin yet).
 * D9_BOUND_<name> is the most that one call writes, schema and reset frame included, apart from
 * maps and strings, which add 4 + 8 * entries + their bytes.
 */
#define D9_B_V 10
#define D9_B_U8 1
#define D9_B_U16 2
#define D9_B_U32 4
#define D9_B_BOOL 1
#define D9_B_F64 8
#define D9_B_PS 4
#define D9_B_PK 4
#define D9_B_STR 4
#define D9_B_MAP 4
#define D9_B_oV 11
#define D9_B_oPS 5
#define D9_B_oPK 5
#define D9_EVENT_BOUND 23 /* tag, type, delta, a reset frame, 8 bytes of slack for wide stores */
/* clang-format off */
#define D9_EVENT(NAME, name, wire, use, doc) \
	int d9_put_##name(struct d9_enc *enc, uint64_t ts_ns, const struct d9_##name *e); \
	enum { D9_BOUND_##name = D9_EVENT_BOUND + 8 + (sizeof(wire) - 1)
#define D9_FIELD(name, field, type, doc) + 3 + (sizeof(#field) - 1) + D9_B_##type
#define D9_END(name) };
#include "records.def"
/* clang-format on */

/*
 * Pool of strings and stacks already written in the batch: fixed-size hash tables and one arena,
 * allocated here once; pages are touched only as they fill. 0 for a size means the default.
 * When any of the three is full, interning returns -D9_E_POOL_FULL and the caller begins a new
 * batch (d9_enc_begin empties the pool). NULL on -ENOMEM.
 */
#define D9_POOL_STR_DEF 16384u
#define D9_POOL_STACK_DEF 32768u
#define D9_POOL_SZ_DEF (8u << 20)
struct d9_pool *d9_pool_new(uint32_t str_cap, uint32_t stack_cap, size_t arena_cap);
void d9_pool_free(struct d9_pool *pool);

/*
 * Pool id of a string, or of a stack (leaf first); the pool frame is written if it is new in this
 * batch. 0, -D9_E_ROOM, -D9_E_POOL_FULL, -D9_E_TOO_BIG, -D9_E_STATE. About 15 ns for a known
 * string: a hot caller keeps (batch_no, id) beside its own object and skips the call.
 */
int d9_intern_str(struct d9_enc *enc, const char *p, size_t len, uint32_t *ret_id);
int d9_intern_stack(struct d9_enc *enc, const uint64_t *frames, size_t cnt, uint32_t *ret_id);

/* Encode any event (converters, tests). type_id must be >= D9_TYPE_ANY_MIN and is the caller's. */
#define D9_TYPE_ANY_MIN 64u
struct d9_any_field {
	const char *name;
	uint8_t type;
};
struct d9_any_def {
	uint16_t type_id;
	const char *name;
	bool has_no_ts; /* legacy: event without a stamp */
	uint16_t field_cnt;
	const struct d9_any_field *fields;
};
int d9_put_any_schema(struct d9_enc *enc, const struct d9_any_def *def);
/* values[def->field_cnt]. -D9_E_BAD_VALUE if a value's type is not the field's. */
int d9_put_any(struct d9_enc *enc, uint64_t ts_ns, const struct d9_any_def *def,
	       const struct d9_value *values);
/* One pool entry with a chosen id, bypassing the pool (converters, tests). */
int d9_put_pool_str(struct d9_enc *enc, uint32_t id, const char *p, size_t len);
int d9_put_pool_stack(struct d9_enc *enc, uint32_t id, const uint64_t *frames, size_t cnt);

/* Annotations of one schema, in one frame. Only on the user's request: readers before 0.5 fail. */
struct d9_annotation {
	uint16_t field_idx;
	struct d9_str key, val;
};
int d9_put_annotations(struct d9_enc *enc, uint16_t type_id, const struct d9_annotation *a,
		       size_t cnt);

/* ---- sink: bytes -> compressed file --------------------------------------------------------- */

struct d9_sink_opt {
	enum d9_compression compression;
	int level; /* 0: D9_ZSTD_LEVEL_DEF or D9_GZIP_LEVEL_DEF */
	size_t buf_sz; /* compressed bytes gathered before a write(2); 0: 256 KiB */
};
/*
 * Measured on a recording of an HTTP server (966,238 events of level full, 11.7 bytes each raw), CPU
 * time and bytes per event:
 *
 *   level   -5    -3    -1     1     2     3     4     5     6
 *   ns      29    31    32    35    41    83   100   130   190
 *   bytes  5.59  4.96  4.05  3.64  3.65  3.60  3.59  3.47  3.37
 *
 * Below 1 bytes grow and hardly a ns is saved; above it, twice the time saves 1 %, five times 7 %.
 * Nothing else pays either: a larger hash table (17 bits: 42 ns, 3.58), shorter matches (5 bytes: 40
 * ns, 3.70), dfast (44 ns, 3.64), greedy (83 ns, 3.76), a smaller window (32 KiB: 37 ns, 3.79). Where
 * flushes fall does not matter: each 27 KB of raw bytes 3.66, each 128 KiB or never 3.64.
 */
#define D9_ZSTD_LEVEL_DEF 1
#define D9_GZIP_LEVEL_DEF 1

/*
 * All memory is allocated by d9_sink_new and reused for each file; writes allocate nothing.
 * Order: d9_sink_start(fd) { d9_sink_write | d9_sink_flush }* d9_sink_finish, then again.
 * A descriptor given to d9_sink_start stays the caller's; the sink starts at its present offset,
 * so that starting again on the same descriptor appends one more zstd frame (not for gzip: readers
 * take one member only).
 *
 * Errors are the errno of write(2) (-ENOSPC, -EDQUOT, -EIO, -EFBIG, ...) and leave the sink whole:
 * bytes already compressed are kept and the same call, repeated with what *ret_used left, goes on
 * where it stopped. Give up with d9_sink_abort. -D9_E_STATE: called out of order.
 */
struct d9_sink;
int d9_sink_new(struct d9_sink **ret, const struct d9_sink_opt *opt);
void d9_sink_free(struct d9_sink *sink);
int d9_sink_start(struct d9_sink *sink, int fd);

/* Take len bytes. *ret_used (may be NULL if an error means giving up) is set always. */
int d9_sink_write(struct d9_sink *sink, const void *p, size_t len, size_t *ret_used);

/* Everything taken so far is on its way to the file (in the kernel; not fsync'ed) and a reader of
 * the unfinished file decodes all of it. */
int d9_sink_flush(struct d9_sink *sink);

/* End the gzip member or zstd frame and write it out. */
int d9_sink_finish(struct d9_sink *sink);

/* Forget the file being written; the bytes in it so far stay. */
void d9_sink_abort(struct d9_sink *sink);

uint64_t d9_sink_in_sz(const struct d9_sink *sink); /* taken since d9_sink_start */
uint64_t d9_sink_out_sz(const struct d9_sink *sink); /* written to the file since d9_sink_start */

#endif /* DIAL9_TRACEWRITE_H */
