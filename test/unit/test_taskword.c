// SPDX-License-Identifier: Apache-2.0
/* taskword: what BPF is told as the word is learnt, confirmed from the cache, or stops to agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/log.h"
#include "agent/metadata.h"
#include "agent/plan.h"
#include "agent/probe.h"
#include "agent/target.h"
#include "agent/taskid.h"
#include "agent/taskword.h"
#include "agent/wordcache.h"
#include "test/unit/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BUILD "00112233445566778899aabbccddeeff00112233"
#define OFF 168
#define MOVED 240 /* where the word stands after the build has changed under its id */
#define TICK_NS 10000000ull

static struct wire_task_word told; /* the last that BPF was told */
static struct metadata *metadata;
static struct taskword *word;
static char path[128];
static uint64_t now_ns;

/* In place of the one that needs a kernel. */
void probe_set_task_word(struct probe *p, unsigned slot, const struct wire_task_word *w)
{
	assert_null(p);
	assert_int_equal(slot, 3);
	told = *w;
}

static void word_open(void)
{
	static struct target_file file = { .is_main = true };
	static const struct target target = { .pid = 42, .files = &file, .files_cnt = 1 };
	static struct plan_file planned = {
		.build_id = BUILD, .vtables_cnt = 1, .tls_sz = 400, .tls_align = 16
	};
	static const struct plan plan = { .level = PLAN_FULL, .files = &planned, .files_cnt = 1 };

	taskword_close(word);
	word = NULL;
	told = (struct wire_task_word){ 0 };
	assert_int_equal(taskword_open(NULL, 3, &target, &plan, path, metadata, &word), 0);
}

static int begin(void **state)
{
	log_set_level(LOG_ERROR);
	now_ns = 1000000000;
	if (scratch_make(state) || metadata_new(&metadata))
		return -1;
	snprintf(path, sizeof(path), "%s/words", scratch);
	word_open();
	return 0;
}

static int end(void **state)
{
	taskword_close(word);
	word = NULL;
	metadata_free(metadata);
	return scratch_remove(state);
}

static void tick(uint64_t agrees, uint64_t differs)
{
	struct wire_counts counts = {
		.v = { [WIRE_WORD_AGREES] = agrees, [WIRE_WORD_DIFFERS] = differs, [WIRE_WORD_DROPS] = 7 }
	};

	now_ns += TICK_NS;
	taskword_tick(word, &counts, now_ns);
}

/* Threads show their blocks while they poll tasks `first` and so many more: returns how many it took. */
static unsigned show(uint32_t off, uint64_t first, unsigned max)
{
	for (unsigned i = 0; i < max; i++) {
		struct wire_tls rec = { .head = { .kind = WIRE_TLS, .tid = 100 + i % 2 },
					.task_id = first + 5 * i,
					.words_cnt = 50 };

		if (taskword_is_known(word))
			return i;
		for (uint32_t w = 0; w < rec.words_cnt; w++)
			rec.words[w] = 0x7f0000000000ull + 8 * w;
		rec.words[rec.words_cnt - off / 8] = rec.task_id;
		taskword_record(word, &rec);
	}
	return max;
}

static void is_kept(uint32_t off) /* 0 = nothing is */
{
	struct wordcache_word w = { .off = 0 };

	assert_int_equal(wordcache_find(path, BUILD, &w), off ? 0 : -ENOENT);
	assert_int_equal(w.off, off);
}

static void what_one_run_learns_the_next_confirms_sooner(void **state)
{
	unsigned cold, warm;

	(void)state;
	tick(0, 0);
	assert_true(told.block_sz == 400 && told.learn_left > 0 && !told.off);
	is_kept(0);
	cold = show(OFF, 1000, 100);
	assert_true(cold >= TASKID_IDS_MIN && cold < 100);
	assert_int_equal(told.off, OFF);
	assert_false(told.block_sz);
	assert_string_equal(metadata_get(metadata, "agent.task_id_tls"), "168");
	is_kept(OFF);

	word_open();
	tick(0, 0);
	/* what was kept is not used until it is confirmed */
	assert_false(taskword_is_known(word));
	assert_int_equal(told.off, 0);
	assert_non_null(strstr(metadata_get(metadata, "agent.task_id_tls"), "unknown"));
	warm = show(OFF, 2000, 100);
	assert_true(warm >= TASKID_EXPECTED_IDS_MIN && warm < cold);
	assert_int_equal(told.off, OFF);
	is_kept(OFF);
}

static void what_was_kept_and_is_wrong_is_dropped(void **state)
{
	const struct wordcache_word wrong = { .off = MOVED };

	(void)state;
	assert_int_equal(wordcache_put(path, BUILD, &wrong), 0);
	word_open();
	tick(0, 0);
	assert_true(show(OFF, 1000, 100) >= TASKID_IDS_MIN);
	assert_true(taskword_is_known(word));
	assert_int_equal(told.off, OFF);
	is_kept(OFF);

	/* and where there is no such word, nothing stays */
	assert_int_equal(wordcache_put(path, BUILD, &wrong), 0);
	word_open();
	tick(0, 0);
	for (unsigned i = 0; i < TASKID_BLOCKS_MAX; i++) {
		struct wire_tls rec = { .head = { .kind = WIRE_TLS, .tid = 100 + i % 2 },
					.task_id = 1000 + i,
					.words_cnt = 50 };

		taskword_record(word, &rec);
		assert_int_equal(told.off, 0);
	}
	assert_false(taskword_is_known(word));
	is_kept(0);
}

/* exec of the same build with other data, a patched binary: the word is no more what it was. */
static void a_word_that_stops_to_agree_is_dropped_at_once(void **state)
{
	char line[160];

	(void)state;
	tick(0, 0);
	show(OFF, 1000, 100);
	for (unsigned i = 1; i <= 50; i++)
		tick(20 * i, TASKID_DIFFERS_MAX);
	assert_true(taskword_is_known(word));
	assert_int_equal(told.off, OFF);
	is_kept(OFF);

	tick(1000, 12); /* 12 of 1,012 looks: more than 10 of 1,000 */
	assert_false(taskword_is_known(word));
	assert_int_equal(told.off, 0);
	assert_non_null(strstr(metadata_get(metadata, "agent.task_id_tls"),
			       "unknown: the word at -168 was another task's in 12 of 1012"));
	assert_string_equal(metadata_get(metadata, "agent.task_id_tls_check"),
			    "agrees 1000, at rest 0, drops 7, differs 12");
	is_kept(0);
	taskword_finish(word, line, sizeof(line));
	assert_non_null(strstr(line, "unknown: the word at -168"));

	/* it stays so, whatever is shown or counted later */
	assert_int_equal(show(OFF, 5000, 50), 50);
	tick(1000000, 12);
	assert_false(taskword_is_known(word));
	assert_int_equal(told.off, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(what_one_run_learns_the_next_confirms_sooner),
		TEST(what_was_kept_and_is_wrong_is_dropped),
		TEST(a_word_that_stops_to_agree_is_dropped_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
