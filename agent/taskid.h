/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskid.h - which thread-local word holds the id of the task that a thread polls.
 *
 * Tokio (1.23 and later) notes it there while it polls a task. Of all words of the TLS block only
 * that one is, on every thread and for every task, the id that the probes know. Pure: records in,
 * verdict out; the words are the target's and can be anything.
 *
 * Until 1.40 the word alone does not tell: the note is a pair (1, id) then, and between polls
 * (0, whatever stood there). The first of the two is called the tag.
 */
#ifndef DIAL9_TASKID_H
#define DIAL9_TASKID_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/wire.h"

#define TASKID_IDS_MIN 8 /* different tasks whose id the word must have been */
#define TASKID_FEW_IDS_MIN 3 /* ... or as few as these, where no more are polled, */
#define TASKID_FEW_TURNS 32 /* if it has gone from one to another with them so often, */
#define TASKID_FEW_HITS 64 /* or been right so often, where they seldom take turns: */
#define TASKID_RARE_TURNS 8
/* It is not there at the edges of a poll. So that in one block of so many is enough; or fewer, if all
 * the others show next to nothing but one resting value for each thread. */
#define TASKID_SHARE 8
#define TASKID_RESTS(threads) (2 * (threads) + 2)
#define TASKID_THREADS_MIN 2 /* on so many threads, where more than one polls */
#define TASKID_ALONE_BLOCKS 32 /* so many blocks of one thread: there is no other */
#define TASKID_RARE_BLOCKS 256 /* so many blocks: others poll too rarely to wait for */
/* Looked at before it is given up; or half forgotten, where too few tasks were polled to tell. */
#define TASKID_BLOCKS_MAX 2048
/* Disagreements that end it: more than so many, and more than so many of a thousand. Not none: where a
 * poll drops another task's future or output the note is that task's, and in deep frames that may not
 * be seen (WIRE_WORD_DROPS). */
#define TASKID_DIFFERS_MAX 3
#define TASKID_DIFFERS_PERMILLE 10
/* Of a build met before the word is expected, and these are enough where no word did better. */
#define TASKID_EXPECTED_IDS_MIN 3
#define TASKID_REASON_SZ 120

enum taskid_state { TASKID_LEARNING, TASKID_KNOWN, TASKID_UNKNOWN };

struct taskid {
	enum taskid_state state;
	uint32_t off; /* of the word below the thread pointer, when known */
	bool has_tag; /* the word before it is the tag */
	char reason[TASKID_REASON_SZ]; /* why it is not known (yet) */
	uint32_t expect_off; /* 0 = nothing is expected */
	bool expect_tag;
	uint32_t blocks_cnt; /* looked at, so far as they are not forgotten */
	uint32_t rounds_cnt; /* how often half of them were */
	/* Sets of ids and threads are 64 bits, one chosen by a hash: they count a little low. */
	uint64_t ids, tids; /* seen */
	struct taskid_word { /* by distance from the thread pointer: [0] is 8 below it */
		uint64_t ids, tids; /* that it was, and on which threads */
		uint64_t others; /* values that it was instead */
		uint64_t last; /* id that it was last */
		uint32_t hits_cnt; /* blocks in which it was the id */
		uint32_t turns_cnt; /* of these, those in which it was another one than before */
		bool is_tagless; /* the word before it was not 1 then */
	} words[WIRE_TLS_WORDS_MAX];
};

void taskid_init(struct taskid *t);

/* That is where it stood in another run of the same build: a hint, which fewer tasks confirm.
 * `off` is a multiple of 8, up to 8 * WIRE_TLS_WORDS_MAX; others are no hint. */
void taskid_expect(struct taskid *t, uint32_t off, bool has_tag);

/* Something was expected, and it is known by now to be wrong. */
bool taskid_is_disappointed(const struct taskid *t);

/* Ends it: UNKNOWN for the reason given. */
void taskid_refuse(struct taskid *t, const char *reason);

/* Different tasks and threads seen so far, at most 64. */
unsigned taskid_tasks(const struct taskid *t);
unsigned taskid_threads(const struct taskid *t);

/* Takes a block while LEARNING; may make it KNOWN, or UNKNOWN. */
void taskid_add(struct taskid *t, const struct wire_tls *rec);

/* What came of comparing the word with the probes so far (WIRE_WORD_*): KNOWN may become UNKNOWN. */
void taskid_judge(struct taskid *t, uint64_t agrees, uint64_t differs);

#endif /* DIAL9_TASKID_H */
