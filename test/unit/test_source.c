// SPDX-License-Identifier: Apache-2.0
/* Source: compression told by magic, several members, cuts anywhere, bombs, windows, trailers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "trace_fixture.h"

static uint8_t raw[64 << 10];
static size_t raw_sz;

static int one_batch(void **state)
{
	struct d9_pool *pool = d9_pool_new(0, 0, 0);
	struct d9_enc enc;
	int rc;

	(void)state;
	d9_enc_init(&enc, raw, sizeof(raw), pool);
	rc = fixture_batch(&enc, 5);
	raw_sz = enc.len;
	d9_pool_free(pool);
	return rc;
}

static size_t gzip(const void *p, size_t sz, uint8_t *to, size_t cap)
{
	z_stream z = {
		.next_in = (Bytef *)p, .avail_in = (uInt)sz, .next_out = to, .avail_out = (uInt)cap
	};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, 0), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return cap - z.avail_out;
}

static size_t zstd(const void *p, size_t sz, uint8_t *to, size_t cap)
{
	size_t n = ZSTD_compress(to, cap, p, sz, 3);

	assert_false(ZSTD_isError(n));
	return n;
}

/* Events until the end; the end code. */
static int drain(struct d9_src *src, uint64_t *ret_events)
{
	struct d9_ev ev;
	int rc;

	*ret_events = 0;
	while ((rc = d9_src_next(src, &ev)) == 1)
		++*ret_events;
	assert_int_equal(d9_src_next(src, &ev), rc);
	return rc;
}

static int end_of(const void *p, size_t sz, const struct d9_src_opt *opt, uint64_t *ret_events)
{
	void *copy = fixture_guard(p, sz);
	struct d9_src *src;
	int rc;

	assert_int_equal(d9_src_open_mem(&src, copy, sz, opt), 0);
	rc = drain(src, ret_events);
	d9_src_close(src);
	fixture_unguard(copy, sz);
	return rc;
}

static void kinds_are_told_by_their_bytes(void **state)
{
	uint8_t file[sizeof(raw)];
	struct d9_src *src;
	uint64_t events;
	size_t sz;

	(void)state;
	for (int kind = D9_RAW; kind <= D9_ZSTD; kind++) {
		sz = kind == D9_GZIP   ? gzip(raw, raw_sz, file, sizeof(file))
		     : kind == D9_ZSTD ? zstd(raw, raw_sz, file, sizeof(file))
				       : raw_sz;
		if (kind == D9_RAW)
			memcpy(file, raw, raw_sz);
		assert_int_equal(d9_src_open_mem(&src, file, sz, NULL), 0);
		assert_int_equal(drain(src, &events), 0);
		assert_int_equal(events, FIXTURE_SEGMENT_EVENTS);
		assert_int_equal(d9_src_compression(src), kind);
		assert_int_equal(d9_src_in_sz(src), sz);
		assert_int_equal(d9_src_off(src), raw_sz);
		assert_int_equal(d9_src_stats(src)->bytes, raw_sz);
		d9_src_close(src);
	}
}

static void members_in_a_row_are_one_stream(void **state)
{
	static const uint8_t skippable[] = { 0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 'x', 'y' };
	uint8_t file[2 * sizeof(raw)];
	size_t half = raw_sz / 2, sz = 0;
	uint64_t events;

	(void)state;
	/* the cut between members may lie inside an event */
	sz += gzip(raw, half, file + sz, sizeof(file) - sz);
	sz += zstd(raw + half, raw_sz - half, file + sz, sizeof(file) - sz);
	memcpy(file + sz, skippable, sizeof(skippable));
	sz += sizeof(skippable);
	sz += zstd(raw, raw_sz, file + sz, sizeof(file) - sz);
	sz += zstd("", 0, file + sz, sizeof(file) - sz);
	sz += gzip(raw, raw_sz, file + sz, sizeof(file) - sz);
	memcpy(file + sz, raw, raw_sz);
	sz += raw_sz;
	assert_int_equal(end_of(file, sz, NULL, &events), 0);
	assert_int_equal(events, 4 * FIXTURE_SEGMENT_EVENTS);
}

static void trailer_is_an_error_after_all_events(void **state)
{
	uint8_t file[sizeof(raw)];
	uint64_t events;
	size_t sz;

	(void)state;
	for (int kind = D9_GZIP; kind <= D9_ZSTD; kind++) {
		sz = kind == D9_GZIP ? gzip(raw, raw_sz, file, sizeof(file))
				     : zstd(raw, raw_sz, file, sizeof(file));
		file[sz] = 0;
		assert_int_equal(end_of(file, sz + 1, NULL, &events), -D9_E_TRAILER);
		assert_int_equal(events, FIXTURE_SEGMENT_EVENTS);
	}
}

/* Compressed in flushed blocks and cut anywhere: all that was flushed is read, then "truncated". */
static void cut_anywhere_reads_all_that_was_flushed(void **state)
{
	uint8_t file[2 * sizeof(raw)];
	ZSTD_CCtx *cctx = ZSTD_createCCtx();
	ZSTD_outBuffer out = { file, sizeof(file), 0 };
	size_t first_flush = 0;
	uint64_t events, last = 0;

	(void)state;
	for (size_t at = 0; at < raw_sz; at += 500) {
		ZSTD_inBuffer in = { raw + at, raw_sz - at < 500 ? raw_sz - at : 500, 0 };

		assert_int_equal(ZSTD_compressStream2(cctx, &out, &in, ZSTD_e_flush), 0);
		first_flush = first_flush ? first_flush : out.pos;
	}
	ZSTD_freeCCtx(cctx);
	for (size_t sz = 1; sz <= out.pos; sz++) {
		assert_int_equal(end_of(file, sz, NULL, &events), -D9_E_TRUNCATED);
		assert_true(events >= last);
		assert_int_equal(events > 0, sz >= first_flush);
		last = events;
	}
	assert_int_equal(last, FIXTURE_SEGMENT_EVENTS);
}

