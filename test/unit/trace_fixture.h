/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_fixture.h - for the tests of format/: one of every event, events as text, guarded input.
 */
#ifndef DIAL9_TRACE_FIXTURE_H
#define DIAL9_TRACE_FIXTURE_H

#include <stdio.h>

#include "format/trace.h"

#define FIXTURE_SEGMENT_EVENTS ((unsigned int)D9_EV_CNT + 4)

/* One line per event: off, stamp, name, then name=value of each field. */
void fixture_print(FILE *to, const struct d9_ev *ev);

/*
 * Append a batch with every event of records.def once, in their order, fields numbered upwards from
 * seed, and one each of: a step back in time, a long step, a generic event with all field types, one
 * without a stamp. FIXTURE_SEGMENT_EVENTS events in all. Optional fields are present in odd events.
 */
int fixture_batch(struct d9_enc *enc, uint64_t seed);

/* An encoder at the beginning of a batch; pool NULL = none. */
void fixture_enc(struct d9_enc *enc, uint8_t *buf, size_t sz, struct d9_pool *pool);

/* For groups of tests: *state is a pool of the default size. */
int fixture_pool(void **state);
int fixture_pool_free(void **state);

/* The generic event's schema: all field types, then all of them optional. */
extern const struct d9_any_def fixture_any;

/* By hand: a schema frame of type 5, "E", with a stamp and one field "f" of wire type `type`. */
#define FIXTURE_SCHEMA(type) "\x01\x05\0\x01\0E\x01\x01\0\x01\0f" type
/* An event of it, without its value. */
#define FIXTURE_EVENT "\x02\x05\0\x01\0\0"

/* Everything that decoding gives, as text: events, then "end: <words>". Chunks of chunk_sz, 0 all. */
char *fixture_text(const void *bytes, size_t sz, size_t chunk_sz);

/* A copy of sz bytes that ends at an unmapped page. Free with fixture_unguard. */
void *fixture_guard(const void *bytes, size_t sz);
void fixture_unguard(void *p, size_t sz);

#endif
