// SPDX-License-Identifier: Apache-2.0
/* test_control.c - the control socket: asked well, asked badly, not asked at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/control.h"
#include "agent/plan.h"

#define SEC 1000000000ull
#define PID 4242
#define START 77

static char dir[64], path[128];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/test_control.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/%d-%d.sock", dir, PID, START);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

static struct control *listening(void)
{
	struct control *c = NULL;

	assert_int_equal(control_open(dir, PID, START, &c), 0);
	return c;
}

static int connected(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(addr.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

/* What the socket says to `text` when the agent looks at it; "" = it hung up. */
static void said_to(struct control *c, const void *text, size_t len, char answer[256])
{
	struct trigger_options look;
	int fd = connected();
	ssize_t got;

	assert_int_equal(send(fd, text, len, 0), (ssize_t)len);
	assert_false(control_next(c, 0, &look));
	got = recv(fd, answer, 255, MSG_DONTWAIT);
	assert_true(got >= 0);
	answer[got] = '\0';
	close(fd);
}

struct asking {
	const char *look;
	int err;
};

static void *ask(void *arg)
{
	struct asking *a = arg;

	a->err = control_ask(dir, PID, START, a->look);
	return NULL;
}

static void a_look_is_asked_for_and_answered(void **state)
{
	static const char *const problems[] = { NULL, "no such probes" };
	struct control *c = listening();

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct asking a = { "full:10s", 1 };
		struct trigger_options look = { .is_set = false };
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, ask, &a), 0);
		while (!control_next(c, 0, &look))
			usleep(1000);
		assert_int_equal(look.level, PLAN_FULL);
		assert_int_equal(look.time_ns, 10 * SEC);
		control_answer(c, problems[i]);
		pthread_join(thread, NULL);
		assert_int_equal(a.err, problems[i] ? -EINVAL : 0);
	}
	control_answer(c, NULL); /* nobody asked */
	control_close(c);
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = {
		"look", "look ", "look full", "look full:10s,poll>5ms", "look stat:1s", "Look full:10s",
		"full:10s", " look full:10s", "look full:99999h", "\xff\xfe\x80", "look full:10s\n",
	};
	struct control *c = listening();
	char big[4096], answer[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		said_to(c, bad[i], strlen(bad[i]), answer);
		assert_memory_equal(answer, "error: ", 7);
	}
	said_to(c, "look full:10s\0more", 18, answer);
	assert_memory_equal(answer, "error: ", 7);
	memset(big, 'x', sizeof(big));
	memcpy(big, "look full:10s", 13);
	said_to(c, big, sizeof(big), answer);
	assert_memory_equal(answer, "error: ", 7);
	control_close(c);
}

static void silent_clients_are_not_waited_for_for_ever(void **state)
{
	struct control *c = listening();
	struct trigger_options look;
	int silent[CONTROL_CLIENTS_MAX], fd;
	char byte;

	(void)state;
	for (int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		silent[i] = connected();
	assert_false(control_next(c, 0, &look));
	fd = connected();
	assert_int_equal(send(fd, "look wakes:1s", 13, 0), 13);
	assert_false(control_next(c, SEC / 2, &look)); /* all seats are taken */
	assert_false(control_next(c, SEC + 1, &look));
	for (int i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		assert_int_equal(recv(silent[i], &byte, 1, MSG_DONTWAIT), 0);
		close(silent[i]);
	}
	assert_true(control_next(c, SEC + 2, &look));
	assert_int_equal(look.level, PLAN_WAKES);
	close(fd); /* it does not wait for the answer */
	control_answer(c, NULL);
	assert_false(control_next(c, SEC + 3, &look));
	control_close(c);
}

static void one_that_hangs_up_is_forgotten(void **state)
{
	struct control *c = listening();
	struct trigger_options look;

	(void)state;
	for (int i = 0; i < 3 * CONTROL_CLIENTS_MAX; i++) {
		close(connected());
		assert_false(control_next(c, 0, &look));
	}
	control_close(c);
}

static void the_socket_is_ours_alone_and_goes_with_us(void **state)
{
	struct control *c;
	struct stat st;

	(void)state;
	umask(0);
	c = listening();
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	control_close(c);
	assert_int_equal(stat(path, &st), -1);
	/* an agent that was killed has left its own */
	c = listening();
	control_close(c);
	assert_int_equal(mknod(path, S_IFSOCK | 0600, 0), 0);
	c = listening();
	control_close(c);
}

static void nobody_listens(void **state)
{
	struct control *c = NULL;

	(void)state;
	assert_int_equal(control_ask(dir, PID, START, "full:1s"), -ENOENT);
	assert_int_equal(mknod(path, S_IFSOCK | 0600, 0), 0);
	assert_int_equal(control_ask(dir, PID, START, "full:1s"), -ENOENT);
	assert_int_equal(control_open("/tmp/no/such/dir", PID, START, &c), -ENOENT);
	assert_null(c);
	control_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_look_is_asked_for_and_answered, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(nonsense_is_refused, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(silent_clients_are_not_waited_for_for_ever, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(one_that_hangs_up_is_forgotten, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(the_socket_is_ours_alone_and_goes_with_us, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(nobody_listens, make_dir, remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
