// SPDX-License-Identifier: Apache-2.0
/* test_callers.c - direct calls in this very program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/callers.h"
#include "agent/image.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#define APART __attribute__((noinline, used, aligned(16)))

static volatile int sink;

APART int called_twice(void);
APART int called_never(void);
APART int caller_one(void);
APART int caller_two(void);

APART int called_twice(void)
{
	return sink += 1;
}
APART int called_never(void)
{
	return sink += 2;
}
APART int caller_one(void)
{
	return called_twice() + sink++;
}
APART int caller_two(void)
{
	return called_twice() - sink++;
}

static int first_base(struct dl_phdr_info *info, size_t sz, void *ctx)
{
	(void)sz;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

static void test_own_calls(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	struct image *img;
	struct callers *c;
	uint64_t base = 0, one, two, site;
	uint64_t twice, never, caller;

	(void)state;
	dl_iterate_phdr(first_base, &base);
	twice = (uint64_t)(uintptr_t)called_twice - base;
	never = (uint64_t)(uintptr_t)called_never - base;
	caller = (uint64_t)(uintptr_t)caller_one - base;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(image_open(fd, (uint64_t)st.st_size, &img), 0);
	assert_int_equal(callers_open(img, &c), 0);
	assert_int_equal(callers_nth(c, twice, 0, &one), 0);
	assert_int_equal(callers_nth(c, twice, 1, &two), 0);
	assert_true(one < two);
	/* compilers may change the order of functions */
	assert_true((one >= caller && one < caller + 64) || (two >= caller && two < caller + 64));
	assert_int_equal(callers_nth(c, twice, 2, &site), -ENOENT);
	assert_int_equal(callers_nth(c, never, 0, &site), -ENOENT);
	assert_int_equal(callers_nth(c, twice + 1, 0, &site), -ENOENT);
	assert_int_equal(callers_nth(c, 0, 0, &site), -ENOENT);
	assert_int_equal(callers_nth(c, UINT64_MAX, 0, &site), -ENOENT);
	callers_close(c);
	callers_close(NULL);
	image_close(img);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_own_calls) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
