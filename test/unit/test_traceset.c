// SPDX-License-Identifier: Apache-2.0
/* test_traceset.c - names, order, doubles, holes. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "test/unit/scratch.h"
#include "viewer/traceset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void touch(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	if (strchr(name, '/')) {
		*strrchr(path, '/') = '\0';
		mkdir(path, 0777);
		path[strlen(path)] = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "12345", 5), 5);
	close(fd);
}

static void test_order(void **state)
{
	struct traceset set;
	uint64_t missing = 0;

	(void)state;
	touch("b-2/trace.10.bin.zst");
	touch("b-2/trace.9.bin");
	touch("b-2/trace.11.bin.gz.active");
	touch("b-2/trace.7.bin");
	touch("b-2/notes.txt");
	touch("b-2/.hidden.1.bin");
	touch("a-1/demo.bin");
	touch("c-3/other.txt");
	assert_int_equal(traceset_open(scratch, &set), 0);
	assert_int_equal(set.recordings_cnt, 2);
	assert_string_equal(set.recordings[0].name, "a-1");
	assert_true(set.recordings[0].files[0].number == TRACESET_NO_NUMBER);
	assert_string_equal(set.recordings[1].name, "b-2");
	assert_int_equal(set.recordings[1].files_cnt, 4);
	assert_string_equal(set.recordings[1].files[0].name, "trace.7.bin");
	assert_string_equal(set.recordings[1].files[1].name, "trace.9.bin");
	assert_string_equal(set.recordings[1].files[2].name, "trace.10.bin.zst");
	assert_string_equal(set.recordings[1].files[3].name, "trace.11.bin.gz.active");
	assert_true(set.recordings[1].files[3].is_active);
	assert_int_equal(set.sz, 25);
	assert_false(traceset_is_hole(&set.recordings[1], 0, &missing));
	assert_true(traceset_is_hole(&set.recordings[1], 1, &missing));
	assert_int_equal(missing, 8);
	assert_false(traceset_is_hole(&set.recordings[1], 2, &missing));
	traceset_close(&set);
}

static void test_same_segment_twice(void **state)
{
	struct traceset set;

	(void)state;
	touch("trace.0.bin");
	touch("trace.0.bin.gz");
	touch("trace.1.bin.active");
	assert_int_equal(traceset_open(scratch, &set), 0);
	assert_int_equal(set.recordings_cnt, 1);
	assert_int_equal(set.recordings[0].files_cnt, 2);
	assert_string_equal(set.recordings[0].files[0].name, "trace.0.bin");
	assert_int_equal(set.sz, 10);
	traceset_close(&set);
}

static void test_links_inside_are_not_followed(void **state)
{
	struct traceset set;
	char path[128];

	(void)state;
	touch("x-1/trace.0.bin");
	snprintf(path, sizeof(path), "%s/x-1/trace.1.bin", scratch);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	snprintf(path, sizeof(path), "%s/y-2", scratch);
	assert_int_equal(symlink("x-1", path), 0);
	assert_int_equal(traceset_open(scratch, &set), 0);
	assert_int_equal(set.recordings_cnt, 1);
	assert_int_equal(set.recordings[0].files_cnt, 1);
	traceset_close(&set);
}

static void test_failures(void **state)
{
	struct traceset set;

	(void)state;
	assert_int_equal(traceset_open(scratch, &set), -ENODATA);
	traceset_close(&set);
	assert_int_equal(traceset_open("/nonexistent", &set), -ENOENT);
	traceset_close(&set);
}

static void test_any_file_name(void **state)
{
	struct traceset set;
	char path[128];

	(void)state;
	touch("whatever");
	snprintf(path, sizeof(path), "%s/whatever", scratch);
	assert_int_equal(traceset_open(path, &set), 0);
	assert_string_equal(set.recordings[0].name, "whatever");
	assert_true(set.recordings[0].files[0].number == TRACESET_NO_NUMBER);
	traceset_close(&set);
}


int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_order),	      SCRATCH_TEST(test_same_segment_twice),
		SCRATCH_TEST(test_failures),      SCRATCH_TEST(test_links_inside_are_not_followed),
		SCRATCH_TEST(test_any_file_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
