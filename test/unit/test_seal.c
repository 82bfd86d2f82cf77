// SPDX-License-Identifier: Apache-2.0
/* test_seal.c - files, queue and publication, without the recorder in front of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/log.h"
#include "agent/seal.h"
#include "agent/segfile.h"
#include "agent/tracedir.h"
#include "test/unit/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tracedir dir;
static struct seal *seal;
static uint64_t next_index;

static int opened(void **state)
{
	struct seal_options o = { .sink.compression = D9_GZIP, .budget_sz = 1ull << 30 };

	log_set_level(LOG_ERROR);
	next_index = 0;
	assert_int_equal(scratch_make(state), 0);
	assert_int_equal(tracedir_open(&dir, scratch, "abcd-1"), 0);
	assert_true(dir.is_new);
	o.trace_fd = dir.root_fd;
	assert_int_equal(seal_open(&o, &seal), 0);
	return 0;
}

static int closed(void **state)
{
	seal_close(seal);
	seal_close(NULL);
	tracedir_close(&dir, true);
	return scratch_remove(state);
}

static bool has(const char *name)
{
	return faccessat(dir.fd, name, F_OK, 0) == 0;
}

/* A written segment of two events, with addresses that want symbols. */
static struct seal_job make_job(struct d9_sink *sink)
{
	struct segfile f;
	struct seal_job job = { .sink = sink, .addrs_cnt = 2 };
	struct d9_enc enc;
	struct d9_task_terminate e = { .task_id = 7 };
	uint8_t buf[D9_ENC_BUF_MIN];
	const unsigned char *p = buf;
	size_t sz;

	assert_int_equal(segfile_open(&f, dir.fd, &next_index, ".gz", sink), 0);
	d9_enc_init(&enc, buf, sizeof(buf), NULL);
	assert_int_equal(d9_enc_begin(&enc), 0);
	assert_int_equal(d9_put_task_terminate(&enc, 1, &e), 0);
	assert_int_equal(d9_put_task_terminate(&enc, 2, &e), 0);
	sz = enc.len;
	assert_int_equal(segfile_reserve(&f, sz), 0);
	assert_int_equal(segfile_write(&f, &p, &sz), 0);
	assert_int_equal(sz, 0);
	assert_int_equal(d9_sink_flush(sink), 0);
	job.fd = f.fd;
	job.dir_fd = fcntl(dir.fd, F_DUPFD_CLOEXEC, 0);
	memcpy(job.name, f.name, sizeof(job.name));
	job.addrs = calloc(2, sizeof(*job.addrs));
	job.addrs[0] = 0x10;
	job.addrs[1] = 0x20;
	return job;
}

static unsigned count_events(const char *name, unsigned *ret_symbols)
{
	char path[128];
	struct d9_src *src;
	struct d9_ev ev;
	unsigned ends = 0;
	int rc;

	*ret_symbols = 0;
	snprintf(path, sizeof(path), "%s/abcd-1/%s", scratch, name);
	assert_int_equal(d9_src_open(&src, path, NULL), 0);
	while ((rc = d9_src_next(src, &ev)) == 1) {
		ends += ev.schema->kind == D9_EV_TASK_TERMINATE;
		*ret_symbols += ev.schema->kind == D9_EV_SYMBOL;
	}
	assert_int_equal(rc, 0);
	d9_src_close(src);
	return ends;
}

static void test_submit_and_hurry(void **state)
{
	struct seal_stats stats;
	struct seal_job jobs[SEAL_SINKS];
	unsigned symbols;

	(void)state;
	for (int i = 0; i < SEAL_SINKS; i++)
		jobs[i] = make_job(seal_take_sink(seal));
	assert_null(seal_take_sink(seal));
	assert_true(has("trace.0.bin.gz.active"));
	/* published here and now, without symbols, and its compressor is free again */
	seal_hurry(seal, &jobs[0]);
	assert_true(has("trace.0.bin.gz") && !has("trace.0.bin.gz.active"));
	assert_int_equal(count_events("trace.0.bin.gz", &symbols), 2);
	assert_int_equal(symbols, 0);
	jobs[0].sink = seal_take_sink(seal);
	assert_non_null(jobs[0].sink);
	seal_return_sink(seal, jobs[0].sink);

	for (int i = 1; i < SEAL_SINKS; i++)
		seal_submit(seal, &jobs[i]);
	seal_finish(seal);
	seal_stats(seal, &stats);
	assert_int_equal(stats.sealed_cnt, SEAL_SINKS);
	assert_int_equal(stats.bare_cnt, 1);
	assert_int_equal(stats.failed_cnt, 0);
	assert_int_equal(stats.symbols.unnamed_cnt, 2 * (SEAL_SINKS - 1));
	for (int i = 1; i < SEAL_SINKS; i++) {
		char name[RETAIN_NAME_SZ];

		retain_name(name, (uint64_t)i, ".gz", false);
		assert_int_equal(count_events(name, &symbols), 2);
		assert_int_equal(symbols, 2);
	}
}

