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

#define MIB (1024ull * 1024)
#define SEC 1000000000ull

static char trace_dir[96], run_dir[96];
static struct target target = { .pid = 4242, .start_ticks = 99 };
static struct segment_options options;

static int in_scratch(void **state)
{
	log_set_level(LOG_ERROR);
	assert_int_equal(scratch_make(state), 0);
	snprintf(trace_dir, sizeof(trace_dir), "%s/traces", scratch);
	snprintf(run_dir, sizeof(run_dir), "%s/run", scratch);
	options = (struct segment_options){
		.trace_dir = trace_dir,
		.run_dir = run_dir,
		.rotation_secs = 60,
		.total_max_sz = 1024 * MIB,
	};
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SEC + (uint64_t)ts.tv_nsec;
}

/* One self-contained batch of `cnt` terminate events with ids from `first`. */
static int write_events(struct segments *s, uint64_t first, unsigned cnt)
{
	static uint8_t buf[8 << 20];
	struct d9_enc enc;

	d9_enc_init(&enc, buf, sizeof(buf), NULL);
	assert_int_equal(d9_enc_begin(&enc), 0);
	for (unsigned i = 0; i < cnt; i++) {
		struct d9_task_terminate e = { .task_id = first + i };

		assert_int_equal(d9_put_task_terminate(&enc, 1000 + i, &e), 0);
	}
	return segments_write(s, enc.buf, enc.len);
}

/* Bytes that no compressor makes smaller, as events. */
static int write_noise(struct segments *s, size_t sz)
{
	static uint8_t buf[8 << 20];
	static uint64_t random = 88172645463325252ull;
	struct d9_enc enc;

	d9_enc_init(&enc, buf, sz, NULL);
	assert_int_equal(d9_enc_begin(&enc), 0);
	for (;;) {
		struct d9_task_terminate e;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		e.task_id = random | 1ull << 63;
		if (d9_put_task_terminate(&enc, random & 0xffffff, &e))
			break;
	}
	return segments_write(s, enc.buf, enc.len);
}

struct content {
	uint64_t ends, symbols, max_id, named_failed;
	int rc;
};

static struct content read_back(const char *dir, const char *name)
{
	struct content c = { 0 };
	struct d9_src *src;
	struct d9_ev ev;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	c.rc = d9_src_open(&src, path, NULL);
	if (c.rc)
		return c;
	while ((c.rc = d9_src_next(src, &ev)) == 1) {
		if (ev.schema->kind == D9_EV_TASK_TERMINATE) {
			uint64_t id = d9_u64(&ev, D9F_task_terminate_task_id, 0);

			c.ends++;
			c.max_id = id > c.max_id ? id : c.max_id;
		} else if (ev.schema->kind == D9_EV_SYMBOL) {
			struct d9_str n = d9_value_str(d9_val(&ev, D9F_symbol_symbol_name));

			c.symbols++;
			c.named_failed +=
				n.len > 20 && memcmp(n.p, "[symbolize-failed] 0x", 21) == 0;
		}
	}
	d9_src_close(src);
	return c;
}

static unsigned count_files(const char *dir)
{
	DIR *d = opendir(dir);
	unsigned cnt = 0;
	struct dirent *e;

	if (!d)
		return 0;
	while ((e = readdir(d)))
		cnt += e->d_name[0] != '.';
	closedir(d);
	return cnt;
}

static bool exists(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

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
	struct content c;
	struct stat st;
	char dir[256], path[512];
	mode_t saved = umask(0);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		options.compress = cases[i].compress;
		assert_int_equal(segments_open(&options, &target, &s), 0);
		snprintf(dir, sizeof(dir), "%s", segments_path(s));
		assert_int_equal(segments_index(s), 2 * i);
		assert_int_equal(write_events(s, 1, 1000), 0);
		assert_int_equal(segments_rotate(s, now_ns(), addrs, 3), 0);
		assert_int_equal(segments_index(s), 2 * i + 1);
		assert_int_equal(write_events(s, 1001, 10), 0);
		assert_int_equal(segments_finish(s, NULL, 0), 0);
		segments_stats(s, &stats);
		assert_int_equal(stats.sealed_cnt, 2);
		assert_int_equal(stats.symbols_unnamed_cnt, 3);
		assert_int_equal(stats.dropped_cnt + stats.failed_cnt + stats.bare_cnt, 0);
		assert_true(stats.written_raw_sz > 5000);
		segments_close(s);

		c = read_back(dir, cases[i].first);
		assert_int_equal(c.rc, 0);
		assert_int_equal(c.ends, 1000);
		assert_int_equal(c.symbols, 3);
		assert_int_equal(c.named_failed, 2);
		c = read_back(dir, cases[i].second);
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
	assert_int_equal(count_files(dir), 6);
	assert_int_equal(count_files(run_dir), 0);
}

static void test_second_agent_is_refused(void **state)
{
	struct segments *s, *other = NULL;

	(void)state;
	assert_int_equal(segments_open(&options, &target, &s), 0);
	assert_int_equal(segments_open(&options, &target, &other), -EBUSY);
	assert_null(other);
	/* also one that sees only the trace dir */
	snprintf(run_dir, sizeof(run_dir), "%s/run2", scratch);
	assert_int_equal(segments_open(&options, &target, &other), -EBUSY);
	assert_null(other);
	segments_close(s);
}

