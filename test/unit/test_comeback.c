// SPDX-License-Identifier: Apache-2.0
#include "comeback.h"

#include "log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;
static int pidfd;

static int setup(void **state)
{
	(void)state;
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	return pidfd < 0;
}

static void end_child(void)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static int teardown(void **state)
{
	(void)state;
	return close(pidfd);
}

static void test_after_dlopen(void **state)
{
	struct comeback *c;

	(void)state;
	assert_int_equal(comeback_open(child, pidfd, COMEBACK_AFTER_DLOPEN, 1000, &c), 0);
	assert_int_equal(comeback_look(c, 1000), COMEBACK_NOW);
	end_child();
	assert_int_equal(comeback_look(c, 1000), COMEBACK_NEVER);
	comeback_close(c);
}

/* This program carries no Tokio: waited for, then given up. */
static void test_after_exec(void **state)
{
	struct comeback *c;

	(void)state;
	assert_int_equal(comeback_open(child, pidfd, COMEBACK_AFTER_EXEC, 1000, &c), 0);
	assert_int_equal(comeback_look(c, 1000), COMEBACK_NOT_YET);
	assert_int_equal(comeback_look(c, 999 + COMEBACK_WAIT_NS), COMEBACK_NOT_YET);
	assert_int_equal(comeback_look(c, 1000 + COMEBACK_WAIT_NS), COMEBACK_NEVER);
	comeback_close(c);
	end_child();
}

static void test_no_pidfd(void **state)
{
	struct comeback *c = NULL;

	(void)state;
	assert_int_equal(comeback_open(child, 9999, COMEBACK_AFTER_EXEC, 0, &c), -EBADF);
	assert_null(c);
	comeback_close(NULL);
	end_child();
	assert_int_equal(comeback_open(child, -1, COMEBACK_FIRST, 0, &c), -ESRCH);
	assert_null(c);
}

/* Waited for as long as it lives. */
static void test_wait(void **state)
{
	struct comeback *c;

	(void)state;
	assert_int_equal(comeback_open(child, -1, COMEBACK_FIRST, 1000, &c), 0);
	assert_int_equal(comeback_look(c, 1000), COMEBACK_NOT_YET);
	assert_int_equal(comeback_look(c, 1ull << 60), COMEBACK_NOT_YET);
	end_child();
	assert_int_equal(comeback_look(c, 1ull << 61), COMEBACK_NEVER);
	comeback_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_after_dlopen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_after_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_pidfd, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wait, setup, teardown),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
