// SPDX-License-Identifier: Apache-2.0
/* Sink: what was written comes back, flushed bytes are readable at once, a full disk loses nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace_fixture.h"

#define DATA_SZ (3u << 20)
static uint8_t *data;

struct file {
	char path[32];
	int fd;
};

/* A trace of DATA_SZ bytes or a little less. */
static int data_new(void **state)
{
	struct d9_pool *pool = d9_pool_new(0, 0, 0);
	struct d9_enc enc;
	int rc = 0;

	data = calloc(1, DATA_SZ);
	d9_enc_init(&enc, data, DATA_SZ - 8192, pool);
	for (uint64_t seed = 0; !rc; seed++)
		rc = fixture_batch(&enc, seed);
	d9_pool_free(pool);
	*state = (void *)enc.len;
	return rc != -D9_E_ROOM;
}

static int data_free(void **state)
{
	(void)state;
	free(data);
	return 0;
}

static void file_new(struct file *f)
{
	strcpy(f->path, "/tmp/d9sinkXXXXXX");
	f->fd = mkstemp(f->path);
	assert_true(f->fd >= 0);
}

static void file_done(struct file *f)
{
	close(f->fd);
	unlink(f->path);
}

/* The file decompresses to sz bytes of data, with this end code. */
static void expect(const struct file *f, size_t sz, int want_rc)
{
	uint8_t *back = malloc(DATA_SZ);
	struct d9_src *src;
	size_t got = 0;
	ssize_t n;

	assert_int_equal(d9_src_open(&src, f->path, NULL), 0);
	while ((n = d9_src_read(src, back + got, DATA_SZ - got)) > 0)
		got += (size_t)n;
	assert_int_equal(n, want_rc);
	assert_int_equal(got, sz);
	assert_memory_equal(back, data, sz);
	d9_src_close(src);
	free(back);
}

static struct d9_sink *sink_new(enum d9_compression kind, int level, size_t buf_sz)
{
	struct d9_sink_opt opt = { .compression = kind, .level = level, .buf_sz = buf_sz };
	struct d9_sink *sink;

	assert_int_equal(d9_sink_new(&sink, &opt), 0);
	return sink;
}

static void every_kind_round_trips(void **state)
{
	size_t sz = (size_t)*state;

	for (int kind = D9_RAW; kind <= D9_ZSTD; kind++) {
		struct d9_sink *sink = sink_new(kind, 0, 0);

		/* twice, as one sink serves file after file */
		for (int i = 0; i < 2; i++) {
			struct file f;
			struct stat st;
			size_t used;

			file_new(&f);
			assert_int_equal(d9_sink_start(sink, f.fd), 0);
			for (size_t at = 0; at < sz; at += used) {
				size_t n = sz - at < 40000 ? sz - at : 40000;

				assert_int_equal(d9_sink_write(sink, data + at, n, &used), 0);
				assert_int_equal(used, n);
			}
			assert_int_equal(d9_sink_in_sz(sink), sz);
			assert_int_equal(d9_sink_finish(sink), 0);
			assert_int_equal(fstat(f.fd, &st), 0);
			assert_int_equal(d9_sink_out_sz(sink), st.st_size);
			expect(&f, sz, 0);
			file_done(&f);
		}
		d9_sink_free(sink);
	}
}

static void flushed_bytes_are_readable_at_once(void **state)
{
	size_t sz = (size_t)*state;

	for (int kind = D9_RAW; kind <= D9_ZSTD; kind++) {
		struct d9_sink *sink = sink_new(kind, 0, 4096);
		struct file f;
		size_t at = 0;

		file_new(&f);
		assert_int_equal(d9_sink_start(sink, f.fd), 0);
		for (size_t step = 1; at < sz; step *= 5) {
			size_t n = step < sz - at ? step : sz - at;

			assert_int_equal(d9_sink_write(sink, data + at, n, NULL), 0);
			at += n;
			assert_int_equal(d9_sink_flush(sink), 0);
			expect(&f, at, kind == D9_RAW ? 0 : -D9_E_TRUNCATED);
			assert_int_equal(d9_sink_flush(sink), 0);
		}
		assert_int_equal(d9_sink_finish(sink), 0);
		expect(&f, sz, 0);
		file_done(&f);
		d9_sink_free(sink);
	}
}

static void a_further_frame_can_be_appended(void **state)
{
	struct d9_sink *sink = sink_new(D9_ZSTD, 1, 0);
	size_t sz = (size_t)*state, half = sz / 2;
	struct file f;

	file_new(&f);
	assert_int_equal(d9_sink_start(sink, f.fd), 0);
	assert_int_equal(d9_sink_write(sink, data, half, NULL), 0);
	assert_int_equal(d9_sink_finish(sink), 0);
	assert_int_equal(d9_sink_start(sink, f.fd), 0);
	assert_int_equal(d9_sink_write(sink, data + half, sz - half, NULL), 0);
	assert_int_equal(d9_sink_finish(sink), 0);
	expect(&f, sz, 0);
	file_done(&f);
	d9_sink_free(sink);
}

/* The file may grow by so much more only; as if space were freed bit by bit on a full disk. */
static void allow(const struct file *f, rlim_t more)
{
	struct rlimit lim;
	struct stat st;

	assert_int_equal(fstat(f->fd, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &lim), 0);
	lim.rlim_cur = more == RLIM_INFINITY ? more : (rlim_t)st.st_size + more;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
}

