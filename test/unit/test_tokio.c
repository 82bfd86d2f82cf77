// SPDX-License-Identifier: Apache-2.0
#include "tokio.h"

#include "elfmaker.h"
#include "waker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct elfmaker maker;
static uint64_t funcs[7];

static void start(bool is_pie)
{
	elfmaker_init(&maker, is_pie);
	for (int i = 0; i < 7; i++)
		funcs[i] = elfmaker_code(&maker, "\x55\x48\x89\xe5\x31\xc0\x5d\xc3", 8);
}

static int find(struct plan_file *file)
{
	struct elfmaker_file f;
	size_t left_cnt = 0;
	int err;

	*file = (struct plan_file){ .is_pie = false };
	elfmaker_load(&maker, &f);
	err = tokio_find(f.img, f.relocs, &f.starts, file, &left_cnt);
	assert_int_equal(left_cnt, 0);
	elfmaker_unload(&f);
	return err;
}

static void check_types(bool is_pie, bool has_location)
{
	struct plan_file f;
	uint64_t async, blocking;

	start(is_pie);
	elfmaker_word(&maker, 0);
	async = elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x28, has_location);
	elfmaker_word(&maker, 99);
	blocking = elfmaker_vtable(&maker, funcs, 0x200000, 0x20, 0x30, has_location);
	elfmaker_text(&maker, "/x/tokio-1.47.1/src/runtime/task/core.rs");
	elfmaker_text(&maker, "/rustc/0123456789abcdef0123456789abcdef01234567/library");
	assert_int_equal(find(&f), 0);
	assert_int_equal(f.vtables_cnt, 2);
	assert_int_equal(f.vtables[0].vaddr, async);
	assert_int_equal(f.vtables[0].poll, funcs[0]);
	assert_int_equal(f.vtables[0].schedule, funcs[1]);
	assert_int_equal(f.vtables[0].dealloc, funcs[2]);
	assert_int_equal(f.vtables[0].shutdown, funcs[6]);
	assert_int_equal(f.vtables[0].scheduler_off, 0x20);
	assert_int_equal(f.vtables[0].id_off, 0x28);
	assert_int_equal(f.vtables[0].trailer_off, 0x80);
	assert_false(f.vtables[0].is_blocking);
	assert_int_equal(f.vtables[1].vaddr, blocking);
	assert_int_equal(f.vtables[1].trailer_off, 0x200000);
	assert_true(f.vtables[1].is_blocking);
	assert_int_equal(f.is_unstable, has_location);
	assert_int_equal(f.vtables[1].has_location, has_location);
	assert_string_equal(f.tokio, "1.47.1");
	assert_memory_equal(f.rustc, "0123456789ab", 12);
	free(f.vtables);
}

static void test_types(void **state)
{
	(void)state;
	check_types(true, false);
	check_types(true, true);
	check_types(false, false);
	check_types(false, true);
}

static void test_not_types(void **state)
{
	static const uint64_t bad[][3] = {
		{ 0x80, 0x18, 0x28 }, /* inside the header */
		{ 0x80, 0x20, 0x18 }, { 0x80, 0x20, 0x80 },
		{ 0x28, 0x20, 0x28 }, { 0x84, 0x20, 0x28 },
		{ 0x80, 0x21, 0x29 }, { 1ull << 40, 0x20, 0x28 },
		{ 0x80, 0, 0 },	      { UINT64_MAX, UINT64_MAX - 15, UINT64_MAX - 7 },
	};
	struct plan_file f;

	(void)state;
	start(true);
	elfmaker_text(&maker, "tokio-1.47.1/src/");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		elfmaker_vtable(&maker, funcs, bad[i][0], bad[i][1], bad[i][2], false);
	funcs[3] = ELFMAKER_DATA;
	elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x28, false);
	funcs[3] = 0;
	elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x28, false);
	funcs[3] = elfmaker_code(&maker, "\x06\x06\x06\x06", 4); /* no code */
	elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x28, false);
	assert_int_equal(find(&f), -ENOENT);
	free(f.vtables);
}

/* the shape alone is not believed, whatever looks a little like Tokio's name */
static void test_second_sign(void **state)
{
	static const char *const texts[] = {
		"tokio",
		"tokio-1.47.1",
		"tokio-util-0.7.18/src/",
		"tokio-1.47.1/benches/",
		"tokio-/src/",
		"tokio-1.4 7/src/",
		"tokio/src/lib.rs",
	};
	struct plan_file f;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		start(true);
		elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x28, false);
		elfmaker_text(&maker, texts[i]);
		assert_int_equal(find(&f), -ENOENT);
		free(f.vtables);
	}
	/* a checkout: Tokio, of a version that is not known */
	start(true);
	elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x28, false);
	elfmaker_text(&maker, "tokio/src/runtime/task/core.rs");
	assert_int_equal(find(&f), 0);
	assert_string_equal(f.tokio, "");
	free(f.vtables);
}

/* clone: mov eax,0x40; lock xadd [rdi],rax; lea rax,[rip+table]; ret.
 * drop: mov rax,-0x40; lock xadd [rdi],rax; ret */
static uint64_t add_waker(void)
{
	uint8_t clone[] = "\x55\xb8\x40\0\0\0\xf0\x48\x0f\xc1\x07\x48\x8d\x05\0\0\0\0\x5d\xc3";
	uint64_t table = ELFMAKER_DATA + maker.data_sz, at, drop;
	int32_t disp;

	at = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
	disp = (int32_t)(table - (at + 18));
	memcpy(clone + 14, &disp, 4);
	elfmaker_code(&maker, clone, sizeof(clone) - 1);
	drop = elfmaker_code(&maker, "\x55\x48\xc7\xc0\xc0\xff\xff\xff\xf0\x48\x0f\xc1\x07\x5d\xc3",
			     15);
	elfmaker_pointer(&maker, at);
	elfmaker_pointer(&maker, funcs[1]);
	elfmaker_pointer(&maker, funcs[2]);
	elfmaker_pointer(&maker, drop);
	return table;
}

static void test_waker(void **state)
{
	struct elfmaker_file ef;
	struct plan_file f;
	uint64_t want, got = 0;

	(void)state;
	start(true);
	elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x28, false);
	for (int i = 0; i < 5; i++)
		elfmaker_pointer(&maker, funcs[i]);
	want = add_waker();
	elfmaker_load(&maker, &ef);
	assert_int_equal(waker_find(ef.img, ef.relocs, &got), 0);
	assert_int_equal(got, want);
	elfmaker_unload(&ef);
	assert_int_equal(find(&f), 0);
	assert_int_equal(f.vtables_cnt, 1);
	free(f.vtables);
}

/* many types, some right behind each other */
static void test_many(void **state)
{
	struct plan_file f;

	(void)state;
	start(false);
	elfmaker_text(&maker, "tokio-1.47.1/src/");
	for (int i = 0; i < 1000; i++) {
		elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x28, false);
		if (i % 3)
			elfmaker_word(&maker, 7);
	}
	assert_int_equal(find(&f), 0);
	assert_int_equal(f.vtables_cnt, 1000);
	for (int i = 1; i < 1000; i++)
		assert_true(f.vtables[i].vaddr > f.vtables[i - 1].vaddr);
	free(f.vtables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),	    cmocka_unit_test(test_not_types),
		cmocka_unit_test(test_second_sign), cmocka_unit_test(test_waker),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
