// SPDX-License-Identifier: Apache-2.0
/* test_retain.c - names, budgets, and what killed agents leave, in a scratch directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/dirlock.h"
#include "agent/log.h"
#include "agent/retain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scratch {
	char path[64];
	int fd;
};

static int scratch_open(void **state)
{
	static struct scratch s;

	strcpy(s.path, "/tmp/dial9-test-XXXXXX");
	assert_non_null(mkdtemp(s.path));
	s.fd = open(s.path, O_RDONLY | O_DIRECTORY);
	assert_true(s.fd >= 0);
	*state = &s;
	return 0;
}

static int scratch_close(void **state)
{
	struct scratch *s = *state;
	char command[128];

	close(s->fd);
	snprintf(command, sizeof(command), "rm -rf %s", s->path);
	return system(command);
}

static void put(int dir_fd, const char *name, size_t sz, time_t mtime)
{
	struct timespec times[2] = { { .tv_sec = mtime }, { .tv_sec = mtime } };
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL, 0640);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)sz), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static bool has(int dir_fd, const char *name)
{
	return faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int subdir(int dir_fd, const char *name)
{
	assert_int_equal(mkdirat(dir_fd, name, 0750), 0);
	return openat(dir_fd, name, O_RDONLY | O_DIRECTORY);
}

static void test_names(void **state)
{
	static const char *const bad[] = {
		"trace.bin",
		"trace..bin",
		"trace.1.bin.xz",
		"trace.01.bin",
		"trace.-1.bin",
		"trace.1.bin.active.active",
		"other.1.bin",
		"trace.1.bin.gz~",
		"",
		"trace.1",
		"trace.9999999999999999999999.bin",
	};
	char name[RETAIN_NAME_SZ];
	uint64_t index = 9;
	bool is_active = true;

	(void)state;
	retain_name(name, 12, ".zst", true);
	assert_string_equal(name, "trace.12.bin.zst.active");
	assert_true(retain_parse(name, &index, &is_active));
	assert_true(index == 12 && is_active);
	retain_name(name, 0, "", false);
	assert_string_equal(name, "trace.0.bin");
	assert_true(retain_parse(name, &index, &is_active));
	assert_true(index == 0 && !is_active);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(retain_parse(bad[i], &index, &is_active));
}

static void test_measure_sees_only_segments(void **state)
{
	struct scratch *s = *state;
	struct retain_sum sum;

	put(s->fd, "trace.3.bin.zst", 100, 1);
	put(s->fd, "trace.10.bin", 10, 1);
	put(s->fd, "trace.11.bin.gz.active", 1, 1);
	put(s->fd, "notes.txt", 1000, 1);
	assert_int_equal(symlinkat("/etc/passwd", s->fd, "trace.99.bin"), 0);
	assert_int_equal(retain_measure(s->fd, &sum), 0);
	assert_int_equal(sum.sealed_sz, 110);
	assert_int_equal(sum.sealed_cnt, 2);
	assert_int_equal(sum.active_sz, 1);
	assert_int_equal(sum.active_cnt, 1);
	assert_int_equal(sum.next_index, 12);
}

static void test_enforce_takes_the_oldest(void **state)
{
	struct scratch *s = *state;
	uint64_t cnt = 0, sz = 0;

	/* by number, not by time and not by text order: 9 is older than 10 */
	put(s->fd, "trace.10.bin.zst", 100, 1);
	put(s->fd, "trace.9.bin.zst", 100, 50);
	put(s->fd, "trace.11.bin.zst.active", 500, 1);
	put(s->fd, "notes.txt", 1000, 1);
	assert_int_equal(retain_enforce(s->fd, 100, &cnt, &sz), 0);
	assert_int_equal(cnt, 1);
	assert_int_equal(sz, 100);
	assert_false(has(s->fd, "trace.9.bin.zst"));
	assert_true(has(s->fd, "trace.10.bin.zst"));
	assert_int_equal(retain_enforce(s->fd, 0, &cnt, &sz), 0);
	assert_int_equal(cnt, 2);
	assert_true(has(s->fd, "trace.11.bin.zst.active") && has(s->fd, "notes.txt"));
	assert_int_equal(retain_evict_oldest(s->fd, &sz), -ENOENT);
}

