/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - libdial9trace: read and write dial9 traces (format version 1). The only public header.
 *
 * The bytes are specified in FORMAT.md; the events in records.def, the errors in errors.def.
 * Needs libc, zlib and libzstd. Nothing here logs, starts threads or keeps global state. Objects
 * are independent of each other; one object is used by one thread at a time.
 *
 * Return values: 0 (or the positive value named below) is success; failure is -D9_E_* or a negative
 * errno, told apart and put into words by d9_strerror(). Outputs are untouched on failure.
 * Times are ns of CLOCK_MONOTONIC, sizes are bytes. Strings carry a length: bytes from a trace may
 * hold anything, NUL and broken UTF-8 included.
 *
 * Write:   d9_enc (events to bytes in the caller's buffer) -> d9_sink (compress, to a descriptor)
 * Read:    d9_src (file, decompress) -> d9_dec (bytes to events); d9_src_next() drives both
 */
#ifndef DIAL9_TRACE_H
#define DIAL9_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- errors --------------------------------------------------------------------------------- */

enum d9_error {
#define D9_ERROR(name, number, text) D9_E_##name = number,
#include "errors.def"
#undef D9_ERROR
};

/* Words for a negative return value of any function here. Never NULL; static or strerror()'s. */
const char *d9_strerror(int rc);

/* ---- limits (named caps; what happens at each is said where it applies) ---------------------- */

#define D9_HEADER_SZ 5u
#define D9_DELTA_MAX_NS 0xffffffu /* a larger step, or one back, costs a reset frame */
#define D9_SCHEMA_MAX 8192u /* schemas in one batch; reader stops with -D9_E_LIMIT */
#define D9_FIELD_MAX 512u /* fields in one schema; -D9_E_LIMIT, writer -D9_E_TOO_BIG */
#define D9_NAME_MAX 4096u /* bytes of a schema or field name; likewise */
#define D9_STR_MAX 65536u /* bytes of a string the writer interns; -D9_E_TOO_BIG */
#define D9_STACK_MAX 1024u /* frames of a stack the writer interns; -D9_E_TOO_BIG */
#define D9_UNIT_MAX (16u << 20) /* bytes of one event, schema or pool entry; reader -D9_E_LIMIT */
#define D9_POOL_CNT_MAX (1u << 21) /* pool entries in a reader, strings and stacks each */
#define D9_POOL_SZ_MAX (512ull << 20) /* their bytes, names included; -D9_E_LIMIT */
#define D9_NEST_MAX 32u /* depth of lists and maps; -D9_E_DEPTH */
#define D9_ITEM_MAX 1000000u /* entries of one map or list; -D9_E_LENGTH */
#define D9_ZSTD_WINDOW_LOG 23 /* 8 MiB: the most that browsers decode; writer's cap */
#define D9_ZSTD_WINDOW_LOG_MAX 24 /* reader's cap; -D9_E_WINDOW */
#define D9_DECODED_MAX (64ull << 30) /* decompressed bytes of one d9_src; -D9_E_BOMB */

/* ---- types ---------------------------------------------------------------------------------- */

/* Field types as on the wire. A schema's type byte may also carry D9_T_OPTIONAL. */
enum d9_type {
	D9_T_NONE = 0, /* in a d9_value: the optional field is absent */
	D9_T_I64 = 1,
	D9_T_F64 = 2,
	D9_T_BOOL = 3,
	D9_T_STRING = 4,
	D9_T_BYTES = 5,
	D9_T_PSTACK = 6, /* id in the stack pool */
	D9_T_PSTRING = 7, /* id in the string pool */
	D9_T_STACK = 8,
	D9_T_VARINT = 9,
	D9_T_MAP = 10, /* string map */
	D9_T_U8 = 11,
	D9_T_U16 = 12,
	D9_T_U32 = 13,
	D9_T_DYN_LIST = 14,
	D9_T_DYN_MAP = 15,
	D9_T_MAX = 15,
	D9_T_OPTIONAL = 0x80,
};

/*
 * One field value, read or to be written.
 *  type     base type, without D9_T_OPTIONAL; D9_T_NONE if absent
 *  cnt      STRING BYTES PSTRING: bytes · STACK PSTACK: frames · MAP DYN_*: entries
 *  sz       MAP DYN_*: bytes behind .bytes (the entries, without the leading count)
 *  pool_id  PSTRING PSTACK: id, unique within one batch (see d9_ev.batch)
 *  u        VARINT U8 U16 U32 BOOL · i: I64 · f: F64 · str: STRING PSTRING (a pooled string also
 *           ends in NUL, an inline one does not) · frames: STACK PSTACK · bytes: the others
 * A pool id without an entry reads as str/frames NULL with cnt 0.
 * A writer sets pool_id alone for PSTRING and PSTACK.
 */
struct d9_value {
	uint8_t type;
	uint32_t cnt;
	uint32_t sz;
	uint32_t pool_id;
	union {
		uint64_t u;
		int64_t i;
		double f;
		const char *str;
		const uint64_t *frames;
		const uint8_t *bytes;
	};
};

/* A key or value of a string map. */
struct d9_str {
	const char *p;
	uint32_t len;
};
struct d9_pair {
	struct d9_str key, val;
};

/* ---- the events of records.def --------------------------------------------------------------- */

/* Kind of an event: D9_EV_POLL_START, ... D9_EV_OTHER is any name not in records.def. */
enum d9_event {
#define D9_EVENT(NAME, name, wire, use, doc) D9_EV_##NAME,
#define D9_FIELD(name, field, type, doc)
#define D9_END(name)
#include "records.def"
	D9_EV_CNT,
	D9_EV_OTHER = D9_EV_CNT,
#undef D9_EVENT
#undef D9_FIELD
#undef D9_END
};

/* Number of a field within its event's records.def entry: D9F_poll_start_task_id, ... */
/* clang-format off */
#define D9_EVENT(NAME, name, wire, use, doc) enum {
#define D9_FIELD(name, field, type, doc) D9F_##name##_##field,
#define D9_END(name) D9F_##name##_cnt };
#include "records.def"
#undef D9_EVENT
#undef D9_FIELD
#undef D9_END
/* clang-format on */

/*
 * One struct per event: struct d9_poll_start {uint64_t worker_id; ...}. Member types by wire type:
 *   V uint64_t · U8 U16 U32 · BOOL bool · F64 double · PS PK uint32_t pool id from d9_intern_* ·
 *   STR {p, len} · MAP pointer and <field>_cnt · o*: the same plus bool has_<field>.
 */
/* clang-format off */
#define D9_M_V(f) uint64_t f;
#define D9_M_U8(f) uint8_t f;
#define D9_M_U16(f) uint16_t f;
#define D9_M_U32(f) uint32_t f;
#define D9_M_BOOL(f) bool f;
#define D9_M_F64(f) double f;
#define D9_M_PS(f) uint32_t f;
#define D9_M_PK(f) uint32_t f;
#define D9_M_STR(f) struct d9_str f;
#define D9_M_MAP(f) const struct d9_pair *f; uint32_t f##_cnt;
#define D9_M_oV(f) uint64_t f; bool has_##f;
#define D9_M_oPS(f) uint32_t f; bool has_##f;
#define D9_M_oPK(f) uint32_t f; bool has_##f;
#define D9_EVENT(NAME, name, wire, use, doc) struct d9_##name {
#define D9_FIELD(name, field, type, doc) D9_M_##type(field)
#define D9_END(name) };
#include "records.def"
#undef D9_EVENT
#undef D9_FIELD
#undef D9_END
/* clang-format on */

/* Static facts of a records.def entry, for dumps, docs and schema writers. */
struct d9_field_def {
	const char *name;
	uint8_t type; /* with D9_T_OPTIONAL */
	const char *doc;
};
struct d9_event_def {
	const char *c_name; /* "poll_start" */
	const char *name; /* "PollStartEvent" */
	const char *doc;
	bool is_written; /* by dial9-agent */
	uint16_t field_cnt;
	const struct d9_field_def *fields;
};

/* ev < D9_EV_CNT; NULL otherwise. */
const struct d9_event_def *d9_event_def(enum d9_event ev);

/* Kind of a wire name; D9_EV_OTHER if it is not ours. */
enum d9_event d9_event_by_name(const char *name, size_t len);

/* "Varint", "optional PooledString", ...; "?" if unknown. */
const char *d9_type_name(uint8_t type);

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
#undef D9_EVENT
#undef D9_FIELD
#undef D9_END
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

/* ---- decoder -------------------------------------------------------------------------------- */

struct d9_field {
	const char *name; /* ends in NUL */
	uint16_t name_len;
	uint8_t type; /* with D9_T_OPTIONAL */
};
#define D9_SLOT_CNT 16 /* no records.def entry has more fields */
struct d9_schema {
	const char *name; /* ends in NUL */
	uint16_t name_len;
	uint16_t type_id;
	uint16_t field_cnt;
	bool has_ts;
	enum d9_event kind;
	const struct d9_field *fields;
	int16_t slot[D9_SLOT_CNT]; /* kind's D9F_* number -> index in fields, -1 not there */
	const struct d9_annotation *annotations;
	uint32_t annotation_cnt;
};

/*
 * One event. schema, pooled strings and pooled stacks live until the decoder takes the next header
 * (batch changes) or is freed; the d9_ev, its values and inline strings, stacks, maps and lists
 * until the next call on the decoder.
 */
struct d9_ev {
	const struct d9_schema *schema;
	const struct d9_value *values; /* [schema->field_cnt], wire order */
	uint64_t ts_ns; /* the last stamp seen if !schema->has_ts */
	uint64_t batch; /* number of headers seen; (batch, pool_id) names a pool entry */
	uint64_t off; /* of its tag, in decompressed bytes */
};

/* Value of a records.def field, e.g. D9F_poll_start_task_id, of an event of that kind (check
 * ev->schema->kind first). NULL: absent. */
static inline const struct d9_value *d9_val(const struct d9_ev *ev, int field)
{
	int at = ev->schema->slot[field];

	return at < 0 || !ev->values[at].type ? NULL : &ev->values[at];
}

/* Value of a field by name. NULL: absent. */
const struct d9_value *d9_val_named(const struct d9_ev *ev, const char *name);

/* Numeric value as wanted; false if v is NULL, not a number, or does not fit. */
bool d9_value_u64(const struct d9_value *v, uint64_t *ret);
bool d9_value_i64(const struct d9_value *v, int64_t *ret);
bool d9_value_f64(const struct d9_value *v, double *ret);

/* d9_val + d9_value_u64, or dflt. */
uint64_t d9_u64(const struct d9_ev *ev, int field, uint64_t dflt);

/* String of a STRING or PSTRING value, {NULL, 0} for anything else. */
struct d9_str d9_value_str(const struct d9_value *v);

/* Walk a MAP: it starts zeroed {0}. false at the end. */
struct d9_iter {
	uint32_t done, off;
};
bool d9_map_next(const struct d9_value *map, struct d9_iter *it, struct d9_pair *ret);
/* Walk a DYN_LIST (one value each) or DYN_MAP (key, then value: 2 * cnt values). Pool ids inside
 * are not resolved. */
bool d9_dyn_next(const struct d9_value *dyn, struct d9_iter *it, struct d9_value *ret);

/* Limits; 0 means the default. A smaller one suits tests and servers. */
struct d9_dec_opt {
	uint32_t pool_cnt_max;
	uint64_t pool_sz_max;
	uint32_t unit_sz_max;
	uint32_t schema_max;
};

/* Counted since d9_dec_new. */
struct d9_dec_stats {
	uint64_t headers, schemas, events, strings, stacks, resets, annotations;
	uint64_t unresolved; /* pool ids without an entry */
	uint64_t bytes; /* decoded, decompressed */
};

struct d9_dec;
int d9_dec_new(struct d9_dec **ret, const struct d9_dec_opt *opt);
void d9_dec_free(struct d9_dec *dec);

/*
 * Give the next bytes of the stream; any size. They are borrowed until d9_dec_next() returns
 * something other than 1. -D9_E_STATE if the last ones are not used up. After an error: that error.
 */
int d9_dec_feed(struct d9_dec *dec, const void *bytes, size_t len);

/* 1: *ret is the next event. 0: needs more bytes. Negative: damaged at d9_dec_off(), for good. */
int d9_dec_next(struct d9_dec *dec, struct d9_ev *ret);

/* No more bytes will come. 0: the stream ended between frames; -D9_E_TRUNCATED: inside one, or
 * before the first header. After an error: that error. */
int d9_dec_end(struct d9_dec *dec);

/* Where the frame (or pool entry) being decoded starts: the place of an error or a cut. */
uint64_t d9_dec_off(const struct d9_dec *dec);
const struct d9_dec_stats *d9_dec_stats(const struct d9_dec *dec);

/* Declared schemas of the present batch, i = 0..; NULL past the end. */
const struct d9_schema *d9_dec_schema(const struct d9_dec *dec, uint32_t i);

/* ---- source: file -> events ------------------------------------------------------------------ */

enum d9_compression { D9_RAW, D9_GZIP, D9_ZSTD };

struct d9_src_opt {
	uint64_t decoded_max; /* 0: D9_DECODED_MAX */
	struct d9_dec_opt dec;
};

/*
 * A trace file: raw, gzip or zstd, told by its first bytes; gzip members or zstd frames in a
 * row read as one stream. path: opened read-only. fd: taken over, *fd becomes -1. mem: borrowed.
 */
struct d9_src;
int d9_src_open(struct d9_src **ret, const char *path, const struct d9_src_opt *opt);
int d9_src_open_fd(struct d9_src **ret, int *fd, const struct d9_src_opt *opt);
int d9_src_open_mem(struct d9_src **ret, const void *p, size_t sz, const struct d9_src_opt *opt);
void d9_src_close(struct d9_src *src);

/*
 * 1: *ret is the next event. 0: clean end. -D9_E_TRUNCATED: the file stops in mid-frame (a recorder
 * that was killed); every event before was given. Other negatives: damaged (-D9_E_*) or
 * unreadable (-errno). Sticky. d9_src_off() says where.
 */
int d9_src_next(struct d9_src *src, struct d9_ev *ret);

/* Decompressed bytes instead of events (do not mix): >0 bytes read, 0 end, negative as above. */
ssize_t d9_src_read(struct d9_src *src, void *buf, size_t len);

enum d9_compression d9_src_compression(const struct d9_src *src);
const struct d9_dec_stats *d9_src_stats(const struct d9_src *src);
const struct d9_dec *d9_src_dec(const struct d9_src *src);
uint64_t d9_src_off(const struct d9_src *src); /* decompressed, as d9_dec_off */
uint64_t d9_src_in_sz(const struct d9_src *src); /* file bytes read so far */

/* ---- sink: bytes -> compressed file --------------------------------------------------------- */

struct d9_sink_opt {
	enum d9_compression compression;
	int level; /* 0: D9_ZSTD_LEVEL_DEF or D9_GZIP_LEVEL_DEF */
	size_t buf_sz; /* compressed bytes gathered before a write(2); 0: 256 KiB */
};
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

#endif
