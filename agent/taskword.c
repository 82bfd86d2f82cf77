// SPDX-License-Identifier: Apache-2.0
#include "taskword.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "metadata.h"
#include "plan.h"
#include "probe.h"
#include "target.h"
#include "taskid.h"
#include "wordcache.h"

#define TASKWORD_EAGER_BLOCKS \
	(2 * WIRE_LEARN_NO_WAKES) /* shown in each tick of 10 ms: 3.3 MB/s at most */
#define TASKWORD_SLOW_BLOCKS (WIRE_LEARN_NO_WAKES + 1)
#define TASKWORD_PATIENT_TICKS 10 /* ... in so many ticks, once it takes long: too few tasks are polled */
#define TASKWORD_TELL_NS 10000000000ull /* between two notes of the comparison in the metadata */
#define TASKWORD_CHECK "agrees %" PRIu64 ", at rest %" PRIu64 ", drops %" PRIu64 ", differs %" PRIu64

struct taskword {
	struct probe *probe;
	unsigned slot;
	pid_t pid;
	struct metadata *metadata;
	struct taskid id;
	const char *cache, *build_id; /* borrowed; "" = none */
	uint32_t block_sz; /* 0 = not to be learnt */
	uint64_t start_ns, told_ns;
	uint32_t ticks_cnt; /* since it takes long */
	uint64_t agrees, rests, drops, differs;
};

/* The file whose thread-local words are meant, NULL with the reason when there is none. */
static const struct plan_file *taskword_file(const struct target *t, const struct plan *p,
					     const char **ret_reason)
{
	const struct plan_file *found = NULL;

	for (size_t i = 0; i < p->files_cnt; i++) {
		if (!p->files[i].vtables_cnt)
			continue;
		if (found) {
			*ret_reason = "several files carry Tokio";
			return NULL;
		}
		found = &p->files[i];
	}
	if (!found || !found->tls_sz)
		*ret_reason = "the program has no thread-local storage";
	else if (found->target_file < t->files_cnt && !t->files[found->target_file].is_main)
		*ret_reason = "Tokio lies in a shared object: its thread-local storage has no "
			      "fixed place";
	else
		return found;
	return NULL;
}

/* The main program's block ends at the thread pointer, which has its alignment. */
static uint32_t taskword_block_sz(const struct plan_file *f)
{
	uint64_t align = f->tls_align > 8 ? f->tls_align : 8, max = 8 * WIRE_TLS_WORDS_MAX;

	if (f->tls_sz >= max || align >= max)
		return (uint32_t)max;
	return (uint32_t)((f->tls_sz + align - 1) / align * align < max
				  ? (f->tls_sz + align - 1) / align * align & ~7ull
				  : max);
}

static void taskword_tell(struct taskword *w)
{
	if (w->id.state == TASKID_KNOWN)
		metadata_setf(w->metadata, "agent.task_id_tls", "%u%s", w->id.off,
			      w->id.has_tag ? " tagged" : "");
	else
		metadata_setf(w->metadata, "agent.task_id_tls", "unknown: %s", w->id.reason);
	if (w->agrees + w->rests + w->drops + w->differs)
		metadata_setf(w->metadata, "agent.task_id_tls_check", TASKWORD_CHECK, w->agrees,
			      w->rests, w->drops, w->differs);
}

int taskword_open(struct probe *p, unsigned slot, const struct target *t, const struct plan *plan,
		  const char *cache, struct metadata *m, struct taskword **ret)
{
	struct taskword *w = calloc(1, sizeof(*w));
	const struct plan_file *file;
	struct wordcache_word kept;
	const char *reason = NULL;

	if (!w)
		return -ENOMEM;
	w->probe = p;
	w->slot = slot;
	w->pid = t->pid;
	w->metadata = m;
	taskid_init(&w->id);
	file = taskword_file(t, plan, &reason);
	if (plan->level == PLAN_STAT)
		reason = "nothing is probed at this level";
	if (reason) {
		taskid_refuse(&w->id, reason);
		log_info("pid %d: the task id in thread-local storage is unknown: %s", w->pid,
			 reason);
	} else {
		w->block_sz = taskword_block_sz(file);
		w->cache = cache;
		w->build_id = file->build_id;
		if (!wordcache_find(cache, w->build_id, &kept))
			taskid_expect(&w->id, kept.off, kept.has_tag);
	}
	taskword_tell(w);
	*ret = w;
	return 0;
}

void taskword_close(struct taskword *w)
{
	free(w);
}

