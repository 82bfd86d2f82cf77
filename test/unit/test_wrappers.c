// SPDX-License-Identifier: Apache-2.0
#include "wrappers.h"

#include "elfmaker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

static struct elfmaker maker;

/* push rbp; mov rbp,rsp; <op> rel32 or [rip+x] to dest; ret. Returns the instruction's address */
static uint64_t add_use(const char *op, size_t op_sz, uint64_t dest)
{
	uint8_t code[] = "\x55\x48\x89\xe5\0\0\0\0\0\0\0\0";
	uint64_t at = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
	int32_t disp = (int32_t)(dest - (at + 4 + op_sz + 4));

	memcpy(code + 4, op, op_sz);
	memcpy(code + 4 + op_sz, &disp, 4);
	code[4 + op_sz + 4] = 0xc3;
	assert_int_equal(elfmaker_code(&maker, code, 4 + op_sz + 5), at);
	return at + 4;
}

static void test_all_forms(void **state)
{
	struct wrappers w = { .cnt = 0 };
	uint64_t func, other, want[4], slot;
	struct elfmaker_file f;

	(void)state;
	elfmaker_init(&maker, true);
	func = elfmaker_code(&maker, "\x55\x48\x89\xe5\xc3", 5);
	other = elfmaker_code(&maker, "\x55\x48\x89\xe5\xc3", 5);
	slot = elfmaker_pointer(&maker, func);
	want[0] = add_use("\xe8", 1, func);
	want[1] = add_use("\xff\x15", 2, slot);
	want[2] = add_use("\xe9", 1, func);
	want[3] = add_use("\xff\x25", 2, slot);
	add_use("\xe8", 1, other);
	add_use("\xe8", 1, func + 1);
	add_use("\xff\x15", 2, elfmaker_pointer(&maker, other));
	/* the bytes of a call inside a constant */
	elfmaker_code(&maker, "\x55\x48\x89\xe5\x48\xb8\xe8\0\0\0\0\0\0\0\xc3", 15);
	elfmaker_load(&maker, &f);
	assert_int_equal(wrappers_add(&w, &(struct wrappers_func){ .vaddr = other + 64 }), 0);
	assert_int_equal(wrappers_add(&w, &(struct wrappers_func){ .vaddr = func }), 0);
	assert_int_equal(wrappers_add(&w, &(struct wrappers_func){ .vaddr = func }), 0);
	assert_int_equal(w.funcs_cnt, 2);
	assert_int_equal(wrappers_find(&w, f.img, f.relocs, &f.starts), 0);
	assert_int_equal(w.cnt, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(w.calls[i].vaddr, want[i]);
		assert_int_equal(w.calls[i].caller, want[i] - 4);
		assert_int_equal(w.calls[i].func, 1);
	}
	wrappers_done(&w);
	for (unsigned i = 0; i < WRAPPERS_FUNCS_MAX; i++)
		assert_int_equal(wrappers_add(&w, &(struct wrappers_func){ .vaddr = i }), 0);
	assert_int_equal(wrappers_add(&w, &(struct wrappers_func){ .vaddr = 99 }), -ENOSPC);
	elfmaker_unload(&f);
}

/* push rbp; mov rbp,rsp; mov r13,[rip+slot]; <between>; call r13; ret: address of the call */
static uint64_t add_kept(const char *between, size_t sz, uint64_t slot)
{
	uint8_t code[64] = "\x55\x48\x89\xe5\x4c\x8b\x2d";
	uint64_t at = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
	int32_t disp = (int32_t)(slot - (at + 11));

	memcpy(code + 7, &disp, 4);
	memcpy(code + 11, between, sz);
	memcpy(code + 11 + sz, "\x41\xff\xd5\xc3", 4);
	assert_int_equal(elfmaker_code(&maker, code, 15 + sz), at);
	return at + 11 + sz;
}

/* The address is kept in a register: across calls and epilogues, until that is written. */
static void test_kept_in_register(void **state)
{
	struct wrappers w = { .cnt = 0 };
	uint64_t func, slot, want[2];
	struct elfmaker_file f;

	(void)state;
	elfmaker_init(&maker, true);
	func = elfmaker_code(&maker, "\x55\x48\x89\xe5\xc3", 5);
	slot = elfmaker_pointer(&maker, func);
	want[0] = add_kept("\xff\xd0", 2, slot); /* call rax */
	want[1] = add_kept("\x41\x5d\xc3", 3, slot); /* pop r13; ret */
	add_kept("\x49\x89\xc5", 3, slot); /* mov r13,rax */
	elfmaker_load(&maker, &f);
	assert_int_equal(wrappers_add(&w, &(struct wrappers_func){ .vaddr = func }), 0);
	assert_int_equal(wrappers_find(&w, f.img, f.relocs, &f.starts), 0);
	assert_int_equal(w.cnt, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(w.calls[i].vaddr, want[i]);
	wrappers_done(&w);
	elfmaker_unload(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_forms),
		cmocka_unit_test(test_kept_in_register),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
