/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - libdial9trace: read and write dial9 traces (format version 1). The public header: what
 * both halves share, and with it the halves, traceread.h and tracewrite.h.
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
#include "records.def"
	D9_EV_CNT,
	D9_EV_OTHER = D9_EV_CNT,
};

/* Number of a field within its event's records.def entry: D9F_poll_start_task_id, ... */
/* clang-format off */
#define D9_EVENT(NAME, name, wire, use, doc) enum {
#define D9_FIELD(name, field, type, doc) D9F_##name##_##field,
#define D9_END(name) D9F_##name##_cnt };
#include "records.def"
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

/* Of these kinds (agent:Loss.kind) the events are in the trace, but less exact than they should be. */
bool d9_loss_is_flaw(const char *kind, size_t len);

/* "Varint", "optional PooledString", ...; "?" if unknown. */
const char *d9_type_name(uint8_t type);

enum d9_compression { D9_RAW, D9_GZIP, D9_ZSTD };

#include "traceread.h"
#include "tracewrite.h"

#endif
