// SPDX-License-Identifier: Apache-2.0
#include "taskid.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void taskid_init(struct taskid *t)
{
	*t = (struct taskid){ .reason = "no task was polled" };
}

void taskid_refuse(struct taskid *t, const char *reason)
{
	t->state = TASKID_UNKNOWN;
	t->off = 0;
	t->has_tag = false;
	snprintf(t->reason, sizeof(t->reason), "%s", reason);
}

void taskid_expect(struct taskid *t, uint32_t off, bool has_tag)
{
	if (!off || off % 8 || off > 8 * WIRE_TLS_WORDS_MAX)
		return;
	t->expect_off = off;
	t->expect_tag = has_tag;
}

bool taskid_is_disappointed(const struct taskid *t)
{
	return t->expect_off && t->state != TASKID_LEARNING &&
	       (t->off != t->expect_off || t->has_tag != t->expect_tag);
}

static uint64_t taskid_bit(uint64_t value)
{
	return 1ull << (value * 0x9e3779b97f4a7c15ull >> 58);
}

static unsigned taskid_cnt(uint64_t set)
{
	return (unsigned)__builtin_popcountll(set);
}

unsigned taskid_tasks(const struct taskid *t)
{
	return taskid_cnt(t->ids);
}

unsigned taskid_threads(const struct taskid *t)
{
	return taskid_cnt(t->tids);
}

static void taskid_know(struct taskid *t, uint32_t at)
{
	t->state = TASKID_KNOWN;
	t->off = 8 * (at + 1);
	t->has_tag = !t->words[at].is_tagless;
	t->reason[0] = '\0';
}

/* The word that was the id of most tasks, and most often. */
static uint32_t taskid_best(const struct taskid *t)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < WIRE_TLS_WORDS_MAX; i++) {
		unsigned cnt = taskid_cnt(t->words[i].ids), most = taskid_cnt(t->words[best].ids);

		if (cnt > most || (cnt == most && t->words[i].hits_cnt > t->words[best].hits_cnt))
			best = i;
	}
	return best;
}

/* Another word that followed the tasks half as well; WIRE_TLS_WORDS_MAX if none did. */
static uint32_t taskid_rival(const struct taskid *t, uint32_t best)
{
	const struct taskid_word *b = &t->words[best];
	uint32_t i;

	for (i = 0; i < WIRE_TLS_WORDS_MAX; i++)
		if (i != best && 2 * taskid_cnt(t->words[i].ids) >= taskid_cnt(b->ids) &&
		    2 * t->words[i].hits_cnt >= b->hits_cnt)
			break;
	return i;
}

/* Is the word what it should be at the edges of polls, too? */
static bool taskid_is_explained(const struct taskid *t, const struct taskid_word *w)
{
	return w->hits_cnt * TASKID_SHARE >= t->blocks_cnt ||
	       taskid_cnt(w->others) <= TASKID_RESTS(taskid_threads(t));
}

/* It has followed enough tasks, or few of them often enough. */
static bool taskid_is_proven(const struct taskid_word *w)
{
	unsigned cnt = taskid_cnt(w->ids);

	return cnt >= TASKID_IDS_MIN ||
	       (cnt >= TASKID_FEW_IDS_MIN &&
		(w->turns_cnt >= TASKID_FEW_TURNS ||
		 (w->turns_cnt >= TASKID_RARE_TURNS && w->hits_cnt >= TASKID_FEW_HITS)));
}

/* The word expected is as good as any, and has followed some tasks. */
static bool taskid_is_expected(const struct taskid *t, uint32_t best)
{
	const struct taskid_word *w;

	if (!t->expect_off)
		return false;
	w = &t->words[t->expect_off / 8 - 1];
	return taskid_cnt(w->ids) >= TASKID_EXPECTED_IDS_MIN &&
	       taskid_cnt(w->ids) >= taskid_cnt(t->words[best].ids) &&
	       w->is_tagless == !t->expect_tag && taskid_is_explained(t, w);
}

