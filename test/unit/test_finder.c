// SPDX-License-Identifier: Apache-2.0
/* test_finder.c - a child's answer kept, its time limited, its failure told. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/finder.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sem_t told;
static char dir[] = "/tmp/finder.XXXXXX", program[64], count[64];

static void on_done(void *ctx)
{
	(void)ctx;
	sem_post(&told);
}

/* A program in place of the viewer; it counts its runs. */
static void write_program(const char *body)
{
	FILE *f = fopen(program, "w");

	assert_non_null(f);
	fprintf(f, "#!/bin/sh\necho run >>%s\n%s\n", count, body);
	fclose(f);
	assert_int_equal(chmod(program, 0700), 0);
	unlink(count);
}

static unsigned int runs(void)
{
	FILE *f = fopen(count, "r");
	unsigned int cnt = 0;
	int c;

	while (f && (c = fgetc(f)) != EOF)
		cnt += c == '\n';
	if (f)
		fclose(f);
	return cnt;
}

static int setup(void **state)
{
	(void)state;
	sem_init(&told, 0, 0);
	strcpy(dir, "/tmp/finder.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(count, sizeof(count), "%s/count", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(program);
	unlink(count);
	rmdir(dir);
	sem_destroy(&told);
	return 0;
}

static void test_an_answer_is_made_once(void **state)
{
	struct finder *f;
	char *text = NULL;
	size_t sz = 0;

	(void)state;
	write_program("echo \"$1 $2 $4\"");
	f = finder_new("/a b", program, 0, on_done, NULL);
	assert_non_null(f);
	assert_int_equal(finder_get(f, 3, &text, &sz), FINDER_WORKING);
	sem_wait(&told);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(finder_get(f, i == 2 ? FINDER_NEWEST : 3, &text, &sz),
				 FINDER_READY);
		assert_int_equal(sz, strlen("issues --json /a b\n"));
		assert_memory_equal(text, "issues --json /a b\n", sz);
		free(text);
	}
	assert_int_equal(runs(), 1);
	/* the recordings have changed */
	assert_int_equal(finder_get(f, 4, &text, &sz), FINDER_WORKING);
	sem_wait(&told);
	assert_int_equal(finder_get(f, 4, &text, &sz), FINDER_READY);
	free(text);
	assert_int_equal(runs(), 2);
	finder_free(f);
}

static void test_failure_is_told(void **state)
{
	static const char *const bodies[] = { "exit 3", "kill -KILL $$", "exec sleep 600",
					      "exec cat /dev/zero" };
	char *text = NULL;
	size_t sz;

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct finder *f;

		write_program(bodies[i]);
		/* what never ends is ended */
		f = finder_new("x", program, i == 2 ? 300 : 0, on_done, NULL);
		assert_non_null(f);
		assert_int_equal(finder_get(f, 1, &text, &sz), FINDER_WORKING);
		sem_wait(&told);
		assert_int_equal(finder_get(f, FINDER_NEWEST, &text, &sz), FINDER_FAILED);
		assert_null(text);
		finder_free(f);
		sem_wait(&told); /* of finder_stop */
	}
}

static void test_stopping_ends_what_runs(void **state)
{
	struct finder *f;
	char *text = NULL;
	size_t sz;

	(void)state;
	write_program("exec sleep 600");
	f = finder_new("x", program, 0, on_done, NULL);
	assert_non_null(f);
	assert_int_equal(finder_get(f, 1, &text, &sz), FINDER_WORKING);
	finder_stop(f);
	assert_int_equal(finder_get(f, 1, &text, &sz), FINDER_FAILED);
	finder_free(f); /* returns */
	finder_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_answer_is_made_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failure_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stopping_ends_what_runs, setup, teardown),
	};

	return cmocka_run_group_tests_name("finder", tests, NULL, NULL);
}
