// SPDX-License-Identifier: Apache-2.0
/*
 * Golden files: test/golden (good) and test/golden_bad (damaged) each hold traces NAME.bin* with
 * what a reader must give, NAME.bin*.txt. D9_GOLDEN_UPDATE=1 makes the files of our own again
 * (foreign_* are another writer's and stay) and rewrites the texts: read the diff before committing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_fixture.h"

#define GOOD "test/golden"
#define BAD "test/golden_bad"

static bool use_update;

static char *file_read(const char *path, size_t *ret_sz)
{
	FILE *f = fopen(path, "rb");
	char *p = malloc(1 << 20);

	if (!f)
		fail_msg("cannot open %s; run from the top of the tree", path);
	*ret_sz = fread(p, 1, (1 << 20) - 1, f);
	p[*ret_sz] = '\0';
	fclose(f);
	return p;
}

static void file_write(const char *dir, const char *name, const void *p, size_t sz)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, sz, f), sz);
	assert_int_equal(fclose(f), 0);
}

/* What a reader gives for a file; *ret_rc its end code. */
static char *file_text(const char *path, int *ret_rc)
{
	char *text = NULL;
	size_t text_sz;
	FILE *to = open_memstream(&text, &text_sz);
	struct d9_src *src;
	struct d9_ev ev;
	int rc;

	assert_int_equal(d9_src_open(&src, path, NULL), 0);
	while ((rc = d9_src_next(src, &ev)) == 1)
		fixture_print(to, &ev);
	fprintf(to, "end %d: %s at %llu\n", rc, d9_strerror(rc),
		(unsigned long long)d9_src_off(src));
	d9_src_close(src);
	fclose(to);
	*ret_rc = rc;
	return text;
}

static void sink_to(const char *dir, const char *name, enum d9_compression kind,
		    const char *trailer, const void *p, size_t sz)
{
	struct d9_sink_opt opt = { .compression = kind };
	struct d9_sink *sink;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(d9_sink_new(&sink, &opt), 0);
	assert_int_equal(d9_sink_start(sink, fileno(f)), 0);
	assert_int_equal(d9_sink_write(sink, p, sz / 2, NULL), 0);
	assert_int_equal(d9_sink_flush(sink), 0);
	assert_int_equal(d9_sink_write(sink, (const char *)p + sz / 2, sz - sz / 2, NULL), 0);
	assert_int_equal(d9_sink_finish(sink), 0);
	d9_sink_free(sink);
	fputs(trailer, f);
	fclose(f);
}

static uint8_t buf[64 << 10];

static size_t every_event(void)
{
	struct d9_pool *pool = d9_pool_new(0, 0, 0);
	struct d9_enc enc;

	d9_enc_init(&enc, buf, sizeof(buf), pool);
	assert_int_equal(fixture_batch(&enc, 1), 0);
	assert_int_equal(fixture_batch(&enc, 2), 0);
	d9_pool_free(pool);
	return enc.len;
}

/* One sound event after another, then bytes that end it. */
static size_t ended_by(const void *bytes, size_t sz)
{
	struct d9_enc enc;

	d9_enc_init(&enc, buf, sizeof(buf), NULL);
	assert_int_equal(d9_enc_begin(&enc), 0);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(d9_put_poll_end(&enc, i, &(struct d9_poll_end){ i }), 0);
	memcpy(buf + enc.len, bytes, sz);
	return enc.len + sz;
}

#define BAD_TAIL(name, bytes) file_write(BAD, name, buf, ended_by(bytes, sizeof(bytes) - 1))