static void taskid_decide(struct taskid *t)
{
	uint32_t at = taskid_best(t), rival = taskid_rival(t, at);
	const struct taskid_word *w = &t->words[at];

	if (taskid_is_expected(t, at))
		taskid_know(t, t->expect_off / 8 - 1);
	else if (!taskid_is_proven(w) && taskid_tasks(t) < TASKID_IDS_MIN &&
		 (taskid_tasks(t) < TASKID_FEW_IDS_MIN || t->blocks_cnt < TASKID_FEW_HITS))
		snprintf(t->reason, sizeof(t->reason),
			 "only %u different tasks seen, %u are needed", taskid_tasks(t),
			 TASKID_IDS_MIN);
	else if (!taskid_is_explained(t, w) || !taskid_is_proven(w))
		snprintf(t->reason, sizeof(t->reason),
			 "no thread-local word was the task's id: the best was in %u of %u looks",
			 w->hits_cnt, t->blocks_cnt);
	else if (rival < WIRE_TLS_WORDS_MAX)
		snprintf(t->reason, sizeof(t->reason),
			 "two words were the task's id, at -%u and -%u", 8 * (at + 1),
			 8 * (rival + 1));
	else if (taskid_cnt(w->tids) < TASKID_THREADS_MIN &&
		 t->blocks_cnt < (taskid_threads(t) > 1 ? TASKID_RARE_BLOCKS : TASKID_ALONE_BLOCKS))
		snprintf(t->reason, sizeof(t->reason),
			 "the word at -%u was the task's id on one thread only", 8 * (at + 1));
	else
		taskid_know(t, at);
}

/* So many looks, and the best word explains them; but of too few tasks. Others may come. */
static bool taskid_is_open(const struct taskid *t)
{
	const struct taskid_word *w = &t->words[taskid_best(t)];

	return !taskid_is_proven(w) && w->hits_cnt * TASKID_SHARE >= t->blocks_cnt;
}

static void taskid_go_on(struct taskid *t)
{
	t->rounds_cnt++;
	t->blocks_cnt /= 2;
	for (uint32_t i = 0; i < WIRE_TLS_WORDS_MAX; i++)
		t->words[i].hits_cnt /= 2;
}

void taskid_add(struct taskid *t, const struct wire_tls *rec)
{
	uint32_t cnt = rec->words_cnt;

	if (t->state != TASKID_LEARNING || !rec->task_id || !cnt || cnt > WIRE_TLS_WORDS_MAX)
		return;
	t->blocks_cnt++;
	t->ids |= taskid_bit(rec->task_id);
	t->tids |= taskid_bit(rec->head.tid);
	for (uint32_t i = 0; i < cnt; i++) {
		struct taskid_word *w = &t->words[i];

		uint64_t word = rec->words[cnt - 1 - i],
			 before = i + 1 < cnt ? rec->words[cnt - 2 - i] : 1;

		if (word != rec->task_id) {
			w->others |=
				taskid_bit(before ? word : 0); /* as if the one before were a tag */
			continue;
		}
		w->ids |= taskid_bit(rec->task_id);
		w->tids |= taskid_bit(rec->head.tid);
		w->turns_cnt += w->hits_cnt && w->last != rec->task_id;
		w->last = rec->task_id;
		w->hits_cnt++;
		w->is_tagless |= i + 1 >= cnt || before != 1;
	}
	taskid_decide(t);
	if (t->state != TASKID_LEARNING || t->blocks_cnt < TASKID_BLOCKS_MAX)
		return;
	if (taskid_is_open(t))
		taskid_go_on(t);
	else
		t->state = TASKID_UNKNOWN;
}

void taskid_judge(struct taskid *t, uint64_t agrees, uint64_t differs)
{
	char reason[TASKID_REASON_SZ];
	uint64_t all = agrees + differs;

	if (t->state != TASKID_KNOWN || differs <= TASKID_DIFFERS_MAX ||
	    differs * 1000 <= all * TASKID_DIFFERS_PERMILLE)
		return;
	snprintf(reason, sizeof(reason),
		 "the word at -%u was another task's in %" PRIu64 " of %" PRIu64 " looks", t->off,
		 differs, all);
	taskid_refuse(t, reason);
}