/* What cannot be published is reported and stays, and a published name is never replaced. */
static void test_name_taken(void **state)
{
	struct seal_job job = make_job(seal_take_sink(seal));
	struct seal_stats stats;
	int fd = openat(dir.fd, "trace.0.bin.gz", O_WRONLY | O_CREAT | O_EXCL, 0640);
	struct stat st;

	(void)state;
	close(fd);
	seal_submit(seal, &job);
	seal_finish(seal);
	seal_stats(seal, &stats);
	assert_int_equal(stats.failed_cnt, 1);
	assert_int_equal(stats.last_errno, EEXIST);
	assert_int_equal(fstatat(dir.fd, "trace.0.bin.gz", &st, 0), 0);
	assert_int_equal(st.st_size, 0);
	assert_true(has("trace.0.bin.gz.active"));
}

static void test_torn(void **state)
{
	struct seal_job job = make_job(seal_take_sink(seal));
	struct seal_stats stats;

	(void)state;
	d9_sink_abort(job.sink);
	job.is_torn = true;
	seal_submit(seal, &job);
	seal_finish(seal);
	seal_stats(seal, &stats);
	assert_int_equal(stats.sealed_cnt, 1);
	assert_int_equal(stats.symbols.unnamed_cnt, 0);
	assert_true(has("trace.0.bin.gz"));
}

static void test_files(void **state)
{
	struct d9_sink *sink = seal_take_sink(seal);
	struct segfile f;
	struct stat st;
	uint64_t index = 5;
	mode_t saved = umask(0777);

	(void)state;
	assert_int_equal(symlinkat("/etc/passwd", dir.fd, "trace.5.bin.active"), 0);
	assert_int_equal(segfile_open(&f, dir.fd, &index, "", sink), 0);
	umask(saved);
	/* an existing name, a link at that, is passed over */
	assert_int_equal(index, 6);
	assert_string_equal(f.name, "trace.6.bin.active");
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(segfile_reserve(&f, 1 << 20), 0);
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_size, 0); /* reserved, not grown */
	assert_true(!f.can_reserve || st.st_blocks * 512 >= 1 << 20);
	segfile_trim(&f);
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_true(st.st_blocks * 512 < 1 << 17);
	segfile_tear(&f);
	assert_true(f.is_torn);
	segfile_discard(&f, dir.fd);
	assert_false(has("trace.6.bin.active"));
	seal_return_sink(seal, sink);
}

static void test_tracedir(void **state)
{
	struct tracedir again;
	char path[128];
	int fd = dir.fd;

	(void)state;
	assert_int_equal(tracedir_open(&again, scratch, "abcd-1"), -EBUSY);
	snprintf(path, sizeof(path), "%s/a/b", scratch);
	assert_int_equal(tracedir_open(&again, path, "abcd-1"), 0); /* makes the parent, too */
	tracedir_close(&again, true);
	snprintf(path, sizeof(path), "rmdir %s/abcd-1", scratch);
	assert_int_equal(system(path), 0);
	assert_int_equal(tracedir_remake(&dir), 0);
	assert_int_equal(dir.fd, fd);
	assert_int_equal(tracedir_open(&again, scratch, "abcd-1"), -EBUSY);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, opened, closed)
	const struct CMUnitTest tests[] = {
		TEST(test_submit_and_hurry),
		TEST(test_name_taken),
		TEST(test_torn),
		TEST(test_files),
		TEST(test_tracedir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
