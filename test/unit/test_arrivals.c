// SPDX-License-Identifier: Apache-2.0
#include "arrivals.h"

#include "clock.h"
#include "log.h"
#include "target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elfmaker.h"

#define SEC CLOCK_SEC_NS

static struct elfmaker maker;

/* A file that looks like Tokio, or like nothing, mapped executable into this process. */
static void *map_file(bool has_tokio, size_t *ret_sz)
{
	char path[] = "/tmp/dial9-arrivals-XXXXXX";
	uint64_t funcs[7], sz;
	int fd = mkstemp(path), made;
	char buf[4096];
	ssize_t n;
	void *at;

	assert_true(fd >= 0);
	elfmaker_init(&maker, true);
	for (int i = 0; i < 7; i++)
		funcs[i] = elfmaker_code(&maker, "\x55\x48\x89\xe5\x5d\xc3", 6);
	if (has_tokio) {
		elfmaker_word(&maker, 0);
		elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x28, false);
		elfmaker_text(&maker, "/tokio-1.52.3/src/runtime/task/raw.rs");
	}
	made = elfmaker_open(&maker, &sz);
	assert_true(made >= 0);
	for (off_t off = 0; (n = pread(made, buf, sizeof(buf), off)) > 0; off += n)
		assert_int_equal(write(fd, buf, (size_t)n), n);
	close(made);
	*ret_sz = sz;
	at = mmap(NULL, sz, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(at != MAP_FAILED);
	close(fd);
	unlink(path);
	return at;
}

static void test_news_only(void **state)
{
	struct arrivals *a;
	struct target *t;
	size_t sz[3];
	void *old, *plain, *tokio;

	(void)state;
	old = map_file(true, &sz[0]);
	assert_int_equal(target_open(getpid(), &t), 0);
	assert_int_equal(arrivals_open(getpid(), t, &a), 0);
	/* all of it is known, Tokio included */
	for (uint64_t now = 1; now < 5; now++)
		assert_false(arrivals_look(a, now * SEC));
	plain = map_file(false, &sz[1]);
	assert_false(arrivals_look(a, 5 * SEC));
	assert_false(arrivals_look(a, 6 * SEC));
	tokio = map_file(true, &sz[2]);
	assert_false(arrivals_look(a, 6 * SEC + 1)); /* not yet time to look */
	assert_false(arrivals_look(a, 7 * SEC)); /* seen, but more may follow */
	assert_true(arrivals_look(a, 8 * SEC));
	assert_non_null(strstr(arrivals_path(a), "dial9-arrivals-"));
	arrivals_close(a);
	target_close(t);
	munmap(old, sz[0]);
	munmap(plain, sz[1]);
	munmap(tokio, sz[2]);
}

/* Nothing is known: what stands there counts, once it stands still. */
static void test_all_new(void **state)
{
	struct arrivals *a;
	size_t sz;
	void *tokio = map_file(true, &sz);

	(void)state;
	assert_int_equal(arrivals_open(getpid(), NULL, &a), 0);
	assert_false(arrivals_look(a, SEC));
	assert_true(arrivals_look(a, 2 * SEC));
	arrivals_close(a);
	munmap(tokio, sz);
	assert_int_equal(arrivals_open(getpid(), NULL, &a), 0);
	assert_false(arrivals_look(a, SEC));
	assert_false(arrivals_look(a, 2 * SEC));
	arrivals_close(a);
}

static void test_gone(void **state)
{
	struct arrivals *a;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(arrivals_open(pid, NULL, &a), 0);
	assert_false(arrivals_look(a, SEC));
	assert_false(arrivals_look(a, 2 * SEC));
	arrivals_close(a);
	arrivals_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_news_only),
		cmocka_unit_test(test_all_new),
		cmocka_unit_test(test_gone),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
