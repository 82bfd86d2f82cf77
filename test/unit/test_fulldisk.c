// SPDX-License-Identifier: Apache-2.0
/* test_fulldisk.c - segments where writing fails: on a full disk, and beyond a limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/log.h"
#include "format/trace.h"
#include "test/unit/scratch.h"
#include "test/unit/segment_fixture.h"

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
#include <unistd.h>

static bool put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool is_put = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return is_put;
}

/* A file system of `mib` MiB on scratch/small. False where that is not allowed. */
static bool small_disk(const char *path, unsigned mib)
{
	char how[32], map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();

	snprintf(how, sizeof(how), "size=%um,mode=0750", mib);
	if (uid != 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
			return false;
		snprintf(map, sizeof(map), "%u %u 1\n", (unsigned)uid, (unsigned)uid);
		if (!put_text("/proc/self/uid_map", map))
			return false;
		snprintf(map, sizeof(map), "%u %u 1\n", (unsigned)gid, (unsigned)gid);
		if (!put_text("/proc/self/setgroups", "deny") ||
		    !put_text("/proc/self/gid_map", map))
			return false;
	} else if (unshare(CLONE_NEWNS)) {
		return false;
	}
	return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mkdir(path, 0750) == 0 &&
	       mount("dial9-test", path, "tmpfs", 0, how) == 0;
}

static void test_full_disk(void **state)
{
	struct segment_stats stats;
	struct segments *s = NULL;
	char dir[256], fill[512], path[128];
	int fd, err = 0;
	struct seg_content c;

	(void)state;
	snprintf(path, sizeof(path), "%s/small", scratch);
	if (!small_disk(path, 12))
		fail_msg("no small disk: a tmpfs may not be mounted here, by root or in a user namespace");
	seg_options.trace_dir = path;
	seg_options.total_max_sz = 1024 * MIB;
	seg_options.segment_max_sz = 2 * MIB;
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
	snprintf(dir, sizeof(dir), "%s", segments_path(s));

	/* own old segments make room; nothing is lost */
	for (int i = 0; i < 300; i++) {
		assert_int_equal(seg_write_noise(s, 128 << 10), 0);
		if (segments_should_rotate(s, seg_now_ns()))
			assert_int_equal(segments_rotate(s, seg_now_ns(), NULL, 0), 0);
	}
	segments_stats(s, &stats);
	assert_true(stats.evicted_cnt > 5);
	assert_int_equal(stats.dropped_cnt, 0);

	/* others fill the disk: writes are refused at once and counted */
	snprintf(fill, sizeof(fill), "%s/fill", path);
	fd = open(fill, O_WRONLY | O_CREAT, 0600);
	for (unsigned i = 0; i < 5000 && err == 0; i++) {
		static char zeros[65536];

		while (write(fd, zeros, sizeof(zeros)) > 0)
			continue;
		err = seg_write_events(s, 1 + i * 10ull, 10);
		if (err == 0)
			err = seg_write_noise(s, 64 << 10);
	}
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(seg_write_events(s, 1, 1), -ENOSPC);
	segments_stats(s, &stats);
	assert_true(stats.dropped_cnt >= 2 && stats.dropped_sz > 0);
	assert_int_equal(stats.last_errno, ENOSPC);
	assert_false(segments_should_rotate(s, seg_now_ns()));

	/* room again: it goes on by itself */
	close(fd);
	assert_int_equal(unlink(fill), 0);
	assert_true(segments_should_rotate(s, seg_now_ns() + 2 * SEC));
	assert_int_equal(segments_rotate(s, seg_now_ns() + 2 * SEC, NULL, 0), 0);
	assert_int_equal(seg_write_events(s, 1, 33), 0);
	err = segments_finish(s, NULL, 0);
	assert_int_equal(err, -EIO); /* there was a loss */
	snprintf(fill, sizeof(fill), "trace.%llu.bin.zst",
		 (unsigned long long)segments_index(s) - 1);
	assert_int_equal(seg_read_back(dir, fill).ends, 33);
	/* the segment that met the full disk is whole, too */
	snprintf(fill, sizeof(fill), "trace.%llu.bin.zst",
		 (unsigned long long)segments_index(s) - 2);
	c = seg_read_back(dir, fill);
	assert_int_equal(c.rc, 0);
	assert_true(c.ends > 0);
	segments_close(s);

	/* a disk that is full from the start is an error, and nothing is left there */
	snprintf(fill, sizeof(fill), "rm -rf %s/* && head -c 20M /dev/zero > %s/fill 2>/dev/null",
		 path, path);
	assert_true(system(fill) != -1);
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), -ENOSPC);
	assert_int_equal(seg_count_files(path), 1);
	assert_int_equal(umount(path), 0);
}

