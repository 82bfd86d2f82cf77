// SPDX-License-Identifier: Apache-2.0
#include "code.h"

#include "elfmaker.h"
#include "image.h"
#include "starts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <link.h>
#include <linux/types.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

static struct code_op decode(const char *bytes, size_t sz)
{
	struct code_op op;

	assert_int_equal(code_decode((const uint8_t *)bytes, sz, 0x1000, &op), 0);
	assert_int_equal(op.len, sz);
	return op;
}
#define DECODE(bytes) decode(bytes, sizeof(bytes) - 1)

static void test_what_the_kernel_emulates(void **state)
{
	(void)state;
	assert_true(DECODE("\x55").is_emulated); /* push rbp */
	assert_true(DECODE("\x41\x57").is_emulated); /* push r15 */
	assert_true(DECODE("\x90").is_emulated);
	assert_true(DECODE("\x66\x90").is_emulated);
	assert_true(DECODE("\xeb\x10").is_emulated);
	assert_true(DECODE("\xe9\1\0\0\0").is_emulated);
	assert_true(DECODE("\xe8\1\0\0\0").is_emulated);
	assert_true(DECODE("\x74\x02").is_emulated);
	assert_true(DECODE("\x0f\x85\1\0\0\0").is_emulated);
}

static void test_what_it_does_not(void **state)
{
	(void)state;
	assert_false(DECODE("\x0f\x1f\x44\0\0").is_emulated); /* five-byte nop: never a site */
	assert_false(DECODE("\x0f\x1f\x44\0\0").is_steppable);
	assert_false(DECODE("\xf3\x0f\x1e\xfa").is_emulated); /* endbr64 */
	assert_false(DECODE("\xf3\x0f\x1e\xfa").is_steppable);
	assert_false(DECODE("\xff\x10").is_emulated); /* call [rax] */
	assert_false(DECODE("\xff\xd0").is_emulated);
	assert_false(DECODE("\xe3\x02").is_emulated); /* jrcxz */
	assert_false(DECODE("\x5d").is_emulated);
	assert_false(DECODE("\xc3").is_emulated);
	assert_false(DECODE("\x41\x90").is_emulated); /* xchg r8, rax: not a nop */
	assert_false(DECODE("\x6a\x01").is_emulated); /* push imm */
	assert_false(DECODE("\xff\x30").is_emulated); /* push [rax] */
	assert_false(DECODE("\xf0\x48\x0f\xc1\x07").is_steppable); /* lock prefix */
	assert_false(DECODE("\x2e\x48\x89\xc3").is_steppable); /* cs prefix: kernel refuses */
	assert_false(DECODE("\xcc").is_steppable);
	assert_false(DECODE("\x8e\xd8").is_steppable); /* mov ds, eax */
	assert_true(DECODE("\x48\x89\xc3").is_steppable);
	assert_true(DECODE("\x48\x83\xec\x18").is_steppable);
}

static void test_operands(void **state)
{
	struct code_op op;

	(void)state;
	op = DECODE("\x48\x8b\x47\x10"); /* mov rax, [rdi+0x10] */
	assert_int_equal(op.load_to, WIRE_RAX);
	assert_int_equal(op.mem_base, WIRE_RDI);
	assert_int_equal(op.mem_disp, 0x10);
	assert_int_equal(op.mem_index, CODE_NONE);
	assert_int_equal(op.writes, 1u << WIRE_RAX);
	assert_false(op.writes_mem);
	op = DECODE("\x4d\x89\x65\x18"); /* mov [r13+0x18], r12 */
	assert_int_equal(op.store_from, WIRE_R12);
	assert_int_equal(op.mem_base, WIRE_R13);
	assert_true(op.writes_mem);
	op = DECODE("\x4c\x89\xf7"); /* mov rdi, r14 */
	assert_int_equal(op.copy_to, WIRE_RDI);
	assert_int_equal(op.copy_from, WIRE_R14);
	op = DECODE("\xf0\x48\x0f\xc1\x05\x10\0\0\0"); /* lock xadd [rip+0x10], rax */
	assert_int_equal(op.xadd_reg, WIRE_RAX);
	assert_int_equal(op.mem_addr, 0x1000 + 9 + 0x10);
	op = DECODE("\x48\x0f\xc1\x07"); /* without lock it counts nothing for others */
	assert_int_equal(op.xadd_reg, CODE_NONE);
	op = DECODE("\x48\x8d\x05\x10\0\0\0"); /* lea rax, [rip+0x10] */
	assert_int_equal(op.lea_to, WIRE_RAX);
	assert_int_equal(op.mem_addr, 0x1017);
	assert_false(op.has_mem);
	op = DECODE("\x64\x48\x8b\x04\x25\0\0\0\0"); /* mov rax, fs:[0] */
	assert_int_equal(op.mem_base, CODE_NONE);
	assert_int_equal(op.mem_addr, 0);
	op = DECODE("\x88\xc8"); /* mov al, cl: a part of rax */
	assert_int_equal(op.writes, 1u << WIRE_RAX);
	assert_int_equal(op.copy_to, CODE_NONE);
	assert_int_equal(DECODE("\x48\x83\xec\x18").stack_sz, 0x18);
	assert_int_equal(DECODE("\x48\x83\xc4\x18").stack_sz, -0x18);
	assert_int_equal(DECODE("\x50").stack_sz, 8);
	assert_int_equal(DECODE("\x58").stack_sz, -8);
}

