// SPDX-License-Identifier: Apache-2.0
#include "counter.h"

#include "elfmaker.h"
#include "image.h"
#include "scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/types.h>
#include <string.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

static struct elfmaker maker;

struct pass {
	struct counter_draws draws;
	struct image *img;
};

static int take(const struct scan_hit *hit, void *ctx)
{
	struct pass *p = ctx;

	return counter_hit(&p->draws, p->img, hit);
}

static void search(struct pass *p)
{
	struct elfmaker_file f;

	*p = (struct pass){ .img = NULL };
	elfmaker_load(&maker, &f);
	p->img = f.img;
	assert_int_equal(scan_segment(f.img, &f.img->segs[0], SCAN_CODE, take, p), 0);
	assert_int_equal(counter_settle(&p->draws, f.img, f.relocs, &f.starts), 0);
	elfmaker_unload(&f);
}

/* push rbp; mov rbp,rsp; mov ecx,1; lock xadd [counter],rcx; ret. Returns the xadd's address */
static uint64_t add_direct(uint64_t counter)
{
	uint8_t code[] = "\x55\x48\x89\xe5\xb9\1\0\0\0\xf0\x48\x0f\xc1\x0d\0\0\0\0\x5d\xc3";
	uint64_t at = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
	int32_t disp = (int32_t)(counter - (at + 18));

	memcpy(code + 14, &disp, 4);
	assert_int_equal(elfmaker_code(&maker, code, sizeof(code) - 1), at);
	return at + 9;
}

/* the same with `mov rax,[slot]` before it, and lock xadd [rax],rcx */
static uint64_t add_by_slot(uint64_t slot)
{
	uint8_t code[] =
		"\x55\x48\x89\xe5\x48\x8b\x05\0\0\0\0\xb9\1\0\0\0\xf0\x48\x0f\xc1\x08\x5d\xc3";
	uint64_t at = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
	int32_t disp = (int32_t)(slot - (at + 11));

	memcpy(code + 7, &disp, 4);
	assert_int_equal(elfmaker_code(&maker, code, sizeof(code) - 1), at);
	return at + 16;
}

/* what GNU ld makes of that load: `lea rax,[counter]`, or in files of fixed addresses mov rax,imm */
static uint64_t add_by_address(uint64_t counter, bool is_fixed)
{
	uint8_t code[] =
		"\x55\x48\x89\xe5\x48\x8d\x05\0\0\0\0\xb9\1\0\0\0\xf0\x48\x0f\xc1\x08\x5d\xc3";
	uint64_t at = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
	int32_t disp = (int32_t)(is_fixed ? counter : counter - (at + 11));

	if (is_fixed)
		memcpy(code + 4, "\x48\xc7\xc0", 3);
	memcpy(code + 7, &disp, 4);
	assert_int_equal(elfmaker_code(&maker, code, sizeof(code) - 1), at);
	return at + 16;
}

static void test_relaxed(void **state)
{
	uint64_t counter, lea, fixed;
	struct pass p;

	(void)state;
	elfmaker_init(&maker, true);
	counter = elfmaker_word(&maker, 1);
	lea = add_by_address(counter, false);
	fixed = add_by_address(counter, true);
	add_by_address(elfmaker_word(&maker, 7), false); /* starts at another number */
	add_by_address(ELFMAKER_CODE, false); /* not data */
	/* overwritten in between: lea rax,[rip]; mov rax,rdi; lock xadd [rax],rcx */
	elfmaker_code(&maker,
		      "\x55\x48\x89\xe5\x48\x8d\x05\0\0\0\0\x48\x89\xf8\xf0\x48\x0f\xc1\x08\xc3", 20);
	search(&p);
	assert_int_equal(p.draws.cnt, 2);
	assert_int_equal(p.draws.draws[0].vaddr, lea);
	assert_int_equal(p.draws.draws[1].vaddr, fixed);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(p.draws.draws[i].counter, counter);
		assert_int_equal(p.draws.draws[i].reg, WIRE_RCX);
	}
	counter_done(&p.draws);
}