static unsigned lines_with(const char *path, const char *what)
{
	FILE *f = fopen(path, "r");
	unsigned cnt = 0;
	char line[1024];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		cnt += strstr(line, what) != NULL;
	fclose(f);
	return cnt;
}

static void rotate_and_wait(struct segments *s)
{
	struct segment_stats stats;
	uint64_t sealed_cnt;

	segments_stats(s, &stats);
	sealed_cnt = stats.sealed_cnt;
	assert_int_equal(segments_rotate(s, seg_now_ns(), NULL, 0), 0);
	for (int i = 0; i < 10000 && stats.sealed_cnt == sealed_cnt; i++) {
		usleep(1000);
		segments_stats(s, &stats);
	}
	assert_int_equal(stats.sealed_cnt, sealed_cnt + 1);
}

/* A disk smaller than the worst case of a batch takes what fits, and then the newest. */
static void test_tiny_disk(void **state)
{
	static const enum segment_compress how[] = { SEGMENT_ZSTD, SEGMENT_GZIP, SEGMENT_NONE };
	static const char *const names[] = { "trace.0.bin.zst", "trace.0.bin.gz", "trace.0.bin" };
	struct segment_stats stats;
	struct segments *s = NULL;
	struct seg_content c;
	char path[128], how_many[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/tiny", scratch);
	if (!small_disk(path, 1))
		fail_msg("no small disk: a tmpfs may not be mounted here, by root or in a user namespace");
	seg_options.trace_dir = path;
	for (int i = 0; i < 3; i++) {
		seg_options.compress = how[i];
		assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
		for (int j = 0; j < 8; j++) { /* 512 KiB raw, or more */
			assert_int_equal(seg_write_events(s, 1 + j * 1000ull, 1000), 0);
			assert_int_equal(seg_write_noise(s, 8 << 10), 0);
			assert_int_equal(segments_flush(s), 0);
		}
		snprintf(path, sizeof(path), "%s.active", names[i]);
		c = seg_read_back(segments_path(s), path); /* whole at any time */
		assert_true(c.ends > 8000);
		assert_int_equal(segments_finish(s, NULL, 0), 0);
		segments_stats(s, &stats);
		assert_int_equal(stats.evicted_cnt, 0);
		assert_int_equal(seg_read_back(segments_path(s), names[i]).rc, 0);
		assert_int_equal(seg_read_back(segments_path(s), names[i]).ends, c.ends);
		if (how[i] == SEGMENT_GZIP) { /* other readers take the first member only */
			snprintf(how_many, sizeof(how_many),
				 "python3 -c 'import sys, zlib; d = zlib.decompressobj(31); "
				 "d.decompress(open(sys.argv[1], \"rb\").read()); "
				 "sys.exit(not d.eof or len(d.unused_data))' %s/%s",
				 segments_path(s), names[i]);
			assert_int_equal(system(how_many), 0);
		}
		snprintf(path, sizeof(path), "%s/%s", segments_path(s), names[i]);
		assert_int_equal(unlink(path), 0);
		segments_close(s);
	}

	seg_options.compress = SEGMENT_ZSTD;
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
	for (int i = 0; i < 100; i++) { /* three times the disk */
		assert_int_equal(seg_write_noise(s, 32 << 10), 0);
		if (segments_should_rotate(s, seg_now_ns()))
			rotate_and_wait(s);
	}
	segments_stats(s, &stats);
	assert_int_equal(stats.dropped_cnt, 0);
	assert_in_range(stats.evicted_cnt, 10, 25);
	assert_int_equal(segments_finish(s, NULL, 0), 0);
	segments_close(s);
	snprintf(path, sizeof(path), "%s/tiny", scratch);
	assert_int_equal(umount(path), 0);
}

/* One message, not one for each try; and one when it is over. */
static void test_trouble_is_told_once(void **state)
{
	struct segments *s = NULL;
	char path[128], said[128], fill[512];
	unsigned not_yet;
	int errs[6], fd, saved;

	(void)state;
	snprintf(path, sizeof(path), "%s/small", scratch);
	snprintf(said, sizeof(said), "%s/said", scratch);
	if (!small_disk(path, 1))
		fail_msg("no small disk: a tmpfs may not be mounted here, by root or in a user namespace");
	seg_options.trace_dir = path;
	log_set_level(LOG_INFO);
	saved = dup(STDERR_FILENO);
	fd = open(said, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(fd, STDERR_FILENO);
	close(fd);
	/* too little for the worst case, which would be reserved and could not be taken away */
	snprintf(fill, sizeof(fill), "head -c 64K /dev/zero > %s/first", path);
	assert_true(system(fill) != -1);
	errs[0] = segments_open(&seg_options, &seg_target, &s);
	snprintf(fill, sizeof(fill), "dd if=/dev/zero of=%s/fill bs=4k 2>/dev/null", path);
	assert_true(system(fill) != -1);
	for (int i = 0; i < 5 && !errs[0]; i++) {
		errs[1] = seg_write_noise(s, 64 << 10);
		errs[2] = segments_rotate(s, seg_now_ns(), NULL, 0);
	}
	snprintf(fill, sizeof(fill), "%s/fill", path);
	assert_int_equal(unlink(fill), 0);
	errs[3] = segments_rotate(s, seg_now_ns(), NULL, 0);
	not_yet = lines_with(said, "writing to");
	errs[4] = seg_write_noise(s, 64 << 10);
	errs[5] = seg_write_noise(s, 64 << 10);
	dup2(saved, STDERR_FILENO); /* which assertions need */
	close(saved);
	for (int i = 0; i < 6; i++)
		assert_int_equal(errs[i], i == 1 || i == 2 ? -ENOSPC : 0);
	assert_int_equal(not_yet, 0);
	segments_close(s);
	assert_int_equal(lines_with(said, "cannot write to"), 1);
	assert_int_equal(lines_with(said, "another --trace-dir"), 1);
	assert_int_equal(lines_with(said, "writing to"), 1);
	assert_int_equal(lines_with(said, ""), 2);
	assert_int_equal(umount(path), 0);
}

/* A write that fails for another reason tears the segment: its whole blocks stay readable. */
static void test_torn_segment(void **state)
{
	struct rlimit saved, limit;
	struct segment_stats stats;
	struct segments *s;
	struct seg_content c;
	char dir[256];
	int err = 0;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &saved), 0);
	assert_int_equal(segments_open(&seg_options, &seg_target, &s), 0);
	snprintf(dir, sizeof(dir), "%s", segments_path(s));
	limit = saved;
	limit.rlim_cur = MIB;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 100 && err == 0; i++)
		err = seg_write_noise(s, 64 << 10);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &saved), 0);
	assert_int_equal(seg_write_events(s, 1, 1), -EFBIG);
	assert_int_equal(segments_rotate(s, seg_now_ns(), NULL, 0), 0);
	assert_int_equal(seg_write_events(s, 1, 5), 0);
	assert_int_equal(segments_finish(s, NULL, 0), -EIO);
	segments_stats(s, &stats);
	assert_int_equal(stats.sealed_cnt, 2);
	assert_int_equal(stats.last_errno, EFBIG);
	segments_close(s);
	c = seg_read_back(dir, "trace.0.bin.zst");
	assert_int_equal(c.rc, -D9_E_TRUNCATED);
	assert_true(c.ends > 1000);
	assert_int_equal(seg_read_back(dir, "trace.1.bin.zst").ends, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SEG_TEST(test_torn_segment),
		SEG_TEST(test_full_disk),
		SEG_TEST(test_tiny_disk),
		SEG_TEST(test_trouble_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
