/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - ids drawn from counters that may be Tokio's, until they turn up as tasks.
 *
 * Tokio numbers its tasks from one static counter; other counters of the program look the same, so
 * a counter counts only once its numbers have turned up as task ids. A drawn id waits here: for
 * its bind (then only the counter learns from it), for its first poll (a spawn without bind_inner:
 * Tokio before 1.35, LocalSet), for its run as a blocking task (the time it was queued).
 * Until a counter is confirmed, tasks that match it wait as well, and get their TaskSpawnEvent
 * (or agent:Alive) late, with the right stamp.
 */
#ifndef DIAL9_SPAWN_H
#define DIAL9_SPAWN_H

#include <stdbool.h>
#include <stdint.h>

#define SPAWN_PENDING_MAX 65536 /* drawn ids; the oldest gives way, counted in spawns_stats */
#define SPAWN_TTL_NS 30000000000ull /* ids that turn up later are tasks of unknown birth */
#define SPAWN_UNDECIDED_MAX 256 /* tasks that wait for a counter; further ones become Alive */
#define SPAWN_DECIDE_NS 2000000000ull /* then a counter that never missed is believed */
#define SPAWN_COUNTERS_MAX 64 /* PLAN_COUNTERS_ALL_MAX */

struct emit;
struct spawns;
struct wire_spawn_id;

struct spawn_birth { /* when and where an id was drawn */
	uint64_t ts_ns;
	uint32_t worker_id; /* UINT32_MAX = not on a worker */
	uint8_t counter;
	bool is_sure; /* its counter is confirmed */
};

struct spawn_task { /* a task first seen at a poll, its birth perhaps in a counter */
	uint64_t task_id, vtable, seen_ns;
	uint32_t name, type_name;
};

/* has_events: TaskSpawnEvent is written; without, births are followed all the same, since they
 * tell which tasks are older than the recording. */
int spawns_new(struct emit *e, bool has_events, bool has_wakes, struct spawns **ret);
void spawns_free(struct spawns *sp);
/* The same two, changed. */
void spawns_level(struct spawns *sp, bool has_events, bool has_wakes);

/* false: the counter is known not to be Tokio's (or its index is out of range). */
bool spawns_drawn(struct spawns *sp, const struct wire_spawn_id *rec, uint32_t worker_id);

/*
 * `id` turned up as a task at ts_ns: takes its draw out. `tid`: the thread that must have drawn it
 * just before (bind), 0 = any. false: no counter gave it out in our time.
 */
bool spawns_take(struct spawns *sp, uint64_t id, uint32_t tid, uint64_t ts_ns,
		 struct spawn_birth *ret);

/* Drawn from the counter that is known to be Tokio's, and not seen as a task since. */
bool spawns_is_pending(const struct spawns *sp, uint64_t id);

/* Write the TaskSpawnEvent. */
void spawns_put(struct spawns *sp, const struct spawn_task *task, uint64_t ts_ns,
		uint32_t worker_id);
/* Write agent:Alive. */
void spawns_put_alive(struct spawns *sp, const struct spawn_task *task);

/* The birth is not sure: keep the task until its counter is. */
void spawns_defer(struct spawns *sp, const struct spawn_task *task, const struct spawn_birth *b);

/* Ages ids, decides what has waited long enough (`is_last`: everything). */
void spawns_tick(struct spawns *sp, uint64_t now_ns, bool is_last);

/* Every confirmed counter began with the first id of its Tokio: no task is older than the recording. */
bool spawns_since_birth(const struct spawns *sp);

struct spawn_stats {
	uint64_t drawn, taken, expired, over_cap, foreign; /* foreign: of a refused counter */
	uint32_t confirmed, refused; /* counters */
	uint64_t spawns, alive; /* events written */
};
void spawns_stats(const struct spawns *sp, struct spawn_stats *ret);

#endif /* DIAL9_SPAWN_H */
