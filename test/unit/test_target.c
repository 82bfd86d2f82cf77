// SPDX-License-Identifier: Apache-2.0
#include "target.h"

#include "log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_self(void **state)
{
	uint64_t secret = 0x1122334455667788ull, got = 0;
	const struct target_file *exe = NULL;
	struct target *t = NULL;
	char comm[16] = { 0 };

	(void)state;
	assert_int_equal(target_open(getpid(), &t), 0);
	assert_int_equal(prctl(PR_GET_NAME, comm), 0);
	assert_string_equal(t->comm, comm);
	assert_true(t->start_ticks > 0);
	assert_true(target_is_alive(t));
	for (size_t i = 0; i < t->files_cnt; i++) {
		unsigned char magic[4];

		assert_int_equal(pread(t->files[i].fd, magic, 4, 0), 4);
		assert_memory_equal(magic, "\177ELF", 4);
		assert_true(t->files[i].map_end > t->files[i].map_start);
		if (t->files[i].is_main)
			exe = &t->files[i];
		for (size_t k = 0; k < i; k++)
			assert_false(t->files[i].ino == t->files[k].ino &&
				     t->files[i].dev == t->files[k].dev);
	}
	assert_non_null(exe);
	assert_true((uint64_t)(uintptr_t)test_self >= exe->map_start);
	assert_true((uint64_t)(uintptr_t)test_self < exe->map_end);
	assert_int_equal(target_read(t, (uint64_t)(uintptr_t)&secret, &got, sizeof(got)), 0);
	assert_int_equal(got, secret);
	assert_int_equal(target_read(t, 16, &got, sizeof(got)), -EFAULT);
	target_close(t);
	target_close(NULL);
}

static pid_t spawn(void (*body)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		body();
		_exit(0);
	}
	return pid;
}

static void body_exit(void)
{
}

static void body_wait(void)
{
	prctl(PR_SET_NAME, "a) Z (b\n");
	pause();
}

static void test_dead_and_zombie(void **state)
{
	struct target *t = NULL;
	pid_t pid = spawn(body_exit);
	siginfo_t info;

	(void)state;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(target_open(pid, &t), -ESRCH);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(target_open(pid, &t), -ESRCH);
	assert_int_equal(target_open(0, &t), -ESRCH);
	assert_int_equal(target_open(-1, &t), -ESRCH);
	assert_null(t);
}

static void test_hostile_name_and_death(void **state)
{
	struct target *t = NULL;
	pid_t pid = spawn(body_wait);
	uint64_t word;

	(void)state;
	usleep(50000);
	assert_int_equal(target_open(pid, &t), 0);
	assert_string_equal(t->comm, "a) Z (b\n");
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(target_is_alive(t));
	assert_int_equal(target_read(t, (uint64_t)(uintptr_t)&t, &word, sizeof(word)), -ESRCH);
	target_close(t);
}

static pid_t thread_tid;
static pthread_barrier_t thread_barrier;

static void *thread_body(void *arg)
{
	thread_tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&thread_barrier);
	pthread_barrier_wait(&thread_barrier);
	return arg;
}

static void test_thread_is_no_process(void **state)
{
	struct target *t = NULL;
	pthread_t thread;

	(void)state;
	pthread_barrier_init(&thread_barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, thread_body, NULL), 0);
	pthread_barrier_wait(&thread_barrier);
	assert_int_equal(target_open(thread_tid, &t), -ESRCH);
	pthread_barrier_wait(&thread_barrier);
	pthread_join(thread, NULL);
}

/* The program on disk is gone and another has taken its name: the running one is opened. */
static void test_deleted_program(void **state)
{
	char path[] = "/tmp/dial9 test XXXXXX", cmd[128];
	struct target *t = NULL;
	int fd = mkstemp(path);
	bool has_main = false;
	pid_t pid;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(cmd, sizeof(cmd), "cp /bin/sleep '%s' && chmod 755 '%s'", path, path);
	assert_int_equal(system(cmd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		execl(path, "sleep", "30", NULL);
		_exit(1);
	}
	usleep(100000);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(target_open(pid, &t), 0);
	for (size_t i = 0; i < t->files_cnt; i++) {
		if (!t->files[i].is_main)
			continue;
		has_main = true;
		assert_true(t->files[i].is_deleted);
		assert_string_equal(t->files[i].path, path);
		assert_true(t->files[i].sz > 0);
	}
	assert_true(has_main);
	target_close(t);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_kernel_thread(void **state)
{
	struct target *t = NULL;
	FILE *in = fopen("/proc/2/comm", "r");
	char comm[32] = { 0 };
	int err;

	(void)state;
	if (in) {
		assert_non_null(fgets(comm, sizeof(comm), in));
		fclose(in);
	}
	if (strcmp(comm, "kthreadd\n"))
		return; /* in a pid namespace there is none */
	err = target_open(2, &t);
	assert_true(err == -ENOEXEC || err == -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_dead_and_zombie),
		cmocka_unit_test(test_hostile_name_and_death),
		cmocka_unit_test(test_thread_is_no_process),
		cmocka_unit_test(test_deleted_program),
		cmocka_unit_test(test_kernel_thread),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
