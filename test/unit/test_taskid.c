// SPDX-License-Identifier: Apache-2.0
/* taskid: one word of many is the task's id, or none is, and then it says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "agent/taskid.h"

#define WORDS 60
#define OFF 168 /* below the thread pointer */

static struct wire_tls block;

/* Index of the word that stands `off` bytes below the end of a block of `cnt` words. */
static __u64 *word(uint32_t off)
{
	return &block.words[block.words_cnt - off / 8];
}

/* A thread's block while it polls `id`: everything in it that might be taken for it, but not. */
static void fill(uint32_t tid, uint64_t id)
{
	memset(&block, 0xaa, sizeof(block));
	block.head.kind = WIRE_TLS;
	block.head.tid = tid;
	block.task_id = id;
	block.words_cnt = WORDS;
	for (uint32_t i = 0; i < WORDS; i++)
		block.words[i] = i % 3 ? 0x7f0000000000ull + 8 * i : i;
	*word(OFF) = id;
}

static void show(struct taskid *t, uint32_t tid, uint64_t id)
{
	fill(tid, id);
	taskid_add(t, &block);
}

static void eight_tasks_on_two_threads_are_enough(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t id = 1; id <= 7; id++) {
		show(&t, 100 + id % 2, 3 * id);
		assert_int_equal(t.state, TASKID_LEARNING);
		assert_non_null(strstr(t.reason, "different tasks"));
	}
	for (uint64_t id = 8; id <= 12; id++)
		show(&t, 100 + id % 2, 3 * id);
	assert_int_equal(t.state, TASKID_KNOWN);
	assert_int_equal(t.off, OFF);
	assert_false(t.has_tag);
	assert_string_equal(t.reason, "");
}

static void one_thread_is_enough_if_there_is_no_other(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t i = 1; i < TASKID_ALONE_BLOCKS; i++) {
		show(&t, 100, 10 + i);
		assert_int_equal(t.state, TASKID_LEARNING);
	}
	show(&t, 100, 999);
	assert_int_equal(t.state, TASKID_KNOWN);

	/* where the word stays silent on a second one it takes longer */
	taskid_init(&t);
	for (uint64_t i = 1; i < TASKID_RARE_BLOCKS; i++) {
		fill(100 + i % 2, 1000 + i);
		if (i % 2)
			*word(OFF) = 0;
		taskid_add(&t, &block);
		assert_int_equal(t.state, TASKID_LEARNING);
	}
	assert_non_null(strstr(t.reason, "one thread only"));
	show(&t, 100, 5000);
	assert_int_equal(t.state, TASKID_KNOWN);
}

static void a_tag_is_seen(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t id = 1; id <= 12; id++) {
		fill(id % 2, id);
		*word(OFF + 8) = 1;
		taskid_add(&t, &block);
	}
	assert_int_equal(t.state, TASKID_KNOWN);
	assert_true(t.has_tag);

	/* a word that is 1 by chance at times is none */
	taskid_init(&t);
	for (uint64_t id = 1; id <= 12; id++) {
		fill(id % 2, id);
		*word(OFF + 8) = id != 5;
		taskid_add(&t, &block);
	}
	assert_int_equal(t.state, TASKID_KNOWN);
	assert_false(t.has_tag);

	/* nor what stands before the block */
	taskid_init(&t);
	for (uint64_t id = 1; id <= 12; id++) {
		fill(id % 2, id);
		block.words_cnt = OFF / 8;
		block.words[0] = id;
		taskid_add(&t, &block);
	}
	assert_int_equal(t.state, TASKID_KNOWN);
	assert_int_equal(t.off, OFF);
	assert_false(t.has_tag);
}

static void blocks_at_the_edge_of_a_poll_do_not_hide_it(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t i = 1; i <= 80; i++) {
		fill(100 + i / 4 % 2, 500 + i);
		if (i % 4)
			*word(OFF) = 1; /* the worker's own task */
		taskid_add(&t, &block);
	}
	assert_int_equal(t.state, TASKID_KNOWN);
	assert_int_equal(t.off, OFF);
}

