// SPDX-License-Identifier: Apache-2.0
/* test_segment.c - the whole life of segments, in a scratch directory, read back by the decoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/log.h"
#include "agent/segment.h"
#include "agent/target.h"
#include "format/trace.h"
#include "test/unit/scratch.h"
#include "test/unit/segment_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Two segments in each format: names, modes, contents, symbols. */
static void test_formats(void **state)
{
	static const struct {
		enum segment_compress compress;
		const char *first, *second;
	} cases[] = {
		{ SEGMENT_ZSTD, "trace.0.bin.zst", "trace.1.bin.zst" },
		{ SEGMENT_GZIP, "trace.2.bin.gz", "trace.3.bin.gz" },
		{ SEGMENT_NONE, "trace.4.bin", "trace.5.bin" },
	};
	static const uint64_t addrs[] = { 0x1000, 0x2000, 0xffffffff81000000 };
	struct segment_stats stats;
	struct segments *s;
	struct seg_content c;
	struct stat st;
	char dir[256], path[512];
	mode_t saved = umask(0);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		seg_options.compress = cases[i].compress;
		assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
		snprintf(dir, sizeof(dir), "%s", segments_path(s));
		assert_int_equal(segments_index(s), 2 * i);
		assert_int_equal(seg_write_events(s, 1, 1000), 0);
		assert_int_equal(segments_rotate(s, seg_now_ns(), addrs, 3), 0);
		assert_int_equal(segments_index(s), 2 * i + 1);
		assert_int_equal(seg_write_events(s, 1001, 10), 0);
		assert_int_equal(segments_finish(s, NULL, 0), 0);
		segments_stats(s, &stats);
		assert_int_equal(stats.sealed_cnt, 2);
		assert_int_equal(stats.symbols_unnamed_cnt, 3);
		assert_int_equal(stats.dropped_cnt + stats.failed_cnt + stats.bare_cnt, 0);
		assert_true(stats.written_raw_sz > 5000);
		segments_close(s);

		c = seg_read_back(dir, cases[i].first);
		assert_int_equal(c.rc, 0);
		assert_int_equal(c.ends, 1000);
		assert_int_equal(c.symbols, 3);
		assert_int_equal(c.named_failed, 2);
		c = seg_read_back(dir, cases[i].second);
		assert_true(c.rc == 0 && c.ends == 10 && c.symbols == 0);
		snprintf(path, sizeof(path), "%s/%s", dir, cases[i].first);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0640);
		/* what was reserved is given back */
		assert_true((uint64_t)st.st_blocks * 512 <= (uint64_t)st.st_size + 8192);
	}
	umask(saved);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_int_equal(seg_count_files(dir), 6);
	assert_int_equal(seg_count_files(seg_run_dir), 0);
}

static void test_second_agent_is_refused(void **state)
{
	struct segments *s, *other = NULL;

	(void)state;
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
	assert_int_equal(segments_open(&seg_options, &seg_target, &other), -EBUSY);
	assert_null(other);
	/* also one that sees only the trace dir */
	snprintf(seg_run_dir, sizeof(seg_run_dir), "%s/run2", scratch);
	assert_int_equal(segments_open(&seg_options, &seg_target, &other), -EBUSY);
	assert_null(other);
	segments_close(s);
}

static void test_nothing_written_leaves_nothing(void **state)
{
	struct segments *s;

	(void)state;
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
	assert_false(segments_should_rotate(s, seg_now_ns() + 3600 * SEC));
	assert_int_equal(segments_finish(s, NULL, 0), 0);
	segments_close(s);
	assert_int_equal(seg_count_files(seg_trace_dir), 0);
}

static void test_bad_directories(void **state)
{
	struct segments *s = NULL;
	char path[128];

	(void)state;
	seg_options.trace_dir = "/proc/self/no-such";
	assert_true(segments_open(&seg_options, &seg_target, &s) < 0);
	snprintf(path, sizeof(path), "%s/link", scratch);
	assert_int_equal(symlink("/etc", path), 0);
	seg_options.trace_dir = path;
	assert_true(segments_open(&seg_options, &seg_target, &s) < 0);
	snprintf(path, sizeof(path), "%s/link/", scratch);
	assert_true(segments_open(&seg_options, &seg_target, &s) < 0);
	snprintf(path, sizeof(path), "%s/shared", scratch);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), -EPERM);
	assert_null(s);
	assert_int_equal(seg_count_files(path), 0);
	assert_int_equal(seg_count_files(seg_run_dir), 0);
}

