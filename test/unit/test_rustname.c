// SPDX-License-Identifier: Apache-2.0
/* test_rustname.c - demangling and the future in a name, on names that compilers really make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/rustname.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HANDLE "alloc::sync::Arc<tokio::runtime::scheduler::multi_thread::handle::Handle"

static void test_futures(void **state)
{
	static const struct {
		const char *function, *future;
	} cases[] = {
		/* DWARF, release with debug info */
		{ "poll<rich::truth::Logged<rich::http::backend::{async_fn#0}::{async_block_env#0}>"
		  ", " HANDLE ", alloc::alloc::Global>>",
		  "rich::truth::Logged<rich::http::backend::{async_fn#0}::{async_block_env#0}>" },
		{ "poll<tokio::runtime::blocking::task::BlockingTask<rich::calls::spawn_blocking::"
		  "{closure_env#0}<u64, rich::flows::f::{closure_env#0}>>, "
		  "tokio::runtime::blocking::schedule::BlockingSchedule>",
		  "rich::calls::spawn_blocking::{closure_env#0}<u64, "
		  "rich::flows::f::{closure_env#0}>" },
		/* v0 */
		{ "tokio::runtime::task::raw::poll::<app::main::{closure#0}, " HANDLE ">>",
		  "app::main::{closure#0}" },
		{ "tokio::runtime::task::raw::poll::<(fn(u8) -> u8, [u8; 3], app::C<'<'>), S>",
		  "(fn(u8) -> u8, [u8; 3], app::C<'<'>)" },
		/* legacy drop glue */
		{ "core::ptr::drop_in_place<alloc::boxed::Box<tokio::runtime::task::core::Cell<"
		  "rich::odd::"
		  "Stuck," HANDLE ">>>>",
		  "rich::odd::Stuck" },
		{ "core::ptr::drop_in_place<tokio::runtime::task::core::CoreStage<rich::odd::"
		  "nested::"
		  "{{closure}}::{{closure}}>>",
		  "rich::odd::nested::{{closure}}::{{closure}}" },
		{ "core::ptr::drop_in_place::<tokio::runtime::task::core::Stage<app::F>>",
		  "app::F" },
		{ "core::ptr::drop_in_place<tokio::runtime::task::core::Core<app::F,S>>",
		  "app::F" },
	};
	char buf[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (rustname_future(cases[i].function, buf, sizeof(buf)))
			fail_msg("no future in %s", cases[i].function);
		assert_string_equal(buf, cases[i].future);
	}
}

static void test_no_futures(void **state)
{
	static const char *const names[] = {
		"",
		"poll",
		"poll<",
		"poll<>",
		"poll<a",
		"poll<a)>",
		"poll<(a>",
		"repoll<a, b>",
		"core::ptr::drop_in_place<tokio::runtime::task::core::Trailer>",
		"core::ptr::drop_in_place<mytokio::runtime::task::core::Stage<F>>",
		"core::ptr::drop_in_place",
		"app::poll::<F, S>",
		"tokio::runtime::task::raw::poll::<",
		"poll<tokio::runtime::blocking::task::BlockingTask<",
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (rustname_future(names[i], buf, sizeof(buf)) != -ENOENT)
			fail_msg("a future in %s: %s", names[i], buf);
}

static void test_demangle(void **state)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
		{ "_ZN5tokio7runtime4task3raw4poll17h004e08e2a807b6bfE",
		  "tokio::runtime::task::raw::poll" },
		{ "_ZN4core3ptr31drop_in_place$LT$app..Thing$GT$17hd3fbdea762216973E",
		  "core::ptr::drop_in_place<app::Thing>" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RINvC1a1bhE", "a::b::<u8>" },
		{ "malloc", "malloc" },
		{ "_ZN3foo3barEv", "_ZN3foo3barEv" },
		{ "", "" },
	};
	char buf[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rustname_demangle(cases[i].symbol, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].name);
	}
	rustname_demangle("_ZN5tokio7runtime4task3raw4poll17h004e08e2a807b6bfE", buf, 8);
	assert_string_equal(buf, "tokio::");
}

static void test_a_symbol_that_would_print_for_ever(void **state)
{
	char symbol[2048] = "_RINvC1a1b", number[16], buf[128];
	size_t at, prev = 0;

	(void)state;
	/* each tuple holds two references to the one before it: 2^60 words */
	for (int i = 0; i < 60; i++) {
		at = strlen(symbol) - 2; /* offsets count behind "_R" */
		if (i == 0) {
			strcat(symbol, "ThhE");
		} else {
			/* base 62, value minus one, with _ at the end */
			static const char digits[] =
				"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
			size_t v = prev - 1, len = 0;
			char rev[8];

			do {
				rev[len++] = digits[v % 62];
				v /= 62;
			} while (v);
			for (size_t j = 0; j < len; j++)
				number[j] = rev[len - 1 - j];
			number[len] = '\0';
			sprintf(symbol + strlen(symbol), "TB%s_B%s_E", number, number);
		}
		prev = at;
	}
	strcat(symbol, "E");
	rustname_demangle(symbol, buf, sizeof(buf));
	assert_true(strlen(buf) < sizeof(buf));
	assert_int_equal(strncmp(buf, "a::b::<", 7), 0);
}

static void test_clean(void **state)
{
	char text[] = "a\x1b[2J\xff\xc3\xa9\xe2\x82\n\xed\xa0\x80\x7f\xc2\x9bz";

	(void)state;
	rustname_clean(text);
	assert_string_equal(text, "a?[2J?\xc3\xa9????????"
				  "?z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_futures),
		cmocka_unit_test(test_no_futures),
		cmocka_unit_test(test_demangle),
		cmocka_unit_test(test_a_symbol_that_would_print_for_ever),
		cmocka_unit_test(test_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