static void a_full_disk_loses_nothing(void **state)
{
	size_t sz = (size_t)*state;

	signal(SIGXFSZ, SIG_IGN);
	for (int kind = D9_RAW; kind <= D9_ZSTD; kind++) {
		struct d9_sink *sink = sink_new(kind, 0, 4096);
		size_t at = 0, used, failures = 0;
		struct file f;
		int rc;

		file_new(&f);
		assert_int_equal(d9_sink_start(sink, f.fd), 0);
		for (allow(&f, 0); at < sz; at += used) {
			rc = d9_sink_write(sink, data + at, sz - at, &used);
			if (rc) {
				assert_int_equal(rc, -EFBIG);
				failures++;
				allow(&f, 3001);
			}
		}
		for (allow(&f, 0); (rc = d9_sink_flush(sink)); allow(&f, 100)) {
			assert_int_equal(rc, -EFBIG);
			failures++;
		}
		allow(&f, RLIM_INFINITY);
		expect(&f, sz, kind == D9_RAW ? 0 : -D9_E_TRUNCATED);
		for (allow(&f, 0); (rc = d9_sink_finish(sink)); allow(&f, 1))
			assert_int_equal(rc, -EFBIG);
		allow(&f, RLIM_INFINITY);
		assert_true(failures > 10);
		expect(&f, sz, 0);
		file_done(&f);
		d9_sink_free(sink);
	}
}

static void enospc_keeps_its_number(void **state)
{
	struct d9_sink *sink = sink_new(D9_ZSTD, 0, 4096);
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	size_t used = 99;

	assert_true(fd >= 0);
	assert_int_equal(d9_sink_start(sink, fd), 0);
	assert_int_equal(d9_sink_write(sink, data, 1000, &used), 0);
	assert_int_equal(used, 1000);
	assert_int_equal(d9_sink_flush(sink), -ENOSPC);
	assert_int_equal(d9_sink_write(sink, data, (size_t)*state, &used), -ENOSPC);
	assert_true(used < (size_t)*state);
	assert_int_equal(d9_sink_finish(sink), -ENOSPC);
	assert_int_equal(d9_sink_start(sink, fd), -D9_E_STATE);
	d9_sink_abort(sink);
	assert_int_equal(d9_sink_start(sink, fd), 0);
	close(fd);
	d9_sink_free(sink);
}

static void order_of_calls_is_checked(void **state)
{
	struct d9_sink_opt bad = { .compression = D9_ZSTD, .level = 20 };
	struct d9_sink *sink = sink_new(D9_GZIP, 0, 0);
	size_t used = 99;

	(void)state;
	assert_int_equal(d9_sink_write(sink, data, 1, &used), -D9_E_STATE);
	assert_int_equal(used, 0);
	assert_int_equal(d9_sink_flush(sink), -D9_E_STATE);
	assert_int_equal(d9_sink_finish(sink), -D9_E_STATE);
	d9_sink_free(sink);
	d9_sink_free(NULL);
	assert_int_equal(d9_sink_new(&sink, &bad), -D9_E_BAD_VALUE);
	bad = (struct d9_sink_opt){ .compression = D9_GZIP, .level = 10 };
	assert_int_equal(d9_sink_new(&sink, &bad), -D9_E_BAD_VALUE);
}

/* The largest window that any level may use is one that browsers and our reader accept. */
static void highest_level_keeps_its_window(void **state)
{
	struct d9_sink *sink = sink_new(D9_ZSTD, 19, 0);
	struct file f;
	uint8_t head[6];

	file_new(&f);
	assert_int_equal(d9_sink_start(sink, f.fd), 0);
	assert_int_equal(d9_sink_write(sink, data, 100000, NULL), 0);
	assert_int_equal(d9_sink_finish(sink), 0);
	assert_int_equal(pread(f.fd, head, 6, 0), 6);
	assert_int_equal(head[4] & 0x20, 0); /* streamed: a window byte follows */
	assert_true(head[5] >> 3 <= D9_ZSTD_WINDOW_LOG - 10);
	file_done(&f);
	d9_sink_free(sink);
	(void)state;
}

static void writes_allocate_nothing(void **state)
{
	size_t sz = (size_t)*state;

	for (int kind = D9_RAW; kind <= D9_ZSTD; kind++) {
		struct d9_sink *sink = sink_new(kind, 0, 0);
		struct mallinfo2 before, after;
		struct file f;

		file_new(&f);
		assert_int_equal(d9_sink_start(sink, f.fd), 0);
		/* zstd takes its tables at the first byte */
		assert_int_equal(d9_sink_write(sink, data, 1, NULL), 0);
		before = mallinfo2();
		assert_int_equal(d9_sink_write(sink, data + 1, sz - 1, NULL), 0);
		assert_int_equal(d9_sink_flush(sink), 0);
		after = mallinfo2();
		assert_int_equal(after.uordblks, before.uordblks);
		assert_int_equal(after.hblkhd, before.hblkhd);
		assert_int_equal(d9_sink_finish(sink), 0);
		file_done(&f);
		d9_sink_free(sink);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_round_trips),
		cmocka_unit_test(flushed_bytes_are_readable_at_once),
		cmocka_unit_test(a_further_frame_can_be_appended),
		cmocka_unit_test(a_full_disk_loses_nothing),
		cmocka_unit_test(enospc_keeps_its_number),
		cmocka_unit_test(order_of_calls_is_checked),
		cmocka_unit_test(highest_level_keeps_its_window),
		cmocka_unit_test(writes_allocate_nothing),
	};

	return cmocka_run_group_tests(tests, data_new, data_free);
}