static void cut_gzip_reads_what_there_is(void **state)
{
	uint8_t file[sizeof(raw)];
	size_t whole = gzip(raw, raw_sz, file, sizeof(file));
	uint64_t events, last = 0;

	(void)state;
	for (size_t sz = 0; sz < whole; sz++) {
		assert_int_equal(end_of(file, sz, NULL, &events), -D9_E_TRUNCATED);
		assert_true(events >= last);
		last = events;
	}
	assert_int_equal(last, FIXTURE_SEGMENT_EVENTS);
}

/* gzip's header has fields that say nothing about the data, and a deflate stream can name the same
 * bytes in two ways. */
static bool is_still_raw(const uint8_t *file, size_t sz)
{
	uint8_t out[sizeof(raw)];
	z_stream z = { .next_in = (Bytef *)file, .avail_in = (uInt)sz,
		       .next_out = out, .avail_out = sizeof(out) };
	bool is_same;

	assert_int_equal(inflateInit2(&z, 31), Z_OK);
	is_same = inflate(&z, Z_FINISH) == Z_STREAM_END && sizeof(out) - z.avail_out == raw_sz &&
		  !memcmp(out, raw, raw_sz);
	inflateEnd(&z);
	return is_same;
}

static void damage_in_compressed_bytes_is_found(void **state)
{
	uint8_t file[sizeof(raw)], bad[sizeof(raw)];
	uint64_t events;
	size_t sz;

	(void)state;
	sz = gzip(raw, raw_sz, file, sizeof(file));
	for (size_t i = 0; i < sz; i++) {
		memcpy(bad, file, sz);
		bad[i] ^= 0x10;
		if (end_of(bad, sz, NULL, &events) == 0)
			assert_true(is_still_raw(bad, sz));
	}
}

static void bombs_are_stopped(void **state)
{
	uint8_t file[sizeof(raw)];
	struct d9_src_opt opt = { .decoded_max = raw_sz };
	size_t sz = zstd(raw, raw_sz, file, sizeof(file));
	uint64_t events;

	(void)state;
	assert_int_equal(end_of(file, sz, &opt, &events), 0);
	opt.decoded_max--;
	assert_int_equal(end_of(file, sz, &opt, &events), -D9_E_BOMB);
	assert_int_equal(events, FIXTURE_SEGMENT_EVENTS - 1);
}

static void large_windows_are_refused(void **state)
{
	/* frame header: no content size, no single segment, window 128 MiB, 8 MiB */
	uint8_t file[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, (27 - 10) << 3, 0x01, 0, 0 };
	uint64_t events;

	(void)state;
	assert_int_equal(end_of(file, sizeof(file), NULL, &events), -D9_E_WINDOW);
	file[5] = (23 - 10) << 3;
	assert_int_equal(end_of(file, sizeof(file), NULL, &events), -D9_E_TRUNCATED);
	file[5] |= 7; /* 15 MiB */
	assert_int_equal(end_of(file, sizeof(file), NULL, &events), -D9_E_TRUNCATED);
}

static void files_and_descriptors(void **state)
{
	char path[] = "/tmp/d9sourceXXXXXX";
	int fd = mkstemp(path), before;
	struct d9_src *src;
	uint64_t events;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, raw, raw_sz), raw_sz);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	before = fd;
	assert_int_equal(d9_src_open_fd(&src, &fd, NULL), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(drain(src, &events), 0);
	assert_int_equal(events, FIXTURE_SEGMENT_EVENTS);
	d9_src_close(src);
	assert_int_equal(close(before), -1);
	assert_int_equal(d9_src_open(&src, path, NULL), 0);
	assert_int_equal(drain(src, &events), 0);
	assert_int_equal(events, FIXTURE_SEGMENT_EVENTS);
	d9_src_close(src);
	unlink(path);
	assert_int_equal(d9_src_open(&src, path, NULL), -2);
	assert_string_equal(d9_strerror(-2), "No such file or directory");
	assert_int_equal(d9_src_open(&src, "/", NULL), 0);
	assert_int_equal(drain(src, &events), -21);
	d9_src_close(src);
	d9_src_close(NULL);
}

static void bytes_can_be_read_instead(void **state)
{
	uint8_t file[sizeof(raw)], back[sizeof(raw)];
	size_t sz = gzip(raw, raw_sz, file, sizeof(file)), got = 0;
	struct d9_src *src;
	ssize_t n;

	(void)state;
	assert_int_equal(d9_src_open_mem(&src, file, sz, NULL), 0);
	while ((n = d9_src_read(src, back + got, 97)) > 0)
		got += (size_t)n;
	assert_int_equal(n, 0);
	assert_int_equal(d9_src_read(src, back, 97), 0);
	assert_int_equal(got, raw_sz);
	assert_memory_equal(back, raw, raw_sz);
	d9_src_close(src);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_told_by_their_bytes),
		cmocka_unit_test(members_in_a_row_are_one_stream),
		cmocka_unit_test(trailer_is_an_error_after_all_events),
		cmocka_unit_test(cut_anywhere_reads_all_that_was_flushed),
		cmocka_unit_test(cut_gzip_reads_what_there_is),
		cmocka_unit_test(damage_in_compressed_bytes_is_found),
		cmocka_unit_test(bombs_are_stopped),
		cmocka_unit_test(large_windows_are_refused),
		cmocka_unit_test(files_and_descriptors),
		cmocka_unit_test(bytes_can_be_read_instead),
	};

	return cmocka_run_group_tests(tests, one_batch, NULL);
}
