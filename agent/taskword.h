/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskword.h - learns where one target keeps the id of the task a thread polls, tells BPF, and
 * says what it knows: in the log, in the metadata (agent.task_id_tls, agent.task_id_tls_check) and
 * in the summary.
 */
#ifndef DIAL9_TASKWORD_H
#define DIAL9_TASKWORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metadata;
struct plan;
struct probe;
struct target;
struct taskword;
struct wire_counts;
struct wire_tls;

#define TASKWORD_EAGER_NS 2000000000ull /* learning is quick for so long, then it goes on slowly */

/* All borrowed; `cache` is a path for wordcache.h. 0, -ENOMEM. That it cannot be learnt here is no
 * failure, but said. */
int taskword_open(struct probe *p, unsigned slot, const struct target *t, const struct plan *plan,
		  const char *cache, struct metadata *m, struct taskword **ret);
void taskword_close(struct taskword *w);

void taskword_record(struct taskword *w, const struct wire_tls *rec);

/* At each tick (pace.h), with the target's counts so far. A word that stops to agree with the probes is
 * dropped: BPF does not use it any more, and the log, the metadata and the cache follow. */
void taskword_tick(struct taskword *w, const struct wire_counts *counts, uint64_t now_ns);

/* BPF can tell by it which task a thread polls; that may yet come to be. */
bool taskword_is_known(const struct taskword *w);
bool taskword_is_learning(const struct taskword *w);

/* The last word on it, into the metadata and as one line of text. */
void taskword_finish(struct taskword *w, char *line, size_t sz);

#endif /* DIAL9_TASKWORD_H */
