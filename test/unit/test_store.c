// SPDX-License-Identifier: Apache-2.0
/* test_store.c - the cached index: found again, never trusted, kept small. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "test/unit/scratch.h"
#include "viewer/core/columns.h"
#include "viewer/core/index.h"
#include "viewer/core/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char trace[128], cache[128];
static int built; /* calls of progress: the trace was decoded, not found */

static int make_dir(void **state)
{
	if (scratch_make(state))
		return -1;
	snprintf(trace, sizeof(trace), "%s/trace.bin", scratch);
	snprintf(cache, sizeof(cache), "%s/cache", scratch);
	return 0;
}

static int count_build(void *ctx, size_t file, uint64_t in_sz, uint64_t events)
{
	(void)ctx;
	(void)file;
	(void)in_sz;
	(void)events;
	built++;
	return 0;
}

/* Enough events for progress to be told; mtime an hour ago. */
static void write_trace(uint64_t first)
{
	const struct timespec old[2] = { { time(NULL) - 3600, (long)first },
					 { time(NULL) - 3600, (long)first } };
	struct eventscript *s = eventscript_begin();
	int fd = open(trace, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	for (uint64_t i = 0; i < 10000; i++) {
		SCRIPT_PUT(s, poll_start, first + i * 10, .worker_id = i % 3, .task_id = 1 + i % 7);
		SCRIPT_PUT(s, poll_end, first + i * 10 + 5, .worker_id = i % 3);
		if (s->enc.len > sizeof(s->buf) / 2) {
			assert_int_equal(write(fd, s->enc.buf, s->enc.len), s->enc.len);
			d9_enc_drain(&s->enc);
		}
	}
	assert_int_equal(write(fd, s->enc.buf, s->enc.len), s->enc.len);
	assert_int_equal(futimens(fd, old), 0);
	close(fd);
	d9_pool_free(s->pool);
}

static struct columns *open_cached(uint64_t max_sz)
{
	const struct index_opt opt = { .cache_dir = cache,
				       .cache_max_sz = max_sz,
				       .progress = count_build };
	const struct index_file file = { trace, false };
	struct columns *c = NULL;

	built = 0;
	assert_int_equal(index_open(&c, &file, 1, &opt), 0);
	assert_int_equal(c->polls.cnt, 10000);
	return c;
}

/* The cached files; the last one's path. */
static int cached(char path[256])
{
	DIR *d = opendir(cache);
	struct dirent *e;
	int cnt = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.') {
			snprintf(path, 256, "%s/%.80s", cache, e->d_name);
			cnt++;
		}
	closedir(d);
	return cnt;
}

static void test_found_again(void **state)
{
	struct columns *c;
	char path[256];
	struct stat st;

	(void)state;
	write_trace(1000);
	c = open_cached(0);
	assert_true(built > 0);
	index_close(c);
	assert_int_equal(cached(path), 1);
	assert_int_equal(stat(cache, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	c = open_cached(0);
	assert_int_equal(built, 0);
	assert_int_equal(c->polls.start_ns[0], 1000);
	assert_int_equal(c->tasks.cnt, 7);
	index_close(c);
	write_trace(2000); /* same size, another mtime */
	c = open_cached(0);
	assert_true(built > 0);
	assert_int_equal(c->polls.start_ns[0], 2000);
	index_close(c);
	assert_int_equal(cached(path), 2);
	c = open_cached(1); /* found; nothing is trimmed by reading */
	assert_int_equal(built, 0);
	index_close(c);
	write_trace(3000);
	index_close(open_cached(1)); /* its own file stays, whatever the cap */
	assert_int_equal(cached(path), 1);
}

/* One changed byte anywhere, or a cut, and it is made anew. */
static void test_damage_is_rebuilt(void **state)
{
	struct columns *c;
	char path[256];
	struct stat st;
	uint8_t byte;
	int fd;

	(void)state;
	write_trace(4000);
	index_close(open_cached(1));
	assert_int_equal(cached(path), 1);
	assert_int_equal(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size; at += at < 1200 ? 7 : st.st_size / 50) {
		fd = open(path, O_RDWR);
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x40;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		close(fd);
		c = open_cached(1);
		/* padding between columns says nothing */
		if (built == 0) {
			fd = open(path, O_RDWR);
			byte ^= 0x40;
			assert_int_equal(byte, 0);
			assert_int_equal(pwrite(fd, &byte, 1, at), 1);
			close(fd);
		}
		assert_int_equal(c->polls.start_ns[0], 4000);
		assert_int_equal(c->polls.dur_ns[9999], 5);
		index_close(c);
	}
	assert_int_equal(truncate(path, st.st_size / 2), 0);
	index_close(open_cached(1));
	assert_true(built > 0);
	assert_int_equal(truncate(path, 0), 0);
	index_close(open_cached(1));
	assert_true(built > 0);
}

/* Well hashed, but with a reference to nowhere. */
static void test_hostile_reference(void **state)
{
	struct columns *c, *again = NULL;
	char path[256];
	uint32_t *task;
	int fd;

	(void)state;
	write_trace(5000);
	c = open_cached(0);
	snprintf(path, sizeof(path), "%s/hostile", scratch);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(store_write(c, fd, "id", 2), 0);
	assert_int_equal(store_open(&again, fd, "ie", 2), -EILSEQ);
	assert_int_equal(store_open(&again, fd, "id", 2), 0);
	store_close(again);
	/* the same with one task number beyond the table */
	task = malloc(c->polls.cnt * sizeof(*task));
	assert_non_null(task);
	memcpy(task, c->polls.task, c->polls.cnt * sizeof(*task));
	task[77] = c->tasks.cnt;
	c->polls.task = task;
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(store_write(c, fd, "id", 2), 0);
	assert_int_equal(store_open(&again, fd, "id", 2), -EILSEQ);
	free(task);
	close(fd);
	index_close(c);
}

/* A directory that others may write to is not used; neither is a link in place of a file. */
static void test_foreign_directory(void **state)
{
	char path[256], other[256];

	(void)state;
	write_trace(6000);
	index_close(open_cached(1));
	assert_int_equal(cached(path), 1);
	snprintf(other, sizeof(other), "%s/elsewhere", scratch);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	index_close(open_cached(1));
	assert_true(built > 0);
	assert_int_equal(chmod(cache, 0777), 0);
	index_close(open_cached(1));
	assert_true(built > 0);
	assert_int_equal(chmod(cache, 0700), 0);
}

/* A file changed just now may change again within its mtime: not kept. */
static void test_fresh_is_not_kept(void **state)
{
	char path[256];
	int before;

	(void)state;
	before = cached(path);
	write_trace(7000);
	assert_int_equal(utimensat(AT_FDCWD, trace, NULL, 0), 0);
	index_close(open_cached(0));
	assert_int_equal(cached(path), before);
}

static void test_key(void **state)
{
	const struct index_file files[2] = { { trace, false }, { trace, false } };
	uint64_t key;

	(void)state;
	write_trace(8000);
	key = index_key(files, 1);
	assert_true(key == index_key(files, 1));
	assert_true(key != index_key(files, 2));
	write_trace(8001);
	assert_true(key != index_key(files, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_again),	  cmocka_unit_test(test_damage_is_rebuilt),
		cmocka_unit_test(test_hostile_reference), cmocka_unit_test(test_foreign_directory),
		cmocka_unit_test(test_fresh_is_not_kept), cmocka_unit_test(test_key),
	};

	return cmocka_run_group_tests(tests, make_dir, scratch_remove);
}