/* Every task wakes who joins it, once, when its note is gone already; few are met while it stands. */
static void a_word_seldom_met_is_known_by_its_rest(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t i = 1; i <= 1000 && t.state == TASKID_LEARNING; i++) {
		fill(100 + i % 3, 5000 + i);
		*word(80) = i; /* a counter */
		if (i % 60)
			*word(OFF) = i % 5 ? 1 + i % 3 : 0;
		taskid_add(&t, &block);
	}
	assert_int_equal(t.state, TASKID_KNOWN);
	assert_int_equal(t.off, OFF);

	taskid_init(&t);
	for (uint64_t i = 1; i <= 1000; i++) {
		fill(100 + i % 3, 5000 + i);
		if (i % 60)
			*word(OFF) = 7 * i;
		taskid_add(&t, &block);
		assert_int_equal(t.state, TASKID_LEARNING);
	}
	assert_non_null(strstr(t.reason, "no thread-local word"));
}

static void blocks_of_different_length_agree(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t id = 1; id <= 12; id++) {
		fill(id % 2, 70 + id);
		if (id % 2) { /* the lower half of the block could not be read */
			memmove(block.words, block.words + WORDS / 2, WORDS / 2 * 8);
			block.words_cnt = WORDS / 2;
		}
		taskid_add(&t, &block);
	}
	assert_int_equal(t.state, TASKID_KNOWN);
	assert_int_equal(t.off, OFF);
}

static void two_words_that_follow_the_task_are_ambiguous(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t i = 1; i <= TASKID_BLOCKS_MAX; i++) {
		assert_int_equal(t.state, TASKID_LEARNING);
		fill(i % 2, i);
		*word(40) = i;
		taskid_add(&t, &block);
		if (taskid_tasks(&t) >= TASKID_IDS_MIN && i > 20)
			assert_non_null(strstr(t.reason, "two words"));
	}
	assert_int_equal(t.state, TASKID_UNKNOWN);
}

static void few_tasks_prove_it_by_taking_turns(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t i = 0; i < TASKID_FEW_TURNS; i++) {
		show(&t, 100 + i % 2, 7 + i % 3);
		assert_int_equal(t.state, TASKID_LEARNING);
	}
	show(&t, 100, 7 + TASKID_FEW_TURNS % 3);
	assert_int_equal(t.state, TASKID_KNOWN);
	assert_int_equal(t.off, OFF);

	/* one of them has nearly all the time: a few turns, and many looks */
	taskid_init(&t);
	for (uint64_t i = 1; i < TASKID_FEW_HITS; i++) {
		show(&t, 100 + i % 2, i % 12 ? 7 : 8 + i % 5);
		assert_int_equal(t.state, TASKID_LEARNING);
	}
	show(&t, 100, 7);
	assert_int_equal(t.state, TASKID_KNOWN);

	/* without turns it may be a value that just stands there */
	taskid_init(&t);
	for (uint64_t i = 0; i < 1000; i++)
		show(&t, 100 + i % 2, i < 4 ? 8 + i : 7);
	assert_int_equal(t.state, TASKID_LEARNING);
	assert_non_null(strstr(t.reason, "no thread-local word"));

	/* two tasks never do: too many words take turns between two values. Others may come. */
	taskid_init(&t);
	for (uint64_t i = 0; i < 5 * TASKID_BLOCKS_MAX; i++)
		show(&t, 100, 7 + i % 2);
	assert_int_equal(t.state, TASKID_LEARNING);
	assert_int_equal(t.rounds_cnt, 9);
	assert_non_null(strstr(t.reason, "only 2 different tasks"));
	show(&t, 100, 20);
	assert_int_equal(t.state, TASKID_KNOWN);
	assert_int_equal(t.off, OFF);
}

/* A thread that is looked at again and again in one long poll: its looks must not use up the chance. */
static void one_task_alone_is_no_reason_to_give_up(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	taskid_expect(&t, 48, false);
	for (uint64_t i = 0; i < 3 * TASKID_BLOCKS_MAX; i++) {
		fill(100 + i % 2, i % 4 ? 7 : 1000 + i);
		if (i % 4 == 0)
			*word(OFF) = 0; /* short ones, never met while their note stands */
		taskid_add(&t, &block);
		assert_int_equal(t.state, TASKID_LEARNING);
	}
	assert_non_null(strstr(t.reason, "no thread-local word"));
	for (uint64_t id = 1; id <= 12; id++)
		show(&t, 100 + id % 2, 50 + id);
	assert_int_equal(t.state, TASKID_KNOWN);
	assert_int_equal(t.off, OFF);
	assert_true(taskid_is_disappointed(&t));
}