static void test_nothing_written_leaves_nothing(void **state)
{
	struct segments *s;

	(void)state;
	assert_int_equal(segments_open(&options, &target, &s), 0);
	assert_false(segments_should_rotate(s, now_ns() + 3600 * SEC));
	assert_int_equal(segments_finish(s, NULL, 0), 0);
	segments_close(s);
	assert_int_equal(count_files(trace_dir), 0);
}

static void test_bad_directories(void **state)
{
	struct segments *s = NULL;
	char path[128];

	(void)state;
	options.trace_dir = "/proc/self/no-such";
	assert_true(segments_open(&options, &target, &s) < 0);
	snprintf(path, sizeof(path), "%s/link", scratch);
	assert_int_equal(symlink("/etc", path), 0);
	options.trace_dir = path;
	assert_true(segments_open(&options, &target, &s) < 0);
	snprintf(path, sizeof(path), "%s/link/", scratch);
	assert_true(segments_open(&options, &target, &s) < 0);
	snprintf(path, sizeof(path), "%s/shared", scratch);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(segments_open(&options, &target, &s), -EPERM);
	assert_null(s);
	assert_int_equal(count_files(path), 0);
	assert_int_equal(count_files(run_dir), 0);
}

/* After a flush all is readable from the .active file; a killed agent's is sealed by the next. */
static void test_kill(void **state)
{
	struct segment_stats stats;
	struct segments *s;
	struct content c;
	char dir[256], byte;
	int pipes[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		if (segments_open(&options, &target, &s) || write_events(s, 1, 500) ||
		    segments_flush(s) || write_events(s, 501, 5) || write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(segments_open(&options, &target, &s), 0);
	snprintf(dir, sizeof(dir), "%s", segments_path(s));
	segments_stats(s, &stats);
	assert_int_equal(stats.recovered_cnt, 1);
	assert_int_equal(segments_index(s), 1);
	c = read_back(dir, "trace.0.bin.zst");
	assert_int_equal(c.rc, -D9_E_TRUNCATED);
	assert_int_equal(c.ends, 500);

	assert_int_equal(write_events(s, 1, 77), 0);
	assert_int_equal(segments_flush(s), 0);
	c = read_back(dir, "trace.1.bin.zst.active");
	assert_int_equal(c.ends, 77);
	segments_close(s);
	assert_true(exists(dir, "trace.1.bin.zst") && !exists(dir, "trace.1.bin.zst.active"));
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
	snprintf(path, sizeof(path), "%s", trace_dir);
	assert_int_equal(mkdir(path, 0750), 0);
	snprintf(path, sizeof(path), "%s/zzzz-7", trace_dir);
	assert_int_equal(mkdir(path, 0750), 0);
	snprintf(path, sizeof(path), "%s/zzzz-7/trace.3.bin.gz.active", trace_dir);
	fd = open(path, O_WRONLY | O_CREAT, 0640);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(segments_open(&options, &target, &s), 0);
	segments_close(s);
	snprintf(path, sizeof(path), "%s/zzzz-7", trace_dir);
	assert_true(exists(path, "trace.3.bin.gz"));
}

static void test_rotation_by_time_and_size(void **state)
{
	struct segments *s;

	(void)state;
	options.total_max_sz = 6 * MIB;
	options.segment_max_sz = MIB;
	assert_int_equal(segments_open(&options, &target, &s), 0);
	assert_int_equal(write_events(s, 1, 10), 0);
	assert_false(segments_should_rotate(s, now_ns()));
	assert_false(segments_should_rotate(s, now_ns() + 59 * SEC));
	assert_true(segments_should_rotate(s, now_ns() + 61 * SEC));
	for (int i = 0; i < 100 && !segments_should_rotate(s, now_ns()); i++)
		assert_int_equal(write_noise(s, 64 << 10), 0);
	assert_true(segments_should_rotate(s, now_ns()));
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
	options.total_max_sz = 8 * MIB;
	assert_int_equal(segments_open(&options, &target, &s), 0);
	snprintf(dir, sizeof(dir), "%s", segments_path(s));
	for (int i = 0; i < 300; i++) {
		assert_int_equal(write_noise(s, 128 << 10), 0);
		if (segments_should_rotate(s, now_ns()))
			assert_int_equal(segments_rotate(s, now_ns(), NULL, 0), 0);
	}
	assert_int_equal(segments_finish(s, NULL, 0), 0);
	segments_stats(s, &stats);
	assert_true(stats.evicted_cnt > 5);
	assert_int_equal(stats.dropped_cnt, 0);
	assert_true(dir_sz(dir) <= 8 * MIB && dir_sz(dir) > 2 * MIB);
	assert_false(exists(dir, "trace.0.bin.zst"));
	segments_close(s);
}

static void test_removed_directory(void **state)
{
	struct segments *s;
	char command[160], dir[256];

	(void)state;
	assert_int_equal(segments_open(&options, &target, &s), 0);
	assert_int_equal(write_events(s, 1, 10), 0);
	snprintf(command, sizeof(command), "rm -rf %s", trace_dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(segments_rotate(s, now_ns(), NULL, 0), 0);
	assert_int_equal(write_events(s, 1, 10), 0);
	/* the first segment went with the directory, and that is reported */
	assert_int_equal(segments_finish(s, NULL, 0), -EIO);
	snprintf(dir, sizeof(dir), "%s", segments_path(s));
	segments_close(s);
	assert_int_equal(read_back(dir, "trace.1.bin.zst").ends, 10);
}

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
	struct content c;

	(void)state;
	snprintf(path, sizeof(path), "%s/small", scratch);
	if (!small_disk(path, 12))
		skip();
	options.trace_dir = path;
	options.total_max_sz = 1024 * MIB;
	options.segment_max_sz = 2 * MIB;
	assert_int_equal(segments_open(&options, &target, &s), 0);
	snprintf(dir, sizeof(dir), "%s", segments_path(s));

	/* own old segments make room; nothing is lost */
	for (int i = 0; i < 300; i++) {
		assert_int_equal(write_noise(s, 128 << 10), 0);
		if (segments_should_rotate(s, now_ns()))
			assert_int_equal(segments_rotate(s, now_ns(), NULL, 0), 0);
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
		err = write_events(s, 1 + i * 10ull, 10);
		if (err == 0)
			err = write_noise(s, 64 << 10);
	}
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(write_events(s, 1, 1), -ENOSPC);
	segments_stats(s, &stats);
	assert_true(stats.dropped_cnt >= 2 && stats.dropped_sz > 0);
	assert_int_equal(stats.last_errno, ENOSPC);
	assert_false(segments_should_rotate(s, now_ns()));

	/* room again: it goes on by itself */
	close(fd);
	assert_int_equal(unlink(fill), 0);
	assert_true(segments_should_rotate(s, now_ns() + 2 * SEC));
	assert_int_equal(segments_rotate(s, now_ns() + 2 * SEC, NULL, 0), 0);
	assert_int_equal(write_events(s, 1, 33), 0);
	err = segments_finish(s, NULL, 0);
	assert_int_equal(err, -EIO); /* there was a loss */
	snprintf(fill, sizeof(fill), "trace.%llu.bin.zst",
		 (unsigned long long)segments_index(s) - 1);
	assert_int_equal(read_back(dir, fill).ends, 33);
	/* the segment that met the full disk is whole, too */
	snprintf(fill, sizeof(fill), "trace.%llu.bin.zst",
		 (unsigned long long)segments_index(s) - 2);
	c = read_back(dir, fill);
	assert_int_equal(c.rc, 0);
	assert_true(c.ends > 0);
	segments_close(s);

	/* a disk that is full from the start is an error, and nothing is left there */
	snprintf(fill, sizeof(fill), "rm -rf %s/* && head -c 20M /dev/zero > %s/fill 2>/dev/null",
		 path, path);
	assert_true(system(fill) != -1);
	assert_int_equal(segments_open(&options, &target, &s), -ENOSPC);
	assert_int_equal(count_files(path), 1);
	assert_int_equal(umount(path), 0);
}

/* A write that fails for another reason tears the segment: its whole blocks stay readable. */
static void test_torn_segment(void **state)
{
	struct rlimit saved, limit;
	struct segment_stats stats;
	struct segments *s;
	struct content c;
	char dir[256];
	int err = 0;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &saved), 0);
	assert_int_equal(segments_open(&options, &target, &s), 0);
	snprintf(dir, sizeof(dir), "%s", segments_path(s));
	limit = saved;
	limit.rlim_cur = MIB;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 100 && err == 0; i++)
		err = write_noise(s, 64 << 10);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &saved), 0);
	assert_int_equal(write_events(s, 1, 1), -EFBIG);
	assert_int_equal(segments_rotate(s, now_ns(), NULL, 0), 0);
	assert_int_equal(write_events(s, 1, 5), 0);
	assert_int_equal(segments_finish(s, NULL, 0), -EIO);
	segments_stats(s, &stats);
	assert_int_equal(stats.sealed_cnt, 2);
	assert_int_equal(stats.last_errno, EFBIG);
	segments_close(s);
	c = read_back(dir, "trace.0.bin.zst");
	assert_int_equal(c.rc, -D9_E_TRUNCATED);
	assert_true(c.ends > 1000);
	assert_int_equal(read_back(dir, "trace.1.bin.zst").ends, 5);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, in_scratch, scratch_remove)
	const struct CMUnitTest tests[] = {
		TEST(test_formats),
		TEST(test_second_agent_is_refused),
		TEST(test_nothing_written_leaves_nothing),
		TEST(test_bad_directories),
		TEST(test_kill),
		TEST(test_orphan_of_another_process),
		TEST(test_rotation_by_time_and_size),
		TEST(test_total_is_kept),
		TEST(test_removed_directory),
		TEST(test_torn_segment),
		TEST(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
