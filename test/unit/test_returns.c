// SPDX-License-Identifier: Apache-2.0
#include "returns.h"

#include "elfmaker.h"
#include "image.h"
#include "scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#define PROLOGUE "\x55\x48\x89\xe5"

static struct elfmaker maker;

static int take(const struct scan_hit *hit, void *ctx)
{
	return returns_hit(ctx, hit);
}

/* Offset of the return address in the function, or 0 when it holds no such call. */
static unsigned find(const char *bytes, size_t sz, struct returns_call *call)
{
	struct returns r = { 0 };
	struct elfmaker_file f;
	unsigned found = 0;
	uint64_t at;

	elfmaker_init(&maker, true);
	at = elfmaker_code(&maker, bytes, sz);
	elfmaker_load(&maker, &f);
	assert_int_equal(scan_segment(f.img, &f.img->segs[0], SCAN_CODE, take, &r), 0);
	for (size_t i = 0; i < r.loads_cnt; i++) {
		if (returns_prove(&r, i, f.img, &f.starts, call))
			continue;
		assert_int_equal(found, 0);
		found = (unsigned)(call->after - at);
		assert_int_equal(call->func, at);
	}
	returns_done(&r);
	elfmaker_unload(&f);
	return found;
}
#define FIND(bytes, call) find(PROLOGUE bytes, sizeof(PROLOGUE bytes) - 1, call)

static void test_calls(void **state)
{
	struct returns_call c;

	(void)state;
	/* mov rax,[r14+0x10]; mov rdi,r14; call [rax]; cmp */
	assert_int_equal(FIND("\x49\x8b\x46\x10\x4c\x89\xf7\xff\x10\x74\x00", &c), 13);
	assert_false(c.is_jump || c.is_loose);
	/* the same with r12 (SIB byte), and called through r13 (displacement, REX) */
	assert_int_equal(FIND("\x49\x8b\x44\x24\x10\x4c\x89\xe7\xff\x10\xc3", &c), 14);
	assert_int_equal(FIND("\x4d\x8b\x6e\x10\x4c\x89\xf7\x41\xff\x55\x00\xc3", &c), 15);
	/* the header is rdi already */
	assert_int_equal(FIND("\x48\x8b\x47\x10\xff\x10\xc3", &c), 10);
	/* mov r15,rax; mov rax,[rax+0x10]; mov rdi,r15: a copy made before the load */
	assert_int_equal(FIND("\x49\x89\xc7\x48\x8b\x40\x10\x4c\x89\xff\xff\x10\xc3", &c), 16);
	/* mov rax,[rbx+0x10]; mov rcx,[rax]; mov rdi,rbx; call rcx */
	assert_int_equal(FIND("\x48\x8b\x43\x10\x48\x8b\x08\x48\x89\xdf\xff\xd1\xc3", &c), 16);
}

static void test_tail_jumps(void **state)
{
	struct returns_call c;

	(void)state;
	/* mov rax,[rdi+0x10]; pop rbp; jmp [rax] */
	assert_int_equal(FIND("\x48\x8b\x47\x10\x5d\xff\x20", &c), 11);
	assert_true(c.is_jump && c.is_wrapper);
	assert_int_equal(FIND("\x48\x8b\x43\x10\x48\x89\xdf\x5b\xff\x20", &c), 14);
	assert_true(c.is_jump);
	assert_false(c.is_wrapper);
}

static void test_unoptimised(void **state)
{
	struct returns_call c;

	(void)state;
	/* mov rax,[rax+0x10]; mov [rsp+0x10],rax; mov rax,[rax]; mov rdi,[rsp+8]; call rax */
	assert_int_equal(FIND("\x48\x8b\x40\x10\x48\x89\x44\x24\x10\x48\x8b\x00\x48\x8b\x7c\x24\x08"
			      "\xff\xd0\xc3",
			      &c),
			 23);
	assert_true(c.is_loose);
}

static void test_other_code(void **state)
{
	struct returns_call c;

	(void)state;
	/* another object in rdi */
	assert_int_equal(FIND("\x49\x8b\x46\x10\x48\x89\xdf\xff\x10\xc3", &c), 0);
	/* the header's word 3; slot 2; slot 0 of something else; rax changed in between */
	assert_int_equal(FIND("\x49\x8b\x46\x18\x4c\x89\xf7\xff\x10\xc3", &c), 0);
	assert_int_equal(FIND("\x49\x8b\x46\x10\x4c\x89\xf7\xff\x50\x10\xc3", &c), 0);
	assert_int_equal(FIND("\x49\x8b\x46\x10\x4c\x89\xf7\xff\x11\xc3", &c), 0);
	assert_int_equal(FIND("\x49\x8b\x46\x10\x48\x83\xc0\x10\x4c\x89\xf7\xff\x10\xc3", &c), 0);
	/* a branch between load and call */
	assert_int_equal(FIND("\x49\x8b\x46\x10\x74\x03\x4c\x89\xf7\xff\x10\xc3", &c), 0);
	/* the bytes inside a constant: mov rax,imm64 */
	assert_int_equal(FIND("\x48\xb8\x48\x8b\x47\x10\xff\x10\x90\x90\xc3", &c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_tail_jumps),
		cmocka_unit_test(test_unoptimised),
		cmocka_unit_test(test_other_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
