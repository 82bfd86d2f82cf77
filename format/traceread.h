/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traceread.h - libdial9trace's half that reads: a file or bytes to events. Comes with trace.h, which says what holds for all of it.
 */
#ifndef DIAL9_TRACEREAD_H
#define DIAL9_TRACEREAD_H

#include "trace.h"

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

/* d9_val + d9_value_u64: false if absent or no such number. Nearly every number is a varint. */
static inline bool d9_val_u64(const struct d9_ev *ev, int field, uint64_t *ret)
{
	const struct d9_value *v = d9_val(ev, field);

	if (!v || v->type != D9_T_VARINT)
		return d9_value_u64(v, ret);
	*ret = v->u;
	return true;
}

/* The same, or dflt. */
static inline uint64_t d9_u64(const struct d9_ev *ev, int field, uint64_t dflt)
{
	uint64_t v;

	return d9_val_u64(ev, field, &v) ? v : dflt;
}

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

#endif /* DIAL9_TRACEREAD_H */
