// SPDX-License-Identifier: Apache-2.0
#include "scan.h"

#include "elfmaker.h"
#include "image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_SZ (3 * SCAN_WINDOW_SZ + 77)

struct seen {
	const uint8_t *file;
	uint64_t at[4096];
	unsigned shape[4096];
	size_t cnt;
	size_t stop_at;
};

static int take(const struct scan_hit *h, void *ctx)
{
	struct seen *s = ctx;

	assert_true(s->cnt < 4096);
	assert_true(h->before_sz <= h->vaddr);
	assert_true(h->vaddr + h->after_sz <= FILE_SZ);
	/* the margins promised are there, and are the file's bytes */
	assert_true(h->before_sz >= (h->vaddr < SCAN_MARGIN_SZ ? h->vaddr : SCAN_MARGIN_SZ));
	assert_true(h->after_sz >=
		    (FILE_SZ - h->vaddr < SCAN_MARGIN_SZ ? FILE_SZ - h->vaddr : SCAN_MARGIN_SZ));
	assert_memory_equal(h->bytes - h->before_sz, s->file + h->vaddr - h->before_sz,
			    h->before_sz + h->after_sz);
	s->at[s->cnt] = h->vaddr;
	s->shape[s->cnt++] = h->shape;
	return s->cnt == s->stop_at ? 7 : 0;
}

static uint8_t *file;

static void run(unsigned shapes, struct seen *s, int want)
{
	struct image img = { .fd = elfmaker_raw(file, FILE_SZ), .sz = FILE_SZ };
	struct image_segment seg = { .file_sz = FILE_SZ, .is_exec = true };

	s->file = file;
	s->cnt = 0;
	assert_int_equal(scan_segment(&img, &seg, shapes, take, s), want);
	close(img.fd);
}

static const struct {
	unsigned shape;
	const char *bytes;
	size_t sz;
} planted[] = {
	{ SCAN_CALL, "\xff\x10", 2 },
	{ SCAN_CALL, "\xff\x27", 2 },
	{ SCAN_CALL, "\xff\xd0", 2 },
	{ SCAN_CALL, "\xff\x55\x00", 3 },
	{ SCAN_XADD, "\xf0\x48\x0f\xc1", 4 },
	{ SCAN_XADD, "\xf0\x4c\x0f\xc1", 4 },
	{ SCAN_STORE_18, "\x48\x89\x43\x18", 4 },
	{ SCAN_STORE_18, "\x49\x89\x44\x24\x18", 5 },
	{ SCAN_TOKIO, "tokio", 5 },
	{ SCAN_RUSTC, "/rustc/", 7 },
	{ SCAN_DIRECT, "\xe8", 1 },
	{ SCAN_DIRECT, "\xff\x15", 2 },
};
#define PLANTED (sizeof(planted) / sizeof(planted[0]))

/* at every alignment, around every window border, and at both ends of the file */
static void test_planted(void **state)
{
	static struct seen s;

	(void)state;
	for (size_t p = 0; p < PLANTED; p++) {
		size_t n = 0;
		uint64_t want[256];

		memset(file, 0x11, FILE_SZ);
		for (uint64_t w = 0; w <= 3; w++) {
			for (uint64_t i = 0; i < 32; i++) {
				/* 19 apart: each of the 16 alignments, never overlapping */
				uint64_t at = w * SCAN_WINDOW_SZ + i * 19;

				if (w)
					at -= 16 * 19;
				if (at + planted[p].sz > FILE_SZ)
					continue;
				memcpy(file + at, planted[p].bytes, planted[p].sz);
				want[n++] = at;
			}
		}
		memcpy(file + FILE_SZ - planted[p].sz, planted[p].bytes, planted[p].sz);
		if (want[n - 1] < FILE_SZ - 2 * planted[p].sz)
			want[n++] = FILE_SZ - planted[p].sz;
		s.stop_at = 0;
		run(planted[p].shape, &s, 0);
		assert_int_equal(s.cnt, n);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(s.at[i], want[i]);
			assert_int_equal(s.shape[i], planted[p].shape);
		}
	}
}

static void test_not_hits(void **state)
{
	static const char *const near_misses[] = {
		"\xff\x50\x18",	    "\xff\x90\x10\1\1\1",   "\xff\x55\x01",
		"\xf0\x0f\xc1\x07", "\x48\x0f\xc1\x07",	    "\x89\x43\x18\x11",
		"\x48\x89\xc3\x18", "\x48\x89\x44\x24\x10", "tokyo",
		"/rust/",
	};
	static struct seen s;

	(void)state;
	memset(file, 0x11, FILE_SZ);
	for (size_t i = 0; i < sizeof(near_misses) / sizeof(near_misses[0]); i++)
		memcpy(file + 100 + 16 * i, near_misses[i], strlen(near_misses[i]));
	run(SCAN_CODE | SCAN_TEXT, &s, 0);
	assert_int_equal(s.cnt, 0);
}

static void test_stops(void **state)
{
	static struct seen s;

	(void)state;
	memset(file, 0xe8, 1000);
	s.stop_at = 5;
	run(SCAN_DIRECT, &s, 7);
	assert_int_equal(s.cnt, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_not_hits),
		cmocka_unit_test(test_stops),
	};
	int failed;

	file = malloc(FILE_SZ);
	if (!file)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(file);
	return failed;
}