static void update(void)
{
	static const struct d9_annotation note = { 0, { "unit", 4 }, { "ns", 2 } };
	struct d9_enc enc;
	size_t sz = every_event();

	file_write(GOOD, "every_event.bin", buf, sz);
	sink_to(GOOD, "every_event.bin.gz", D9_GZIP, "", buf, sz);
	sink_to(GOOD, "every_event.bin.zst", D9_ZSTD, "", buf, sz);
	d9_enc_init(&enc, buf, sizeof(buf), NULL);
	assert_int_equal(d9_enc_begin(&enc), 0);
	file_write(GOOD, "header_only.bin", buf, enc.len);
	assert_int_equal(d9_put_clock_sync(&enc, 5, &(struct d9_clock_sync){ 7 }), 0);
	assert_int_equal(d9_put_annotations(&enc, D9_EV_CLOCK_SYNC, &note, 1), 0);
	assert_int_equal(d9_put_clock_sync(&enc, 6, &(struct d9_clock_sync){ 8 }), 0);
	file_write(GOOD, "annotated.bin", buf, enc.len);

	sz = every_event();
	file_write(BAD, "empty.bin", buf, 0);
	file_write(BAD, "cut_header.bin", buf, 4);
	file_write(BAD, "cut_schema.bin", buf, 20);
	file_write(BAD, "cut_event.bin", buf, sz - 2);
	file_write(BAD, "other_file.bin",
		   "\x7f"
		   "ELF\x02\x01\x01\0",
		   8);
	file_write(BAD, "version.bin", "TRC\0\x02", 5);
	BAD_TAIL("zero_padding.bin", "\0\0\0\0");
	BAD_TAIL("unknown_tag.bin", "\x07");
	BAD_TAIL("no_schema.bin", "\x02\x63\0\0\0\0\0");
	BAD_TAIL("redefined.bin", "\x01\x01\0\0\0\x01\0\0");
	BAD_TAIL("unknown_type.bin", "\x01\x63\0\x01\0x\x01\x01\0\x01\0f\x10");
	BAD_TAIL("long_varint.bin", "\x02\x01\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	BAD_TAIL("time_overflow.bin", "\x05\xff\xff\xff\xff\xff\xff\xff\xff\x02\x01\0\x01\0\0\x01");
	BAD_TAIL("huge_string.bin", "\x03\x01\0\0\0\0\0\0\0\xff\xff\xff\x7f");
	BAD_TAIL("huge_stack.bin", "\x04\x01\0\0\0\0\0\0\0\xff\xff\xff\xff");
	sink_to(BAD, "trailer.bin.zst", D9_ZSTD, "garbage", buf, ended_by("", 0));
	file_write(BAD, "window.bin.zst", "\x28\xb5\x2f\xfd\0\x88\x01\0", 8);
	file_write(BAD, "damaged.bin.gz", "\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff", 12);
}

static int trace_filter(const struct dirent *d)
{
	return strstr(d->d_name, ".bin") && !strstr(d->d_name, ".txt");
}

static int check_dir(const char *dir, bool is_good)
{
	struct dirent **names;
	int cnt = scandir(dir, &names, trace_filter, alphasort);

	if (cnt < 0)
		fail_msg("cannot read %s; run from the top of the tree", dir);
	for (int i = 0; i < cnt; i++) {
		char path[512], name[300];
		char *got, *want;
		size_t want_sz;
		int rc;

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		got = file_text(path, &rc);
		if (is_good != (rc == 0))
			fail_msg("%s: ended with %d", path, rc);
		snprintf(name, sizeof(name), "%s.txt", names[i]->d_name);
		if (use_update)
			file_write(dir, name, got, strlen(got));
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		want = file_read(path, &want_sz);
		assert_string_equal(got, want);
		free(got);
		free(want);
		free(names[i]);
	}
	free(names);
	return cnt;
}

static void good_files_read_as_noted(void **state)
{
	(void)state;
	assert_true(check_dir(GOOD, true) >= 6);
}

static void bad_files_end_as_noted(void **state)
{
	(void)state;
	assert_true(check_dir(BAD, false) >= 18);
}

/* The bytes we write are pinned: a change of the encoder shows here first. */
static void encoder_still_writes_the_golden_bytes(void **state)
{
	size_t sz = every_event(), want_sz;
	char *want = file_read(GOOD "/every_event.bin", &want_sz);

	(void)state;
	assert_int_equal(sz, want_sz);
	assert_memory_equal(buf, want, sz);
	free(want);
}

/* The three compressions of one trace read alike. */
static void compression_does_not_show(void **state)
{
	int rc;
	char *raw = file_text(GOOD "/every_event.bin", &rc);
	char *gz = file_text(GOOD "/every_event.bin.gz", &rc);
	char *zst = file_text(GOOD "/every_event.bin.zst", &rc);

	(void)state;
	assert_string_equal(raw, gz);
	assert_string_equal(raw, zst);
	free(raw);
	free(gz);
	free(zst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_files_read_as_noted),
		cmocka_unit_test(bad_files_end_as_noted),
		cmocka_unit_test(encoder_still_writes_the_golden_bytes),
		cmocka_unit_test(compression_does_not_show),
	};

	use_update = getenv("D9_GOLDEN_UPDATE") != NULL;
	if (use_update)
		update();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
