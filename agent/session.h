/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - the recording of one target, from its process to its files.
 *
 * Owns everything that belongs to one process: target, plan, seats, symbols, track, emit and
 * segments, and its slot in the probe. Opening it is all or nothing.
 */
#ifndef DIAL9_SESSION_H
#define DIAL9_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct features;
struct opt;
struct probe;
struct session;
struct wire_head;

/*
 * Finds Tokio in process `pid`, claims its trace directory, attaches and starts to record as
 * `slot` of the probe. On failure (logged) nothing is attached and nothing left on disk.
 */
int session_open(const struct opt *o, const struct features *f, struct probe *p, unsigned slot,
		 pid_t pid, struct session **ret);

/* One record of this target, in time order. */
void session_record(struct session *s, const struct wire_head *rec, size_t sz);

/* --on-demand: a closer look from now on, for its time. `reason` is a literal. */
void session_look_closer(struct session *s, const char *reason);

/* At each tick (pace.h), after all records up to `drained_ns` have been handed over: losses, metrics, changes
 * of level, what is due on disk. */
void session_tick(struct session *s, uint64_t now_ns, uint64_t drained_ns);

/* No probe is in the target: switches and CPU samples are all that comes. */
bool session_is_sparse(const struct session *s);

/* Each second: own cost, flush to disk. `agent_cpu_ns` is the agent's CPU time so far. */
void session_second(struct session *s, uint64_t now_ns, uint64_t agent_cpu_ns);

/* Records out of order, or unreadable, that the rings saw since the last call. */
void session_lost(struct session *s, uint64_t now_ns, const char *kind, const char *cause,
		  uint64_t cnt, uint64_t from_ns);

/* Readable when the process has ended. */
int session_pidfd(const struct session *s);
pid_t session_pid(const struct session *s);
const char *session_path(const struct session *s);

/* True once the process has replaced itself by exec: its recording is over. */
bool session_has_execed(const struct session *s);

/* A file with a Tokio that the process has mapped since session_open, and that is not recorded
 * therefore: its path; NULL = none. To be asked on each tick, and cheap. */
const char *session_newcomer(struct session *s, uint64_t now_ns);

/* Nothing is recorded from here on; the probes stand until session_detach. */
void session_stop(struct session *s);

/* Detaches. Records still in the rings may be handed over afterwards. */
void session_detach(struct session *s);

/* Seals the last segment and prints the summary to `out` (NULL = none), as text or as one JSON
 * document; frees the session. May be called from another thread than the rest, as the last call. */
int session_close(struct session *s, uint64_t now_ns, FILE *out, bool is_json);

#endif /* DIAL9_SESSION_H */