static void without_such_a_word_it_gives_up(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t i = 0; i < TASKID_BLOCKS_MAX; i++) {
		assert_int_equal(t.state, TASKID_LEARNING);
		fill(100 + i % 5, 100000 + i);
		*word(OFF) = 1;
		taskid_add(&t, &block);
	}
	assert_int_equal(t.state, TASKID_UNKNOWN);
	assert_non_null(strstr(t.reason, "no thread-local word"));
	assert_int_equal(t.off, 0);
	show(&t, 1, 1); /* has no effect any more */
	assert_int_equal(t.blocks_cnt, TASKID_BLOCKS_MAX);
}

static void records_that_lie_are_left_out(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t i = 1; i <= 100; i++) {
		fill(i % 2, i);
		block.words_cnt = i % 2 ? WIRE_TLS_WORDS_MAX + (uint32_t)i : 0;
		taskid_add(&t, &block);
		fill(i % 2, 0);
		taskid_add(&t, &block);
	}
	assert_int_equal(t.blocks_cnt, 0);
	assert_int_equal(t.state, TASKID_LEARNING);
	srand(1);
	for (uint64_t i = 0; i < 5000; i++) { /* noise: many threads, small ids, small words */
		block.head.tid = (uint32_t)rand() % 300;
		block.task_id = (uint64_t)rand() % 5000;
		block.words_cnt = (uint32_t)rand() % 600;
		for (uint32_t w = 0; w < WIRE_TLS_WORDS_MAX; w++)
			block.words[w] = (uint64_t)rand() % 5000;
		taskid_add(&t, &block);
		assert_int_not_equal(t.state, TASKID_KNOWN);
	}
	assert_int_equal(t.state, TASKID_UNKNOWN);
}

static void contradictions_beyond_the_tolerance_end_it(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	for (uint64_t id = 1; id <= 12; id++)
		show(&t, id % 2, id);
	taskid_judge(&t, 0, TASKID_DIFFERS_MAX);
	assert_int_equal(t.state, TASKID_KNOWN);
	taskid_judge(&t, 100000, 500);
	assert_int_equal(t.state, TASKID_KNOWN);
	taskid_judge(&t, 100000, 1100);
	assert_int_equal(t.state, TASKID_UNKNOWN);
	assert_int_equal(t.off, 0);
	assert_non_null(strstr(t.reason, "1100 of 101100"));

	taskid_init(&t);
	for (uint64_t id = 1; id <= 12; id++)
		show(&t, id % 2, id);
	taskid_judge(&t, 0, TASKID_DIFFERS_MAX + 1);
	assert_int_equal(t.state, TASKID_UNKNOWN);
}

static void a_refusal_keeps_its_reason(void **state)
{
	struct taskid t;

	(void)state;
	taskid_init(&t);
	taskid_refuse(&t, "Tokio lies in a shared object");
	show(&t, 1, 1);
	assert_int_equal(t.state, TASKID_UNKNOWN);
	assert_string_equal(t.reason, "Tokio lies in a shared object");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eight_tasks_on_two_threads_are_enough),
		cmocka_unit_test(one_thread_is_enough_if_there_is_no_other),
		cmocka_unit_test(a_tag_is_seen),
		cmocka_unit_test(blocks_at_the_edge_of_a_poll_do_not_hide_it),
		cmocka_unit_test(a_word_seldom_met_is_known_by_its_rest),
		cmocka_unit_test(blocks_of_different_length_agree),
		cmocka_unit_test(two_words_that_follow_the_task_are_ambiguous),
		cmocka_unit_test(few_tasks_prove_it_by_taking_turns),
		cmocka_unit_test(one_task_alone_is_no_reason_to_give_up),
		cmocka_unit_test(without_such_a_word_it_gives_up),
		cmocka_unit_test(records_that_lie_are_left_out),
		cmocka_unit_test(contradictions_beyond_the_tolerance_end_it),
		cmocka_unit_test(a_refusal_keeps_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
