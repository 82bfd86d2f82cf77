/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - one recording, decoded: plain arrays, read-only, the same for every command, page
 * and query. columns.def lists and explains each; index.h makes them from files or finds them in
 * the cache; pyramid.h answers "what is in each pixel".
 *
 *	struct columns *c;
 *	int err = index_open(&c, files, files_cnt, NULL);
 *	for (uint32_t i = c->lanes.polls_from[lane]; i < c->lanes.polls_to[lane]; i++)
 *		use(c->polls.start_ns[i], c->polls.dur_ns[i], c->polls.task[i]);
 *	index_close(c);
 *
 * A row is a uint32_t below the table's cnt. Every reference was checked when the columns were
 * opened, whatever wrote the cached file: it is a row of its table, or COLUMNS_NONE. Order within
 * a table and the numbers themselves are only as good as the trace: loops must not rely on sums
 * that do not overflow or on times that do not run back.
 *
 * Any number of threads may read one struct columns. Nothing here allocates.
 */
#ifndef DIAL9_COLUMNS_H
#define DIAL9_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLUMNS_NONE UINT32_MAX /* a reference to nothing */
#define COLUMNS_QUEUE_UNKNOWN UINT16_MAX
#define COLUMNS_NO_SYSCALL UINT16_MAX
#define COLUMNS_LANES_MAX 8192u /* rows of lanes; further ids go to the last lane, counted in odd */
#define COLUMNS_TEXTS_MAX (1u << 20) /* strings; further ones are text 1, counted in odd */
#define COLUMNS_TEXT_BYTES_MAX (256u << 20)
#define COLUMNS_STACKS_MAX (1u << 20) /* stacks; further ones are stack 0, counted in odd */

enum columns_lane { COLUMNS_WORKER, COLUMNS_NESTED, COLUMNS_BLOCKING, COLUMNS_NOWHERE };

enum {
	COLUMNS_POLL_CUT = 1, /* its end was not seen */
	COLUMNS_POLL_INFERRED = 2, /* its end was not seen but deduced to a few us */
	COLUMNS_POLL_HANDOFF =
		4, /* its thread gave the worker away (block_in_place): dur_ns up to there */
	COLUMNS_WAKE_EFFECTIVE = 1, /* the task was idle */
	COLUMNS_WAKE_IN_POLL = 2, /* came while the task was polled: runnable at that poll's end */
	COLUMNS_WAKE_REDUNDANT = 4, /* it was woken already */
	COLUMNS_WAKE_SELF = 8, /* by the task itself */
	COLUMNS_TASK_SPAWNED = 1, /* its spawn was seen */
	COLUMNS_TASK_OLD = 2, /* agent:Alive: older than the recording */
};

/* struct columns_polls { uint32_t cnt; const uint64_t *start_ns; ... } and kin, by columns.def. */
/* clang-format off */
#define COLUMNS_TABLE(table, doc) struct columns_##table { uint32_t cnt;
#define COLUMNS_NUM(table, bits, name, doc) const uint##bits##_t *name;
#define COLUMNS_REF(table, name, of, doc) const uint32_t *name;
#define COLUMNS_LINK(table, name, of, doc) const uint32_t *name;
#define COLUMNS_REF16(table, name, of, doc) const uint16_t *name;
#define COLUMNS_RANGE(table, name, of, doc) const uint32_t *name##_from, *name##_to;
#define COLUMNS_END(table) };
#include "columns.def"
/* clang-format on */

/* What is counted while decoding, beside the tables. */
struct columns_odd {
	uint64_t events; /* decoded in all */
	uint64_t stray_ends; /* poll ends without a start */
	uint64_t bad_fields; /* events that lack a field they must have: left out */
	uint64_t unresolved; /* pool ids that name nothing */
	uint64_t over_cap; /* lanes, texts or stacks beyond their cap */
	uint64_t task_seed; /* of the hash in task_slots */
	uint64_t first_ns, last_ns; /* least and greatest stamp of lanes, wakes and queues */
};

struct columns_map;
struct columns {
	struct columns_odd odd;
#define COLUMNS_TABLE(table, doc) struct columns_##table table;
#include "columns.def"
	const uint64_t *node_base; /* first node of (plane, lane): pyramid.c */
	size_t map_sz; /* bytes behind all arrays */
	struct columns_map *map; /* who owns them */
};

/* A text; not ended by NUL. Empty for COLUMNS_NONE. */
const char *columns_text(const struct columns *c, uint32_t text, size_t *ret_len);

/* Hash of a task id: where to begin in task_slots. */
static inline uint32_t columns_slot(uint64_t id, uint64_t seed)
{
	uint64_t h = (id ^ seed) * 0x9e3779b97f4a7c15u;

	return (uint32_t)((h ^ h >> 32) * 0x85ebca6bu >> 7);
}

/* Row of a task id, or COLUMNS_NONE. */
uint32_t columns_task(const struct columns *c, uint64_t id);

/* Row of a worker's lane, or COLUMNS_NONE. */
uint32_t columns_worker(const struct columns *c, uint32_t worker_id);

/* The first row in [from, to) of sorted times[] that is at or after ns; `to` if there is none. */
uint32_t columns_seek(const uint64_t *times, uint32_t from, uint32_t to, uint64_t ns);

/* The last poll of a lane that starts at or before ns (it may have ended since), or COLUMNS_NONE. */
uint32_t columns_poll_at(const struct columns *c, uint32_t lane, uint64_t ns);

/* Name of a frame's innermost (at 0), next outer, ... function. False past the last: then, if at
 * is 0, the address has no name. */
bool columns_symbol(const struct columns *c, uint32_t frame, uint32_t at, uint32_t *ret_symbol);

/* Value of a metadata key as a text, COLUMNS_NONE if there is none. */
uint32_t columns_fact(const struct columns *c, const char *key);

/* Wall clock of a stamp by the nearest clock pair before it (the first one else). False: none. */
bool columns_realtime(const struct columns *c, uint64_t ns, uint64_t *ret_realtime_ns);

/*
 * Walks the values of a record, in the order of its schema's fields. `it` starts as {0}.
 *  type   the field's, D9_T_NONE if absent. u: numbers (I64 as two's complement, F64 as its bits)
 *         u: strings, bytes, maps and lists: a text (maps and lists as JSON) · stacks: a row of stacks
 */
struct columns_iter {
	uint32_t field;
	uint64_t off;
};
struct columns_value {
	uint8_t type;
	uint32_t name; /* text */
	uint64_t u;
};
bool columns_record_next(const struct columns *c, uint32_t record, struct columns_iter *it,
			 struct columns_value *ret);

#endif /* DIAL9_COLUMNS_H */