static void test_flow(void **state)
{
	(void)state;
	assert_int_equal(DECODE("\xe8\1\0\0\0").flow, CODE_CALL);
	assert_int_equal(DECODE("\xe8\1\0\0\0").dest, 0x1006);
	assert_int_equal(DECODE("\x74\xfe").flow, CODE_BRANCH);
	assert_int_equal(DECODE("\x74\xfe").dest, 0x1000);
	assert_int_equal(DECODE("\xeb\x00").flow, CODE_JUMP);
	assert_int_equal(DECODE("\xff\xd0").flow, CODE_CALL_INDIRECT);
	assert_int_equal(DECODE("\xff\xd0").call_reg, WIRE_RAX);
	assert_int_equal(DECODE("\xff\x10").call_reg, CODE_NONE);
	assert_int_equal(DECODE("\xff\x25\0\0\0\0").flow, CODE_JUMP_INDIRECT);
	assert_int_equal(DECODE("\xc3").flow, CODE_STOP);
	assert_int_equal(DECODE("\x0f\x0b").flow, CODE_STOP);
	assert_int_equal(DECODE("\x0f\x05").flow, CODE_STOP);
}

static void test_undecodable(void **state)
{
	struct code_op op;

	(void)state;
	assert_int_equal(code_decode((const uint8_t *)"\x48", 1, 0, &op), -EILSEQ);
	assert_int_equal(code_decode((const uint8_t *)"\x06", 1, 0, &op), -EILSEQ);
	assert_int_equal(code_decode((const uint8_t *)"\x48\x8b\x47", 3, 0, &op), -EILSEQ);
}

static void test_format(void **state)
{
	struct code_op op = DECODE("\x48\x8b\x47\x10");
	char buf[64], tiny[4];

	(void)state;
	code_format(&op, buf, sizeof(buf));
	assert_string_equal(buf, "mov rax, [rdi+0x10]");
	code_format(&op, tiny, sizeof(tiny));
	assert_true(memchr(tiny, 0, sizeof(tiny)) != NULL);
}

static void test_proof_without_unwind_table(void **state)
{
	static const uint8_t func[] =
		"\x55\x48\x89\xe5\x48\xb8\x55\x48\x89\xe5\x90\x90\x90\x90\xc3";
	static struct elfmaker maker;
	struct starts starts;
	struct image *img = NULL;
	uint64_t sz, at, start;
	int fd;

	(void)state;
	elfmaker_init(&maker, false);
	at = elfmaker_code(&maker, func, sizeof(func) - 1);
	fd = elfmaker_open(&maker, &sz);
	assert_int_equal(image_open(fd, sz, &img), 0);
	starts_open(&starts, img);
	assert_int_equal(starts.cnt, 0);
	/* the prologue inside the constant is not taken for a function */
	assert_int_equal(code_prove(img, &starts, at + 14, &start, NULL, NULL), 0);
	assert_int_equal(start, at);
	assert_int_equal(code_prove(img, &starts, at + 4, &start, NULL, NULL), 0);
	/* inside the constant nothing begins */
	assert_int_equal(code_prove(img, &starts, at + 8, &start, NULL, NULL), -ENOENT);
	assert_int_equal(code_prove(img, &starts, ELFMAKER_DATA, &start, NULL, NULL), -ENOENT);
	image_close(img);
	close(fd);
}

struct own {
	uint64_t bias;
	unsigned steps;
};

static int own_bias(struct dl_phdr_info *info, size_t sz, void *ctx)
{
	(void)sz;
	((struct own *)ctx)->bias = info->dlpi_addr;
	return 1; /* the first is the program */
}

static void count_step(const struct code_op *op, void *ctx)
{
	(void)op;
	((struct own *)ctx)->steps++;
}

/* this very program, whose compiler writes unwind tables */
static void test_proof_by_unwind_table(void **state)
{
	struct own own = { 0 };
	struct image *img = NULL;
	struct starts starts;
	uint64_t start, end, at;
	struct code_op op;
	struct stat st;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	dl_iterate_phdr(own_bias, &own);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(image_open(fd, (uint64_t)st.st_size, &img), 0);
	starts_open(&starts, img);
	assert_true(starts.cnt > 10);
	at = (uint64_t)(uintptr_t)test_flow - own.bias;
	assert_int_equal(starts_find(&starts, at, &start, &end), 0);
	assert_int_equal(start, at);
	assert_true(end > start + 50);
	assert_int_equal(starts_find(&starts, end - 1, &start, &end), 0);
	assert_int_equal(start, at);
	assert_int_equal(starts_find(&starts, 0, &start, &end), -ENOENT);
	assert_int_equal(starts_find(&starts, UINT64_MAX, &start, &end), -ENOENT);
	for (int i = 0; i < 5; i++, at += op.len) {
		own.steps = 0;
		assert_int_equal(code_prove(img, &starts, at, &start, count_step, &own), 0);
		assert_int_equal(own.steps, i);
		assert_int_equal(code_read(img, at, &op), 0);
		if (op.len > 1)
			assert_int_equal(code_prove(img, &starts, at + 1, &start, NULL, NULL),
					 -ENOENT);
	}
	image_close(img);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_kernel_emulates),
		cmocka_unit_test(test_what_it_does_not),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_flow),
		cmocka_unit_test(test_undecodable),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_proof_without_unwind_table),
		cmocka_unit_test(test_proof_by_unwind_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
