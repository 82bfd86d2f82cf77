/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - the decoder's state, shared by decode.c (units out of chunks), frames.c (what the units
 * mean) and fields.c (an event's values). A unit is the smallest thing taken in one go: a header, a schema, an event, a pool
 * frame's head, one pool entry, a reset, an annotation frame.
 */
#ifndef DIAL9_DECODE_H
#define DIAL9_DECODE_H

#include "arena.h"
#include "idmap.h"
#include "value.h"

enum dec_state {
	DEC_START, /* only a header may come */
	DEC_FRAME, /* between frames */
	DEC_STRINGS, /* entries_left entries of a string pool frame follow */
	DEC_STACKS, /* likewise of a stack pool frame */
	DEC_FAILED, /* rc says why */
};

#define TYPE_CNT 65536u

struct dec_schema {
	struct d9_schema pub;
	const uint8_t *types; /* [pub.field_cnt] */
	bool has_stack; /* a field is an inline stack */
	bool has_pooled; /* a field is an id of a pool */
	uint16_t plain_sz; /* bytes of all fields at most, 0: not all are of the types in fields.c */
	const char *raw; /* its frame, to tell a repetition from a redefinition */
	size_t raw_sz;
	struct d9_annotation *annotations;
	uint32_t annotation_cap;
};

struct d9_dec {
	enum dec_state state;
	int rc;
	struct d9_dec_opt opt;
	struct d9_dec_stats stats;

	const uint8_t *in, *in_end; /* what was fed and not used yet */
	uint64_t off; /* of the unit being read */
	uint8_t *carry; /* a unit cut by the end of a chunk */
	size_t carry_len, carry_cap, carry_want;

	uint32_t entries_left;
	uint64_t base_ns;
	struct arena arena;
	struct idmap strings, stacks;
	struct dec_schema **schemas;
	uint32_t schema_cnt, schema_cap;
	uint16_t by_type[TYPE_CNT]; /* index in schemas + 1, 0 not declared */

	struct d9_value values[D9_FIELD_MAX];
	uint64_t *frames; /* inline stacks of the present event, aligned */
	size_t frames_cap;
};

/* Each reads one unit at the cursor. 0, READ_MORE, or an error. */
int frame_header(struct d9_dec *dec, struct cursor *c);
int frame_schema(struct d9_dec *dec, struct cursor *c);
int frame_annotations(struct d9_dec *dec, struct cursor *c);
int frame_pool_entry(struct d9_dec *dec, struct cursor *c);

/* The fields of an event into dec->values, ids of pools resolved; else the same. */
int fields_read(struct d9_dec *dec, const struct dec_schema *s, struct cursor *c);

#endif
