// SPDX-License-Identifier: Apache-2.0
/* test_wordcache.c - task words between runs: what is kept comes back, what is damaged does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/log.h"
#include "agent/wordcache.h"
#include "test/unit/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD "00112233445566778899aabbccddeeff00112233"
#define OTHER "ab"

static char path[128];

static int begin(void **state)
{
	log_set_level(LOG_ERROR);
	if (scratch_make(state))
		return -1;
	snprintf(path, sizeof(path), "%s/state/words", scratch);
	return 0;
}

static void is_kept(const char *build, uint32_t off, bool has_tag)
{
	struct wordcache_word w = { .off = 1 };

	assert_int_equal(wordcache_find(path, build, &w), 0);
	assert_int_equal(w.off, off);
	assert_int_equal(w.has_tag, has_tag);
}

static void is_not_kept(const char *build)
{
	struct wordcache_word w = { .off = 1 };

	assert_int_equal(wordcache_find(path, build, &w), -ENOENT);
	assert_int_equal(w.off, 1);
}

static void put(const char *build, uint32_t off, bool has_tag)
{
	const struct wordcache_word w = { .off = off, .has_tag = has_tag };

	assert_int_equal(wordcache_put(path, build, &w), 0);
}

/* The file as somebody else may have left it. */
static void leave(const void *text, size_t sz)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, sz, f), sz);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0640), 0);
}

static void what_is_put_is_found_until_it_is_taken_out(void **state)
{
	struct stat st;

	(void)state;
	is_not_kept(BUILD);
	put(BUILD, 168, true);
	put(OTHER, 8192, false);
	is_kept(BUILD, 168, true);
	is_kept(OTHER, 8192, false);
	put(BUILD, 176, false);
	is_kept(BUILD, 176, false);
	assert_int_equal(wordcache_put(path, BUILD, NULL), 0);
	is_not_kept(BUILD);
	is_kept(OTHER, 8192, false);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 022, 0);
	assert_int_equal(st.st_nlink, 1);
}

static void the_oldest_falls_out(void **state)
{
	char build[16];

	(void)state;
	for (unsigned i = 0; i <= WORDCACHE_BUILDS_MAX; i++) {
		snprintf(build, sizeof(build), "%08x", i);
		put(build, 8 + 8 * (i % 1000), i % 2);
	}
	is_not_kept("00000000");
	is_kept("00000001", 16, true);
	is_kept(build, 8 + 8 * WORDCACHE_BUILDS_MAX, WORDCACHE_BUILDS_MAX % 2);
}

static void without_a_build_id_or_a_path_nothing_is_kept(void **state)
{
	const struct wordcache_word w = { .off = 8 };
	const char *bad[] = { "", "a", "abc", "AB", "../x", "ab cd", BUILD "00", "ab\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put(bad[i], 8, false);
		is_not_kept(bad[i]);
	}
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(wordcache_put(WORDCACHE_NONE, BUILD, &w), 0);
	assert_int_equal(access(WORDCACHE_NONE, F_OK), -1);
	assert_int_equal(wordcache_put("words", BUILD, &w), -EINVAL);
	assert_int_equal(wordcache_put("/nowhere/deep/words", BUILD, &w), -ENOENT);
}

static void a_damaged_file_counts_as_empty(void **state)
{
	static const char *const texts[] = {
		"",
		"dial9 task words 2\nab 8 0\n",
		"dial9 task words 1",
		"dial9 task words 1\nab 8 0",
		"dial9 task words 1\nab 8 2\n",
		"dial9 task words 1\nab 8 00\n",
		"dial9 task words 1\nab 7 0\n",
		"dial9 task words 1\nab 0 0\n",
		"dial9 task words 1\nab -8 0\n",
		"dial9 task words 1\nab +8 0\n",
		"dial9 task words 1\nab 8200 0\n",
		"dial9 task words 1\nab 18446744073709551624 0\n",
		"dial9 task words 1\nab\n",
		"dial9 task words 1\n\nab 8 0\n",
		"dial9 task words 1\n" BUILD BUILD " 8 0\nab 8 0\n",
		"dial9 task words 1\nab 8 0\nzz 8 0\n",
	};

	(void)state;
	put(OTHER, 8, false);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		leave(texts[i], strlen(texts[i]));
		is_not_kept(OTHER);
	}
	leave("dial9 task words 1\nab 8 0\n\0", 27);
	is_not_kept(OTHER);
	put(BUILD, 24, true); /* makes it whole again */
	is_kept(BUILD, 24, true);
	leave("dial9 task words 1\nab 8 0\n", 26);
	is_kept(OTHER, 8, false);
}

static void noise_and_too_much_of_it(void **state)
{
	static char noise[1 << 17];

	(void)state;
	put(OTHER, 8, false);
	srand(1);
	for (unsigned round = 0; round < 200; round++) {
		size_t sz = (size_t)rand() % (round % 10 ? 400 : sizeof(noise));
		size_t head = (size_t)snprintf(noise, sizeof(noise), "dial9 task words 1\n");

		for (size_t i = head; i < sz; i++)
			noise[i] = "0123456789abcdef  \n\n8 0\n"[rand() % 24];
		leave(noise, sz > head ? sz : head);
		is_not_kept(BUILD);
	}
	/* more lines than may be in it */
	for (size_t i = 0; i + 32 < sizeof(noise); i += 7)
		memcpy(noise + (i ? 19 + i - 7 : 0), i ? "ab 8 0\n" : "dial9 task words 1\n",
		       i ? 7 : 19);
	leave(noise, 19 + 7 * (WORDCACHE_BUILDS_MAX + 1));
	is_not_kept(OTHER);
	leave(noise, 19 + 7 * WORDCACHE_BUILDS_MAX);
	is_kept(OTHER, 8, false);
}

static void what_others_may_write_is_not_read(void **state)
{
	char other[160], dir[128];
	const struct wordcache_word w = { .off = 8 };

	(void)state;
	put(OTHER, 8, false);
	assert_int_equal(chmod(path, 0660), 0);
	is_not_kept(OTHER);
	assert_int_equal(chmod(path, 0640), 0);
	is_kept(OTHER, 8, false);
	snprintf(other, sizeof(other), "%s.real", path);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	is_not_kept(OTHER);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	is_not_kept(OTHER); /* and does not wait */
	put(OTHER, 16, true); /* replaces it */
	is_kept(OTHER, 16, true);
	snprintf(dir, sizeof(dir), "%s/state", scratch);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(wordcache_put(path, OTHER, &w), -EPERM);
	is_kept(OTHER, 16, true);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, scratch_remove)
	const struct CMUnitTest tests[] = {
		TEST(what_is_put_is_found_until_it_is_taken_out),
		TEST(the_oldest_falls_out),
		TEST(without_a_build_id_or_a_path_nothing_is_kept),
		TEST(a_damaged_file_counts_as_empty),
		TEST(noise_and_too_much_of_it),
		TEST(what_others_may_write_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
