// SPDX-License-Identifier: Apache-2.0
/*
 * test_resumed.c - async bodies by their panics, in this very program: its assembly is shaped like
 * what rustc makes of a future that awaits another one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/image.h"
#include "agent/pollflow.h"
#include "agent/resumed.h"
#include "agent/starts.h"
#include "agent/symfile.h"
#include "agent/futuretype.h"
#include "agent/target.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct location { /* core::panic::Location */
	const char *file;
	uint64_t file_len;
	uint32_t line, column;
};

extern const struct location test_outer, test_inner, test_other, test_broken;
const struct location test_outer = { "src/outer.rs", 12, 10, 5 };
const struct location test_inner = { "src/inner.rs", 12, 20, 6 };
const struct location test_other = { "src/other.rs", 12, 30, 7 };
const struct location test_broken = { (const char *)0x10, 12, 40, 8 };

extern const char test_text[];
const char test_text[] = "`async fn` resumed after completion";

void test_poll(void), test_wrapper(void), test_twice(void), test_plain(void), test_table(void);

/*
 * test_poll: a chain of compares on the state of the outer body, behind it one on the inner's; the
 * panics lie together, the inner's first. test_table: the same by jump tables. test_wrapper calls
 * test_poll. test_twice: two bodies, none of which awaits the other.
 */
__asm__(".text\n"
	".macro begin name\n"
	".p2align 4\n.globl \\name\n.hidden \\name\n.type \\name, "
	"@function\n\\name:\n.cfi_startproc\n"
	".endm\n"
	".macro finish name\n.cfi_endproc\n.size \\name, . - \\name\n.endm\n"
	".macro panic location\nlea \\location(%rip), %rdi\ncall test_raise\n.endm\n"

	"begin test_raise\n"
	"lea test_text(%rip), %rsi\n"
	"ud2\n"
	"finish test_raise\n"

	"begin test_poll\n"
	"movzbl (%rdi), %eax\ntest %eax, %eax\nje 1f\ncmp $3, %eax\njne 3f\n"
	"1: movzbl 1(%rdi), %eax\ntest %eax, %eax\nje 2f\ncmp $3, %eax\njne 4f\n"
	"2: call test_plain\nmov $7, %eax\nret\n"
	"4: panic test_inner\n"
	"3: panic test_outer\n"
	"finish test_poll\n"

	"begin test_table\n"
	"movzbl (%rdi), %eax\nlea test_dests(%rip), %rcx\nmovslq (%rcx,%rax,4), %rax\n"
	"add %rcx, %rax\njmp *%rax\n"
	"1: movzbl 1(%rdi), %eax\ncmp $3, %eax\njne 4f\nret\n"
	"2: ret\n"
	"4: panic test_inner\n"
	"3: panic test_outer\n"
	"finish test_table\n"
	".section .rodata\n.p2align 2\ntest_dests:\n"
	".long 2b - test_dests\n.long 3b - test_dests\n.long 1b - test_dests\n"
	".text\n"

	"begin test_wrapper\n"
	"call test_poll\nret\n"
	"finish test_wrapper\n"

	"begin test_twice\n"
	"test %edi, %edi\nje 1f\ncmp $1, %esi\nje 2f\nret\n"
	"1: cmp $1, %esi\nje 3f\nret\n"
	"2: panic test_inner\n"
	"3: panic test_other\n"
	"finish test_twice\n"

	"begin test_plain\n"
	"nop\nret\n"
	"finish test_plain\n");

static struct image *img;
static struct resumed *bodies;
static struct target_file self;
static uint64_t base;

