// SPDX-License-Identifier: Apache-2.0
/* test_exits.c - where functions return: rets, tail jumps, and what only looks like one. */
#include "exits.h"

#include "elfmaker.h"
#include "image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#define FUNCS_MAX 4
#define CIE_OFF 0x100
#define FDES_OFF 0x140

static struct elfmaker maker;
static struct {
	uint64_t vaddr;
	size_t sz;
} funcs[FUNCS_MAX];
static size_t funcs_cnt;

static uint64_t add(const void *bytes, size_t sz)
{
	assert_true(funcs_cnt < FUNCS_MAX);
	funcs[funcs_cnt].sz = sz;
	return funcs[funcs_cnt++].vaddr = elfmaker_code(&maker, bytes, sz);
}
#define ADD(bytes) add(bytes, sizeof(bytes) - 1)

static void put32(size_t at, uint64_t value)
{
	uint32_t v = (uint32_t)value;

	memcpy(maker.data + at, &v, 4);
}

/* The table of functions, as a linker writes it, at the begin of the data. */
static void put_table(void)
{
	static const uint8_t cie[] = "\x10\0\0\0\0\0\0\0\1zR\0\x01\x78\x10\x01\x1b\0\0\0";

	memcpy(maker.data + CIE_OFF, cie, sizeof(cie) - 1);
	for (size_t i = 0; i < funcs_cnt; i++) {
		uint64_t fde = ELFMAKER_DATA + FDES_OFF + 16 * i;

		put32(12 + 8 * i, funcs[i].vaddr - ELFMAKER_DATA);
		put32(16 + 8 * i, FDES_OFF + 16 * i);
		put32(FDES_OFF + 16 * i, 12);
		put32(FDES_OFF + 16 * i + 4, fde + 4 - (ELFMAKER_DATA + CIE_OFF));
		put32(FDES_OFF + 16 * i + 8, funcs[i].vaddr - (fde + 8));
		put32(FDES_OFF + 16 * i + 12, funcs[i].sz);
	}
	maker.data_sz = 0x400;
}

/* Offsets of the exits in the function at `func`, -1 at their end; the reason if there are none. */
static const char *find(uint64_t func, int offs[EXITS_MAX + 1])
{
	struct elfmaker_file f;
	struct exits exits;
	const char *reason;

	put_table();
	elfmaker_load(&maker, &f);
	f.img->eh_frame_hdr = ELFMAKER_DATA;
	f.starts = (struct starts){ f.img, ELFMAKER_DATA + 12, funcs_cnt };
	if (exits_find(f.img, &f.starts, func, &exits, &reason)) {
		assert_non_null(reason);
	} else {
		assert_null(reason);
		assert_in_range(exits.cnt, 1, EXITS_MAX);
		for (size_t i = 0; i < exits.cnt; i++)
			offs[i] = (int)(exits.ops[i].vaddr - func);
		offs[exits.cnt] = -1;
	}
	elfmaker_unload(&f);
	return reason;
}

static void begin(void)
{
	elfmaker_init(&maker, true);
	funcs_cnt = 0;
}

#define FIND(bytes, offs) (begin(), find(ADD(bytes), offs))

#define PUSH "\x53" /* push rbx */
#define POP "\x5b"
#define RET "\xc3"
#define CALL "\xe8\0\0\0\0"
#define AWAY "\xe9\0\0\xff\xff" /* jmp, 64 KiB before */

static void rets_and_tail_jumps(void **state)
{
	int at[EXITS_MAX + 1];

	(void)state;
	assert_null(FIND(PUSH CALL POP RET, at));
	assert_true(at[0] == 7 && at[1] == -1);
	/* je over the first ret */
	assert_null(FIND(PUSH CALL "\x74\x02" POP RET POP RET, at));
	assert_true(at[0] == 9 && at[1] == 11 && at[2] == -1);
	assert_null(FIND(PUSH CALL "\x74\x02" POP RET POP AWAY, at));
	assert_true(at[0] == 9 && at[1] == 11 && at[2] == -1);
	/* jmp [rax+16], and jmp [rip+0]: by a vtable, to another file */
	assert_null(FIND(PUSH CALL POP "\xff\x60\x10", at));
	assert_true(at[0] == 7 && at[1] == -1);
	assert_null(FIND(PUSH CALL POP "\xff\x25\0\0\0\0", at));
	assert_true(at[0] == 7 && at[1] == -1);
	/* jmp rax, the frame just given up */
	assert_null(FIND(PUSH CALL POP "\xff\xe0", at));
	assert_true(at[0] == 7 && at[1] == -1);
}

static void jumps_by_a_table_stay_inside(void **state)
{
	int at[EXITS_MAX + 1];

	(void)state;
	/* add rax,rcx; jmp rax */
	assert_null(FIND(PUSH "\x48\x01\xc8\xff\xe0" POP RET, at));
	assert_true(at[0] == 7 && at[1] == -1);
	/* jmp [rax*8+0] */
	assert_null(FIND(PUSH "\xff\x24\xc5\0\0\0\0" POP RET, at));
	assert_true(at[0] == 9 && at[1] == -1);
	/* jmp back */
	assert_null(FIND(PUSH CALL "\xeb\xf9" POP RET, at));
	assert_true(at[0] == 9 && at[1] == -1);
}

static void one_that_only_jumps_is_another(void **state)
{
	int at[EXITS_MAX + 1];
	uint64_t first, second;

	(void)state;
	begin();
	first = ADD("\xe9\x0b\0\0\0"); /* to the next 16 bytes */
	second = ADD(PUSH CALL POP RET);
	assert_int_equal(second, first + 16);
	assert_null(find(first, at));
	assert_true(at[0] == 16 + 7 && at[1] == -1);
	/* a ring of them */
	begin();
	first = ADD("\xe9\x0b\0\0\0");
	ADD("\xe9\xeb\xff\xff\xff");
	assert_string_equal(find(first, at), "it only jumps on");
	/* to nothing that is known */
	assert_string_equal(FIND("\xff\x60\x10", at), "it only jumps on");
	assert_string_equal(FIND(AWAY, at), "where it ends is not known");
}

static void what_is_not_certain_is_refused(void **state)
{
	char many[2 * (EXITS_MAX + 1)];
	int at[EXITS_MAX + 1];

	(void)state;
	/* jne, 64 KiB before */
	assert_string_equal(FIND(PUSH CALL "\x0f\x85\0\0\xff\xff" POP RET, at),
			    "it branches to another function");
	assert_string_equal(FIND(PUSH CALL "\x0f\x0b", at), "it never returns");
	assert_string_equal(FIND(PUSH CALL "\x06" POP RET, at), "not all of it can be decoded");
	/* rep ret, ret 8 */
	assert_string_equal(FIND(PUSH CALL POP "\xf3\xc3", at),
			    "the kernel takes no probe where it returns");
	assert_string_equal(FIND(PUSH CALL POP "\xc2\x08\0", at),
			    "the kernel takes no probe where it returns");
	for (size_t i = 0; i < sizeof(many); i += 2)
		memcpy(many + i, POP RET, 2);
	begin();
	assert_null(find(add(many, sizeof(many) - 2), at));
	begin();
	assert_string_equal(find(add(many, sizeof(many)), at), "it returns at too many places");
	begin();
	assert_string_equal(find(ADD(PUSH CALL POP RET) + 1, at), "where it ends is not known");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rets_and_tail_jumps),
		cmocka_unit_test(jumps_by_a_table_stay_inside),
		cmocka_unit_test(one_that_only_jumps_is_another),
		cmocka_unit_test(what_is_not_certain_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
