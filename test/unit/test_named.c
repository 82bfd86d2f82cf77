// SPDX-License-Identifier: Apache-2.0
/* This program itself carries functions of Tokio's names, so its own symbol table is the input. */
#include "named.h"

#include "dynsym.h"
#include "image.h"
#include "relocs.h"
#include "starts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <link.h>
#include <linux/types.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

#define NEXT "_ZN5tokio7runtime4task2id2Id4next17h0123456789abcdefE"
#define BIND_A "_ZN5tokio7runtime4task4list19OwnedTasks$LT$S$GT$10bind_inner17h0E"
#define BIND_B "_RNvMs_NtNtNtCsX_5tokio7runtime4task4listINtB5_10OwnedTasksp10bind_inner"
#define OTHER "_ZN5mycrate2Id4next17h0E"

__asm__(".pushsection .data\n.balign 8\nnamed_counter: .quad 1\n.popsection\n"
	".pushsection .text\n"
	".type \"" NEXT "\",@function\n\"" NEXT "\":\n"
	"sub $0x18,%rsp\nlea named_counter(%rip),%rdi\nmov $1,%esi\n"
	"call \"" OTHER "\"\nnamed_after: add $0x18,%rsp\nret\n"
	".type \"" OTHER "\",@function\n\"" OTHER "\":\nret\n"
	".type \"" BIND_A "\",@function\n\"" BIND_A "\":\nret\n"
	".type \"" BIND_B "\",@function\n\"" BIND_B "\":\nret\n"
	".popsection\n");
extern const char named_counter[], named_after[];
extern void bind_a(void) __asm__(BIND_A);
extern void bind_b(void) __asm__(BIND_B);

static struct image *img;
static uint64_t bias;
static int fd;

static int own_bias(struct dl_phdr_info *info, size_t sz, void *ctx)
{
	(void)sz;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

static int setup(void **state)
{
	struct stat st;

	(void)state;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	dl_iterate_phdr(own_bias, &bias);
	return fstat(fd, &st) || image_open(fd, (uint64_t)st.st_size, &img);
}

static int teardown(void **state)
{
	(void)state;
	image_close(img);
	return close(fd);
}

static void test_draw(void **state)
{
	struct counter_draws c = { .cnt = 0 };
	struct relocs *relocs;
	struct starts starts = { .cnt = 0 };

	(void)state;
	assert_int_equal(relocs_open(img, &relocs), 0);
	assert_int_equal(named_draws(img, relocs, &starts, &c), 0);
	assert_int_equal(c.cnt, 1); /* the other crate's Id is none */
	assert_int_equal(c.draws[0].counter + bias, (uintptr_t)named_counter);
	assert_int_equal(c.draws[0].after + bias, (uintptr_t)named_after);
	assert_int_equal(c.draws[0].reg, WIRE_RAX);
	counter_done(&c);
	relocs_close(relocs);
}

static void test_binds(void **state)
{
	uint64_t b[NAMED_MAX];
	bool has_a = false, has_b = false;
	size_t n = named_binds(img, b);

	(void)state;
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++) {
		has_a |= b[i] + bias == (uintptr_t)bind_a;
		has_b |= b[i] + bias == (uintptr_t)bind_b;
	}
	assert_true(has_a && has_b);
	assert_int_equal(dynsym_find_tokio(img, "10bind_inner", b, 1), 1);
	assert_int_equal(dynsym_find_tokio(img, "no_such_part", b, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_draw),
		cmocka_unit_test(test_binds),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