/* After a flush all is readable from the .active file; a killed agent's is sealed by the next. */
static void test_kill(void **state)
{
	struct segment_stats stats;
	struct segments *s;
	struct seg_content c;
	char dir[256], byte;
	int pipes[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		if (segments_open(&seg_options, &seg_target, &s) || seg_write_events(s, 1, 500) ||
		    segments_flush(s) || seg_write_events(s, 501, 5) || write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
	snprintf(dir, sizeof(dir), "%s", segments_path(s));
	segments_stats(s, &stats);
	assert_int_equal(stats.recovered_cnt, 1);
	assert_int_equal(segments_index(s), 1);
	c = seg_read_back(dir, "trace.0.bin.zst");
	assert_int_equal(c.rc, -D9_E_TRUNCATED);
	assert_int_equal(c.ends, 500);

	assert_int_equal(seg_write_events(s, 1, 77), 0);
	assert_int_equal(segments_flush(s), 0);
	c = seg_read_back(dir, "trace.1.bin.zst.active");
	assert_int_equal(c.ends, 77);
	segments_close(s);
	assert_true(seg_exists(dir, "trace.1.bin.zst") && !seg_exists(dir, "trace.1.bin.zst.active"));
	close(pipes[0]);
	close(pipes[1]);
}

/* An orphan of a process that is gone is sealed by whoever starts next in that trace dir. */
static void test_orphan_of_another_process(void **state)
{
	struct segments *s;
	char path[160];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s", seg_trace_dir);
	assert_int_equal(mkdir(path, 0750), 0);
	snprintf(path, sizeof(path), "%s/zzzz-7", seg_trace_dir);
	assert_int_equal(mkdir(path, 0750), 0);
	snprintf(path, sizeof(path), "%s/zzzz-7/trace.3.bin.gz.active", seg_trace_dir);
	fd = open(path, O_WRONLY | O_CREAT, 0640);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
	segments_close(s);
	snprintf(path, sizeof(path), "%s/zzzz-7", seg_trace_dir);
	assert_true(seg_exists(path, "trace.3.bin.gz"));
}

static void test_rotation_by_time_and_size(void **state)
{
	struct segments *s;

	(void)state;
	seg_options.total_max_sz = 6 * MIB;
	seg_options.segment_max_sz = MIB;
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
	assert_int_equal(seg_write_events(s, 1, 10), 0);
	assert_false(segments_should_rotate(s, seg_now_ns()));
	assert_false(segments_should_rotate(s, seg_now_ns() + 59 * SEC));
	assert_true(segments_should_rotate(s, seg_now_ns() + 61 * SEC));
	for (int i = 0; i < 100 && !segments_should_rotate(s, seg_now_ns()); i++)
		assert_int_equal(seg_write_noise(s, 64 << 10), 0);
	assert_true(segments_should_rotate(s, seg_now_ns()));
	segments_close(s);
}

static uint64_t dir_sz(const char *dir)
{
	char path[512];
	uint64_t sz = 0;
	struct dirent *e;
	struct stat st;
	DIR *d = opendir(dir);

	assert_non_null(d);
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			sz += (uint64_t)st.st_size;
	}
	closedir(d);
	return sz;
}

static void test_total_is_kept(void **state)
{
	struct segment_stats stats;
	struct segments *s;
	char dir[256];

	(void)state;
	seg_options.total_max_sz = 8 * MIB;
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
	snprintf(dir, sizeof(dir), "%s", segments_path(s));
	for (int i = 0; i < 300; i++) {
		assert_int_equal(seg_write_noise(s, 128 << 10), 0);
		if (segments_should_rotate(s, seg_now_ns()))
			assert_int_equal(segments_rotate(s, seg_now_ns(), NULL, 0), 0);
	}
	assert_int_equal(segments_finish(s, NULL, 0), 0);
	segments_stats(s, &stats);
	assert_true(stats.evicted_cnt > 5);
	assert_int_equal(stats.dropped_cnt, 0);
	assert_true(dir_sz(dir) <= 8 * MIB && dir_sz(dir) > 2 * MIB);
	assert_false(seg_exists(dir, "trace.0.bin.zst"));
	segments_close(s);
}

static void test_removed_directory(void **state)
{
	struct segments *s;
	char command[160], dir[256];

	(void)state;
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
	assert_int_equal(seg_write_events(s, 1, 10), 0);
	snprintf(command, sizeof(command), "rm -rf %s", seg_trace_dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(segments_rotate(s, seg_now_ns(), NULL, 0), 0);
	assert_int_equal(seg_write_events(s, 1, 10), 0);
	/* the first segment went with the directory, and that is reported */
	assert_int_equal(segments_finish(s, NULL, 0), -EIO);
	snprintf(dir, sizeof(dir), "%s", segments_path(s));
	segments_close(s);
	assert_int_equal(seg_read_back(dir, "trace.1.bin.zst").ends, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SEG_TEST(test_formats),
		SEG_TEST(test_second_agent_is_refused),
		SEG_TEST(test_nothing_written_leaves_nothing),
		SEG_TEST(test_bad_directories),
		SEG_TEST(test_kill),
		SEG_TEST(test_orphan_of_another_process),
		SEG_TEST(test_rotation_by_time_and_size),
		SEG_TEST(test_total_is_kept),
		SEG_TEST(test_removed_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