/* Keeps what was learnt for the next run, and drops what was kept and is wrong. */
static void taskword_keep(struct taskword *w)
{
	const struct wordcache_word word = { .off = w->id.off, .has_tag = w->id.has_tag };
	bool is_known = w->id.state == TASKID_KNOWN, is_wrong = taskid_is_disappointed(&w->id);

	if (is_wrong)
		log_warn(0,
			 "pid %d: the task word that was kept of this build, %u bytes below the "
			 "thread pointer, is dropped: the probes do not confirm it",
			 w->pid, w->id.expect_off);
	if (is_wrong || (is_known && !w->id.expect_off))
		wordcache_put(w->cache, w->build_id, is_known ? &word : NULL);
}

/* Learning is over: nothing more is shown, and BPF compares from now on. */
static void taskword_learnt(struct taskword *w)
{
	const struct wire_task_word word = { .off = w->id.off, .has_tag = w->id.has_tag };

	probe_set_task_word(w->probe, w->slot, &word);
	taskword_keep(w);
	if (w->id.state == TASKID_KNOWN) {
		log_info("pid %d: the id of the task polled stands %u bytes below the thread "
			 "pointer%s "
			 "(%u tasks on %u threads%s)",
			 w->pid, w->id.off, w->id.has_tag ? ", after a tag" : "",
			 taskid_tasks(&w->id), taskid_threads(&w->id),
			 w->id.expect_off && !taskid_is_disappointed(&w->id)
				 ? ", as kept of this build"
				 : "");
	} else {
		log_info("pid %d: the task id in thread-local storage is unknown: %s%s", w->pid,
			 w->id.reason,
			 w->block_sz == 8 * WIRE_TLS_WORDS_MAX ? " (only 8 KiB are searched)" : "");
	}
	taskword_tell(w);
}

void taskword_record(struct taskword *w, const struct wire_tls *rec)
{
	if (w->id.state != TASKID_LEARNING)
		return;
	taskid_add(&w->id, rec);
	if (w->id.state != TASKID_LEARNING)
		taskword_learnt(w);
}

static void taskword_show(struct taskword *w, int blocks_cnt)
{
	const struct wire_task_word word = { .block_sz = w->block_sz, .learn_left = blocks_cnt };

	probe_set_task_word(w->probe, w->slot, &word);
}

void taskword_tick(struct taskword *w, const struct wire_counts *counts, uint64_t now_ns)
{
	if (!w->start_ns)
		w->start_ns = w->told_ns = now_ns;
	if (w->id.state == TASKID_LEARNING &&
	    (!w->id.rounds_cnt || ++w->ticks_cnt % TASKWORD_PATIENT_TICKS == 0))
		taskword_show(w, now_ns - w->start_ns < TASKWORD_EAGER_NS ? TASKWORD_EAGER_BLOCKS
									  : TASKWORD_SLOW_BLOCKS);
	w->agrees = counts->v[WIRE_WORD_AGREES];
	w->rests = counts->v[WIRE_WORD_RESTS];
	w->drops = counts->v[WIRE_WORD_DROPS];
	w->differs = counts->v[WIRE_WORD_DIFFERS];
	if (w->id.state == TASKID_KNOWN) {
		taskid_judge(&w->id, w->agrees, w->differs);
		if (w->id.state != TASKID_KNOWN) {
			probe_set_task_word(w->probe, w->slot,
					    &(struct wire_task_word){ .off = 0 });
			log_warn(0,
				 "pid %d: the task id in thread-local storage is not used any "
				 "more: %s",
				 w->pid, w->id.reason);
			wordcache_put(w->cache, w->build_id, NULL);
			taskword_tell(w);
		}
	}
	if (now_ns - w->told_ns >= TASKWORD_TELL_NS) {
		w->told_ns = now_ns;
		taskword_tell(w);
	}
}

bool taskword_is_known(const struct taskword *w)
{
	return w->id.state == TASKID_KNOWN;
}

bool taskword_is_learning(const struct taskword *w)
{
	return w->id.state == TASKID_LEARNING;
}

void taskword_finish(struct taskword *w, char *line, size_t sz)
{
	taskword_tell(w);
	if (w->id.state != TASKID_KNOWN)
		snprintf(line, sz, "unknown: %s", w->id.reason);
	else
		snprintf(line, sz,
			 "%u bytes below the thread pointer: " TASKWORD_CHECK, w->id.off, w->agrees,
			 w->rests, w->drops, w->differs);
}
