// SPDX-License-Identifier: Apache-2.0
/* test_spawnplace.c - which source files are the runtime's own, and which a user's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/spawnplace.h"

static void test_whose_source(void **state)
{
	static const char *const runtime[] = {
		"/home/u/.cargo/registry/src/index/tokio-1.47.1/src/task/spawn.rs",
		"/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/ops/function.rs",
		"/home/u/.cargo/git/checkouts/tokio-e76ac3f6/4c3/tokio/src/runtime/handle.rs",
		"vendor/tokio/src/lib.rs",
		"tokio/src/lib.rs",
	};
	static const char *const user[] = {
		"src/main.rs",
		"/home/u/tokio-app/src/main.rs",
		"/r/tokio-util-0.7.20/src/task/mod.rs",
		"/home/tokio/examples/chat.rs",
		"/home/me/mytokio/src/main.rs",
		"",
		"tokio",
		"/r/hyper-util-0.1.9/src/rt/tokio.rs",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++)
		assert_true(spawnplace_is_runtime(runtime[i]));
	for (size_t i = 0; i < sizeof(user) / sizeof(user[0]); i++)
		assert_false(spawnplace_is_runtime(user[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_whose_source) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
