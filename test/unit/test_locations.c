// SPDX-License-Identifier: Apache-2.0
/* test_locations.c - Location constants in this very program's data, and shapes that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/image.h"
#include "agent/locations.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct location { /* as rustc lays it out */
	const char *file;
	uint64_t file_len;
	uint32_t line, column;
};

/* read at run time, so that the compiler keeps it */
extern const struct location constants[];
const struct location constants[] = {
	{ "src/main.rsrest of another string", 11, 41, 9 },
	{ "/r/tokio-1.47.1/src/task/spawn.rs", 33, 7, 1 },
	{ "src/main.c", 10, 42, 9 }, /* not Rust */
	{ "src/zero.rs", 11, 0, 9 },
	{ "src/long.rs", 1ull << 40, 43, 9 },
	{ "src/short.rs", 3, 44, 9 },
	{ "src/wide.rs", 11, 45, 1u << 31 },
	{ (const char *)0x1234567890, 11, 46, 9 },
};

static void test_own_locations(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	struct image *img;
	struct locations *l;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(image_open(fd, (uint64_t)st.st_size, &img), 0);
	assert_int_equal(locations_open(img, &l), 0);
	assert_true(locations_has(l, "src/main.rs", 41, 9));
	assert_true(locations_has(l, "/r/tokio-1.47.1/src/task/spawn.rs", 7, 1));
	assert_false(locations_has(l, "src/main.rs", 41, 8));
	assert_false(locations_has(l, "src/main.rs", 40, 9));
	assert_false(locations_has(l, "main.rs", 41, 9));
	assert_false(locations_has(l, "", 0, 0));
	for (size_t i = 2; i < sizeof(constants) / sizeof(constants[0]) - 1; i++)
		assert_false(locations_has(l, constants[i].file, constants[i].line,
					   constants[i].column));
	locations_close(l);
	locations_close(NULL);
	image_close(img);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_own_locations) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
