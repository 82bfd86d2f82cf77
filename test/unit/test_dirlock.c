// SPDX-License-Identifier: Apache-2.0
/* test_dirlock.c - one recorder per process; which directories are taken for safe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/dirlock.h"
#include "agent/log.h"
#include "test/unit/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char run_dir[96];

static int in_scratch(void **state)
{
	log_set_level(LOG_ERROR);
	assert_int_equal(scratch_make(state), 0);
	snprintf(run_dir, sizeof(run_dir), "%s/run", scratch);
	return 0;
}

/* What the function logs on standard error while it runs. */
static const char *logged(int (*what)(void), int *ret)
{
	static char text[1024];
	int pipes[2], saved = dup(STDERR_FILENO);
	ssize_t len;

	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[1], STDERR_FILENO);
	*ret = what();
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(pipes[1]);
	len = read(pipes[0], text, sizeof(text) - 1);
	text[len < 0 ? 0 : len] = '\0';
	close(pipes[0]);
	return text;
}

static int take_again(void)
{
	struct dirlock *l = NULL;
	int err = dirlock_take(run_dir, 4242, 99, &l);

	dirlock_release(l);
	return err;
}

static void test_second_is_refused_by_name(void **state)
{
	struct dirlock *l = NULL;
	struct stat st;
	char path[128], pid[32];
	int err;

	(void)state;
	assert_int_equal(dirlock_take(run_dir, 4242, 99, &l), 0);
	snprintf(path, sizeof(path), "%s/4242-99.lock", run_dir);
	assert_int_equal(stat(path, &st), 0);
	snprintf(pid, sizeof(pid), "pid %d", (int)getpid());
	assert_non_null(strstr(logged(take_again, &err), pid));
	assert_int_equal(err, -EBUSY);
	dirlock_release(l);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(take_again(), 0);
}

static void test_other_start_time_is_another_process(void **state)
{
	struct dirlock *a = NULL, *b = NULL;

	(void)state;
	assert_int_equal(dirlock_take(run_dir, 4242, 1, &a), 0);
	assert_int_equal(dirlock_take(run_dir, 4242, 2, &b), 0);
	dirlock_release(a);
	dirlock_release(b);
}

static void test_kill_releases(void **state)
{
	int pipes[2];
	char c;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		struct dirlock *l = NULL;

		if (dirlock_take(run_dir, 4242, 99, &l) || write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(pipes[0], &c, 1), 1);
	assert_int_equal(take_again(), -EBUSY);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(take_again(), 0);
	close(pipes[0]);
	close(pipes[1]);
}

static void test_boot_id(void **state)
{
	char a[DIRLOCK_BOOT_ID_SZ], b[DIRLOCK_BOOT_ID_SZ];

	(void)state;
	assert_int_equal(dirlock_boot_id(4242, 99, a), 0);
	assert_int_equal(dirlock_boot_id(4242, 99, b), 0);
	assert_string_equal(a, b);
	assert_true(dirlock_is_boot_id(a));
	assert_string_equal(a + 4, "-4242");
	assert_int_equal(dirlock_boot_id(4242, 100, b), 0);
	assert_string_not_equal(a, b);
	assert_false(dirlock_is_boot_id("abc-1"));
	assert_false(dirlock_is_boot_id("abcd-"));
	assert_false(dirlock_is_boot_id("abcd-1/"));
	assert_false(dirlock_is_boot_id("Abcd-1"));
	assert_false(dirlock_is_boot_id("abcd-12345678901"));
	assert_false(dirlock_is_boot_id(""));
}

static void test_directories(void **state)
{
	char path[128];
	struct stat st;
	bool made;
	/* root opens a directory of mode 0 all the same */
	mode_t saved = umask(geteuid() ? 0077 : 0777);
	int fd, parent = open(scratch, O_RDONLY | O_DIRECTORY);

	(void)state;
	fd = dirlock_open_dir(parent, "new", true, &made);
	umask(saved);
	assert_true(fd >= 0 && made);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	close(fd);
	fd = dirlock_open_dir(parent, "new", true, &made);
	assert_true(fd >= 0 && !made);
	close(fd);

	assert_int_equal(symlinkat("new", parent, "link"), 0);
	assert_true(dirlock_open_dir(parent, "link", true, NULL) < 0);
	assert_int_equal(mkdirat(parent, "open", 0700), 0);
	snprintf(path, sizeof(path), "%s/open", scratch);
	assert_int_equal(chmod(path, 0720), 0);
	assert_int_equal(dirlock_open_dir(parent, "open", false, NULL), -EPERM);
	assert_int_equal(chmod(path, 01777), 0);
	assert_int_equal(dirlock_open_dir(parent, "open", false, NULL), -EPERM);
	assert_int_equal(dirlock_open_dir(parent, "gone", false, NULL), -ENOENT);
	assert_int_equal(dirlock_open_dir(parent, "a/b", true, NULL), -ENOENT);
	if (geteuid() == 0) {
		assert_int_equal(chmod(path, 0700), 0);
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(dirlock_open_dir(parent, "open", false, NULL), -EPERM);
	}
	close(parent);
}

static void test_directory_owner(void **state)
{
	int a = open(scratch, O_RDONLY | O_DIRECTORY), b = open(scratch, O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_int_equal(dirlock_own_dir(a), 0);
	assert_int_equal(dirlock_own_dir(b), -EBUSY);
	close(a);
	assert_int_equal(dirlock_own_dir(b), 0);
	close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_second_is_refused_by_name, in_scratch,
						scratch_remove),
		cmocka_unit_test_setup_teardown(test_other_start_time_is_another_process,
						in_scratch, scratch_remove),
		cmocka_unit_test_setup_teardown(test_kill_releases, in_scratch, scratch_remove),
		cmocka_unit_test(test_boot_id),
		cmocka_unit_test_setup_teardown(test_directories, in_scratch, scratch_remove),
		cmocka_unit_test_setup_teardown(test_directory_owner, in_scratch, scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
