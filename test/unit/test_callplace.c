// SPDX-License-Identifier: Apache-2.0
/* test_callplace.c - the function that led to a system call. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "studyscript.h"
#include "viewer/callplace.h"
#include "viewer/moment.h"
#include "viewer/stacktable.h"

static const struct request no_filter;
static struct study *s;

static int setup(void **state)
{
	(void)state;
	s = studyscript_begin(&no_filter, 1, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	studyscript_end(s);
	return 0;
}

static void take(void *ctx, const struct d9_ev *ev)
{
	(void)ctx;
	stacktable_name(s->report->stacks, ev, s->report->labels);
}

/* Names for the addresses 1, 2, ...; a stack of all of them, 1 the leaf. Its number. */
static uint32_t stack(const char *const *names, uint32_t cnt)
{
	struct eventscript *script = eventscript_begin();
	uint64_t frames[8];
	const struct d9_value v = { .type = D9_T_STACK, .cnt = cnt, .frames = frames };

	for (uint32_t i = 0; i < cnt; i++) {
		frames[i] = i + 1;
		if (names[i])
			SCRIPT_PUT(script, symbol, 0, .addr = i + 1,
				   .symbol_name = eventscript_str(script, names[i]),
				   .source_file = eventscript_str(script, ""));
	}
	eventscript_each(script, take, NULL);
	return stacktable_put(s->report->stacks, &v);
}

static void assert_place(uint32_t label, uint32_t number, const char *want)
{
	char text[384];

	callplace_text(text, sizeof(text), s, label, number);
	assert_string_equal(text, want);
}

static void test_passes_over_carriers(void **state)
{
	const char *const names[] = { "__futex_abstimed_wait", "std::sync::mutex::lock",
				      "<core::pin::Pin<P> as Future>::poll", "app::cache::get",
				      "app::main" };

	(void)state;
	assert_place(MOMENT_FUTEX, stack(names, 5), "futex in app::cache::get");
}

/* A method of the program's on a type of its own is its own, whatever stands before the name. */
static void test_own_impl(void **state)
{
	const char *const names[] = { "tokio::runtime::task::poll",
				      "<app::Db as app::Store>::load" };

	(void)state;
	assert_place(MOMENT_SYSCALL + 0, stack(names, 2), "read in <app::Db as app::Store>::load");
}

static void test_nothing_but_the_call(void **state)
{
	const char *const carriers[] = { "std::fs::read", "tokio::runtime::task::poll" };
	const char *const nameless[] = { NULL, NULL };
	const char *const c_names[] = { "read", "main" };

	(void)state;
	assert_place(MOMENT_SYSCALL + 35, 0, "nanosleep"); /* no stack */
	assert_place(MOMENT_SYSCALL + 0, stack(nameless, 2), "read"); /* stripped */
	assert_place(MOMENT_OFF_PREEMPTED, 0, "preempted");
	assert_place(MOMENT_SYSCALL + 0, stack(c_names, 2), "read");
	teardown(NULL);
	setup(NULL);
	assert_place(MOMENT_SYSCALL + 0, stack(carriers, 2), "read");
}

static void test_long_names_are_cut(void **state)
{
	char name[1000], text[384];
	const char *const names[] = { name };

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	memcpy(name, "app::", 5);
	name[sizeof(name) - 1] = '\0';
	callplace_text(text, sizeof(text), s, MOMENT_FUTEX, stack(names, 1));
	assert_int_equal(strlen(text), strlen("futex in ") + 300);
	callplace_text(text, 8, s, MOMENT_FUTEX, 1);
	assert_string_equal(text, "futex i");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_passes_over_carriers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_impl, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_but_the_call, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_names_are_cut, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