static void test_enforce_all_spans_processes(void **state)
{
	struct scratch *s = *state;
	int a = subdir(s->fd, "aaaa-1"), b = subdir(s->fd, "bbbb-2"), other = subdir(s->fd, "mine");
	uint64_t cnt = 0, sz = 0;

	put(a, "trace.5.bin.zst", 100, 20);
	put(b, "trace.7.bin.zst", 100, 10);
	put(b, "trace.8.bin.zst.active", 100, 1);
	put(other, "trace.1.bin.zst", 1000, 1);
	/* 300 bytes count: the directory not named by a boot id is none of ours */
	assert_int_equal(retain_enforce_all(s->fd, 300, &cnt, &sz), 0);
	assert_int_equal(cnt, 0);
	assert_int_equal(retain_enforce_all(s->fd, 250, &cnt, &sz), 0);
	assert_int_equal(cnt, 1);
	assert_false(has(b, "trace.7.bin.zst"));
	assert_true(has(a, "trace.5.bin.zst"));
	/* a directory with a live owner stays although it is empty now */
	assert_int_equal(dirlock_own_dir(a), 0);
	assert_int_equal(retain_enforce_all(s->fd, 0, &cnt, &sz), 0);
	assert_true(has(s->fd, "aaaa-1") && has(s->fd, "bbbb-2"));
	assert_true(has(b, "trace.8.bin.zst.active") && has(other, "trace.1.bin.zst"));
	close(a);
	close(b);
	close(other);
}

static void test_enforce_all_removes_empty_directories(void **state)
{
	struct scratch *s = *state;
	int a = subdir(s->fd, "aaaa-1");
	uint64_t cnt = 0, sz = 0;

	put(a, "trace.5.bin.zst", 100, 20);
	close(a);
	assert_int_equal(retain_enforce_all(s->fd, 50, &cnt, &sz), 0);
	assert_int_equal(cnt, 1);
	assert_false(has(s->fd, "aaaa-1"));
}

static void test_unsafe_directories_are_left_alone(void **state)
{
	struct scratch *s = *state;
	int a = subdir(s->fd, "aaaa-1");
	uint64_t cnt = 0, sz = 0;

	put(a, "trace.5.bin.zst", 100, 20);
	put(a, "trace.6.bin.zst.active", 100, 20);
	assert_int_equal(fchmod(a, 0770), 0);
	assert_int_equal(symlinkat("aaaa-1", s->fd, "bbbb-2"), 0);
	assert_int_equal(retain_enforce_all(s->fd, 0, &cnt, &sz), 0);
	assert_int_equal(retain_recover_all(s->fd, &cnt), 0);
	assert_int_equal(cnt, 0);
	assert_true(has(a, "trace.5.bin.zst") && has(a, "trace.6.bin.zst.active"));
	close(a);
}

static void test_recover(void **state)
{
	struct scratch *s = *state;
	int a = subdir(s->fd, "aaaa-1"), b = subdir(s->fd, "bbbb-2");
	uint64_t cnt = 0;

	put(a, "trace.0.bin.zst.active", 100, 1);
	put(a, "trace.1.bin.zst.active", 0, 1);
	put(a, "trace.2.bin.zst", 7, 1);
	put(a, "trace.2.bin.zst.active", 9, 1);
	put(b, "trace.0.bin.gz.active", 100, 1);
	assert_int_equal(dirlock_own_dir(b), 0);
	log_set_level(LOG_ERROR);
	/* the name of a published segment is never taken over */
	assert_int_equal(retain_recover_all(s->fd, &cnt), -EEXIST);
	log_set_level(LOG_INFO);
	assert_int_equal(cnt, 1);
	assert_true(has(a, "trace.0.bin.zst") && !has(a, "trace.0.bin.zst.active"));
	assert_false(has(a, "trace.1.bin.zst.active") || has(a, "trace.1.bin.zst"));
	assert_true(has(a, "trace.2.bin.zst.active"));
	assert_true(has(b, "trace.0.bin.gz.active"));
	close(b);
	assert_int_equal(unlinkat(a, "trace.2.bin.zst.active", 0), 0);
	assert_int_equal(retain_recover_all(s->fd, &cnt), 0);
	assert_int_equal(cnt, 2);
	close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_measure_sees_only_segments, scratch_open,
						scratch_close),
		cmocka_unit_test_setup_teardown(test_enforce_takes_the_oldest, scratch_open,
						scratch_close),
		cmocka_unit_test_setup_teardown(test_enforce_all_spans_processes, scratch_open,
						scratch_close),
		cmocka_unit_test_setup_teardown(test_enforce_all_removes_empty_directories,
						scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_unsafe_directories_are_left_alone,
						scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_recover, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