static int first_base(struct dl_phdr_info *info, size_t sz, void *ctx)
{
	(void)sz;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

static uint64_t vaddr_of(void (*function)(void))
{
	return (uint64_t)(uintptr_t)function - base;
}

static int open_self(void **state)
{
	struct stat st;

	(void)state;
	dl_iterate_phdr(first_base, &base);
	self.fd = open("/proc/self/exe", O_RDONLY);
	assert_int_equal(fstat(self.fd, &st), 0);
	self.sz = (uint64_t)st.st_size;
	assert_int_equal(image_open(self.fd, self.sz, &img), 0);
	for (size_t i = 0; i < img->segs_cnt; i++)
		if (img->segs[i].is_exec) {
			self.map_start = (img->segs[i].vaddr & ~0xfffull) + base;
			self.map_end = self.map_start + img->segs[i].file_sz + 0x1000;
			self.map_off = img->segs[i].file_off & ~0xfffull;
		}
	assert_int_equal(resumed_open(img, &bodies), 0);
	return 0;
}

static int close_self(void **state)
{
	(void)state;
	resumed_close(bodies);
	resumed_close(NULL);
	image_close(img);
	close(self.fd);
	return 0;
}

/* The place of the outermost body of a function, NULL when there is none. */
static const char *outermost(void (*function)(void), size_t *ret_cnt)
{
	static char place[64];
	const struct resumed_site *sites;
	struct pollflow *p;
	struct starts starts;
	uint64_t start, end;
	int i;

	starts_open(&starts, img);
	assert_int_equal(starts_find(&starts, vaddr_of(function), &start, &end), 0);
	assert_int_equal(start, vaddr_of(function));
	assert_int_equal(pollflow_open(img, start, end, &p), 0);
	*ret_cnt = resumed_between(bodies, start, end, &sites);
	i = pollflow_outermost(p, sites, *ret_cnt);
	pollflow_close(p);
	if (i < 0)
		return NULL;
	assert_int_equal(resumed_place(bodies, &sites[i], place, sizeof(place)), 0);
	return place;
}

static void test_outermost(void **state)
{
	size_t cnt;

	(void)state;
	assert_string_equal(outermost(test_poll, &cnt), "src/outer.rs:10:5");
	assert_int_equal(cnt, 2);
	assert_string_equal(outermost(test_table, &cnt), "src/outer.rs:10:5");
	assert_int_equal(cnt, 2);
	assert_null(outermost(test_twice, &cnt));
	assert_int_equal(cnt, 2);
	assert_null(outermost(test_plain, &cnt));
	assert_int_equal(cnt, 0);
}

static void test_calls(void **state)
{
	struct pollflow *p;
	const uint64_t *calls;
	uint64_t start = vaddr_of(test_wrapper);

	(void)state;
	assert_int_equal(pollflow_open(img, start, start + 6, &p), 0);
	assert_int_equal(pollflow_calls(p, &calls), 1);
	assert_int_equal(calls[0], vaddr_of(test_poll));
	pollflow_close(p);
	pollflow_close(NULL);
	assert_int_equal(pollflow_open(img, start, start, &p), -E2BIG);
	assert_int_equal(pollflow_open(img, start, start + POLLFLOW_FUNC_SZ_MAX + 1, &p), -E2BIG);
	assert_int_equal(pollflow_open(img, 8, 16, &p), -EILSEQ);
}

static void test_broken_location(void **state)
{
	struct resumed_site site = { .location = (uint64_t)(uintptr_t)&test_broken - base };
	char place[64] = "untouched";

	(void)state;
	assert_int_equal(resumed_place(bodies, &site, place, sizeof(place)), -ENOENT);
	site.location = UINT64_MAX - 4;
	assert_int_equal(resumed_place(bodies, &site, place, sizeof(place)), -ENOENT);
	assert_string_equal(place, "untouched");
}

static void test_type_names(void **state)
{
	struct symfile f;
	char name[64];

	(void)state;
	strcpy(self.path, "/opt/self");
	assert_int_equal(symfile_init(&f, &self), 0);
	symfile_prepare(&f);
	assert_int_equal(futuretype_of_code(&f, vaddr_of(test_poll), name, sizeof(name)), 0);
	assert_string_equal(name, "{async@src/outer.rs:10:5}");
	/* through a call */
	assert_int_equal(futuretype_of_code(&f, vaddr_of(test_wrapper), name, sizeof(name)), 0);
	assert_string_equal(name, "{async@src/outer.rs:10:5}");
	assert_int_equal(futuretype_of_code(&f, vaddr_of(test_twice), name, sizeof(name)), -ENOENT);
	assert_int_equal(futuretype_of_code(&f, vaddr_of(test_plain), name, sizeof(name)), -ENOENT);
	/* not the start of a function */
	assert_int_equal(futuretype_of_code(&f, vaddr_of(test_poll) + 1, name, sizeof(name)),
			 -ENOENT);
	assert_int_equal(futuretype_of_code(&f, 8, name, sizeof(name)), -ENOENT);
	symfile_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outermost),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_broken_location),
		cmocka_unit_test(test_type_names),
	};

	return cmocka_run_group_tests(tests, open_self, close_self);
}