/* a function that does no more than draw: its callers are what can be probed, the number in rax */
static void test_leaf(void **state)
{
	/* push rbp; mov rbp,rsp; mov eax,1; lock xadd [counter],rax; pop rbp; ret */
	uint8_t leaf[] = "\x55\x48\x89\xe5\xb8\1\0\0\0\xf0\x48\x0f\xc1\x05\0\0\0\0\x5d\xc3";
	/* push rbp; mov rbp,rsp; call leaf; pop rbp; ret */
	uint8_t caller[] = "\x55\x48\x89\xe5\xe8\0\0\0\0\x5d\xc3";
	uint64_t counter, at, func[2];
	struct pass p;
	int32_t disp;

	(void)state;
	elfmaker_init(&maker, true);
	counter = elfmaker_word(&maker, 1);
	at = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
	disp = (int32_t)(counter - (at + 18));
	memcpy(leaf + 14, &disp, 4);
	assert_int_equal(elfmaker_code(&maker, leaf, sizeof(leaf) - 1), at);
	for (int i = 0; i < 2; i++) {
		func[i] = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
		disp = (int32_t)(at - (func[i] + 9));
		memcpy(caller + 5, &disp, 4);
		assert_int_equal(elfmaker_code(&maker, caller, sizeof(caller) - 1), func[i]);
	}
	search(&p);
	assert_int_equal(p.draws.cnt, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(p.draws.draws[i].vaddr, func[i] + 4);
		assert_int_equal(p.draws.draws[i].after, func[i] + 9);
		assert_int_equal(p.draws.draws[i].func, func[i]);
		assert_int_equal(p.draws.draws[i].counter, counter);
		assert_int_equal(p.draws.draws[i].reg, WIRE_RAX);
	}
	counter_done(&p.draws);
}

static void test_direct_and_slot(void **state)
{
	uint64_t counter, slot, direct, by_slot;
	struct pass p;

	(void)state;
	elfmaker_init(&maker, true);
	counter = elfmaker_word(&maker, 1);
	slot = elfmaker_pointer(&maker, counter);
	direct = add_direct(counter);
	by_slot = add_by_slot(slot);
	search(&p);
	assert_int_equal(p.draws.cnt, 2);
	assert_int_equal(p.draws.draws[0].vaddr, direct);
	assert_int_equal(p.draws.draws[0].after, direct + 9);
	assert_int_equal(p.draws.draws[0].func, direct - 9);
	assert_int_equal(p.draws.draws[1].vaddr, by_slot);
	assert_int_equal(p.draws.draws[1].after, by_slot + 5);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(p.draws.draws[i].counter, counter);
		assert_int_equal(p.draws.draws[i].reg, WIRE_RCX);
		assert_int_equal(p.draws.draws[i].group_cnt, 2);
	}
	counter_done(&p.draws);
}

static void test_other_counters(void **state)
{
	struct pass p;

	(void)state;
	elfmaker_init(&maker, true);
	add_direct(elfmaker_word(&maker, 0)); /* starts at zero */
	add_direct(elfmaker_word(&maker, 2));
	add_direct(elfmaker_word(&maker, 1) + 4); /* not aligned */
	add_direct(ELFMAKER_CODE); /* not data */
	add_direct(ELFMAKER_DATA + (1ull << 30)); /* nowhere */
	add_by_slot(elfmaker_pointer(&maker, ELFMAKER_TEXT));
	/* a reference count: the register comes from no slot */
	elfmaker_code(&maker, "\x55\x48\x89\xe5\xf0\x48\x0f\xc1\x07\xc3", 10);
	/* 32 bits wide */
	elfmaker_code(&maker, "\x55\x48\x89\xe5\xf0\x0f\xc1\x05\0\0\0\0\xc3", 13);
	search(&p);
	assert_int_equal(p.draws.cnt, 0);
	counter_done(&p.draws);
}

static void test_largest_first(void **state)
{
	uint64_t small, large;
	struct pass p;

	(void)state;
	elfmaker_init(&maker, false);
	small = elfmaker_word(&maker, 1);
	large = elfmaker_word(&maker, 1);
	add_direct(small);
	for (int i = 0; i < 3; i++)
		add_direct(large);
	search(&p);
	assert_int_equal(p.draws.cnt, 4);
	for (int i = 0; i < 3; i++)
		assert_int_equal(p.draws.draws[i].counter, large);
	assert_int_equal(p.draws.draws[3].counter, small);
	counter_done(&p.draws);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_direct_and_slot),
		cmocka_unit_test(test_relaxed),
		cmocka_unit_test(test_leaf),
		cmocka_unit_test(test_other_counters),
		cmocka_unit_test(test_largest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
