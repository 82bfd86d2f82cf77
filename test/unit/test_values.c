// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include "code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/types.h>
#include <string.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

static void step(struct values *v, const char *bytes)
{
	struct code_op op;

	assert_int_equal(code_decode((const uint8_t *)bytes, strlen(bytes), 0, &op), 0);
	values_step(v, &op);
}

static void test_copies_and_writes(void **state)
{
	struct values v;

	(void)state;
	values_init(&v);
	assert_int_equal(v.of[WIRE_RDI], WIRE_RDI);
	step(&v, "\x48\x89\xfb"); /* mov rbx, rdi */
	step(&v, "\x49\x89\xde"); /* mov r14, rbx */
	assert_int_equal(v.of[WIRE_R14], WIRE_RDI);
	step(&v, "\x31\xff"); /* xor edi, edi */
	assert_int_not_equal(v.of[WIRE_RDI], WIRE_RDI);
	assert_int_equal(v.of[WIRE_RBX], WIRE_RDI);
	step(&v, "\x48\x8b\x5b\x10"); /* mov rbx, [rbx+0x10] */
	assert_int_not_equal(v.of[WIRE_RBX], v.of[WIRE_R14]);
}

static void test_calls(void **state)
{
	struct values v;

	(void)state;
	values_init(&v);
	step(&v, "\xff\xd0"); /* call rax */
	assert_int_equal(v.of[WIRE_RBX], WIRE_RBX);
	assert_int_equal(v.of[WIRE_R15], WIRE_R15);
	assert_int_equal(v.of[WIRE_RBP], WIRE_RBP);
	assert_int_not_equal(v.of[WIRE_RDI], WIRE_RDI);
	assert_int_not_equal(v.of[WIRE_R11], WIRE_R11);
	assert_int_not_equal(v.of[WIRE_RAX], WIRE_RAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_and_writes),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
