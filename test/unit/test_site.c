// SPDX-License-Identifier: Apache-2.0
#include "site.h"

#include "code.h"
#include "elfmaker.h"
#include "image.h"
#include "relocs.h"
#include "starts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/types.h>
#include <string.h>
#include <unistd.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

static struct elfmaker maker;
static struct site_miss miss;

static int choose_at(uint64_t vaddr, struct site_query q, struct plan_site *s)
{
	struct starts starts;
	struct relocs *relocs = NULL;
	struct image *img = NULL;
	uint64_t sz;
	int fd = elfmaker_open(&maker, &sz), err;

	q.vaddr = vaddr;
	memset(s, 0, sizeof(*s));
	assert_int_equal(image_open(fd, sz, &img), 0);
	assert_int_equal(relocs_open(img, &relocs), 0);
	starts_open(&starts, img);
	err = site_choose(img, relocs, &starts, &q, s, &miss);
	if (!err)
		assert_int_equal(s->file_off, s->vaddr - ELFMAKER_CODE + 0x1000);
	relocs_close(relocs);
	image_close(img);
	close(fd);
	return err;
}

/* offset of the site in the code, or the error */
static int choose(const char *bytes, size_t sz, struct site_query q, struct plan_site *s)
{
	uint64_t at;
	int err;

	elfmaker_init(&maker, true);
	at = elfmaker_code(&maker, bytes, sz);
	err = choose_at(at, q, s);
	return err ? err : (int)(s->vaddr - at);
}
#define CHOOSE(bytes, s, ...) \
	choose(bytes, sizeof(bytes) - 1, (struct site_query){ __VA_ARGS__ }, s)
#define ENTRY .reg = WIRE_RDI, .is_entry = true

static void test_entry(void **state)
{
	struct plan_site s;

	(void)state;
	assert_int_equal(CHOOSE("\x55\x48\x89\xe5\xc3", &s, ENTRY), 0);
	assert_int_equal(s.reg, WIRE_RDI);
	assert_int_equal(s.pushed_words, 0);
	assert_true(s.is_emulated);
	assert_string_equal(s.insn, "push rbp");
	/* endbr64; push */
	assert_int_equal(CHOOSE("\xf3\x0f\x1e\xfa\x53\xc3", &s, ENTRY), 4);
	/* sub rsp,0x18; mov rax,[rdi]; call: three words down */
	assert_int_equal(CHOOSE("\x48\x83\xec\x18\x48\x8b\x07\xe8\0\0\0\0", &s, ENTRY), 7);
	assert_int_equal(s.pushed_words, 3);
	/* mov rsi,rdi; mov rdi,[rdi]; jmp: the header is in rsi now */
	assert_int_equal(CHOOSE("\x48\x89\xfe\x48\x8b\x3f\xe9\0\0\0\0", &s, ENTRY), 6);
	assert_int_equal(s.reg, WIRE_RSI);
}

static void test_lost_value(void **state)
{
	struct plan_site s;

	(void)state;
	/* mov rdi,[rdi]; jmp */
	assert_int_equal(CHOOSE("\x48\x8b\x3f\xe9\0\0\0\0", &s, ENTRY), -ENOENT);
	assert_non_null(strstr(miss.reason, "overwritten"));
	/* stepped is allowed: the first instruction still has it */
	assert_int_equal(CHOOSE("\x48\x8b\x3f\xe9\0\0\0\0", &s, ENTRY, .allow_stepped = true), 0);
	assert_false(s.is_emulated);
	/* sub rsp,0x28; mov [rsp+0x18],rdi; xor edi,edi; call */
	assert_int_equal(
		CHOOSE("\x48\x83\xec\x28\x48\x89\x7c\x24\x18\x31\xff\xe8\0\0\0\0", &s, ENTRY),
		-ENOENT);
	assert_non_null(strstr(miss.reason, "stack"));
	assert_int_equal(CHOOSE("\x48\x83\xec\x28\x48\x89\x7c\x24\x18\x31\xff\xe8\0\0\0\0", &s,
				ENTRY, .allow_stack = true),
			 11);
	assert_int_equal(s.reg, WIRE_RSP);
	assert_int_equal(s.stack_word, 3);
	assert_false(s.is_below_rbp);
	/* ... overwritten there before the call */
	assert_int_equal(CHOOSE("\x48\x83\xec\x28\x48\x89\x7c\x24\x18\x31\xff\x48\x89\x44\x24\x18"
				"\xe8\0\0\0\0",
				&s, ENTRY, .allow_stack = true),
			 -ENOENT);
	/* ... or only a neighbour */
	assert_int_equal(CHOOSE("\x48\x83\xec\x28\x48\x89\x7c\x24\x18\x31\xff\x48\x89\x44\x24\x10"
				"\x48\x89\x44\x24\x20\xe8\0\0\0\0",
				&s, ENTRY, .allow_stack = true),
			 21);
	/* ... by the upper half of a vector store just below */
	assert_int_equal(CHOOSE("\x48\x83\xec\x28\x48\x89\x7c\x24\x18\x31\xff\x0f\x11\x44\x24\x10"
				"\xe8\0\0\0\0",
				&s, ENTRY, .allow_stack = true),
			 -ENOENT);
	/* sub rsp,0x28; lea rax,[rsp+0x10]; mov [rax],rcx; mov [rax+8],rdi; mov rdi,rax; call: the
	 * word at [rsp+0x18] by another name */
	assert_int_equal(CHOOSE("\x48\x83\xec\x28\x48\x8d\x44\x24\x10\x48\x89\x08"
				"\x48\x89\x78\x08\x48\x89\xc7\xe8\0\0\0\0",
				&s, ENTRY, .allow_stack = true),
			 19);
	assert_int_equal(s.reg, WIRE_RSP);
	assert_int_equal(s.stack_word, 3);
	assert_int_equal(s.pushed_words, 5);
	/* ... overwritten by way of a copy of that name, before the call */
	assert_int_equal(CHOOSE("\x48\x83\xec\x28\x48\x8d\x44\x24\x10\x48\x89\x78\x08"
				"\x48\x89\xc7\x48\x89\x4f\x08\xe8\0\0\0\0",
				&s, ENTRY, .allow_stack = true),
			 -ENOENT);
	/* ... the name is another's before the store */
	assert_int_equal(CHOOSE("\x48\x83\xec\x28\x48\x8d\x44\x24\x10\x48\x89\xc8"
				"\x48\x89\x78\x08\x31\xff\xe8\0\0\0\0",
				&s, ENTRY, .allow_stack = true),
			 -ENOENT);
	/* in the red zone below rsp: no cookie tells that */
	assert_int_equal(
		CHOOSE("\x48\x89\x7c\x24\xf8\x31\xff\xe8\0\0\0\0", &s, ENTRY, .allow_stack = true),
		-ENOENT);
	/* and rsp,-64: how far down is not known */
	assert_int_equal(CHOOSE("\x48\x83\xe4\xc0\x55", &s, ENTRY), -ENOENT);
	assert_non_null(strstr(miss.reason, "unknown amount"));
}

static void test_below_rbp(void **state)
{
	struct plan_site s;

	(void)state;
	/* mov [rbp-0x30],rcx; xor ecx,ecx; je */
	assert_int_equal(CHOOSE("\x48\x89\x4d\xd0\x31\xc9\x74\x00", &s, .reg = WIRE_RCX,
				.allow_stack = true),
			 6);
	assert_int_equal(s.reg, WIRE_RSP);
	assert_int_equal(s.stack_word, 6);
	assert_true(s.is_below_rbp);
	/* rbp changes in between */
	assert_int_equal(CHOOSE("\x48\x89\x4d\xd0\x31\xc9\x48\x89\xe5\x74\x00", &s, .reg = WIRE_RCX,
				.allow_stack = true),
			 -ENOENT);
	/* loaded back into another register */
	assert_int_equal(
		CHOOSE("\x48\x89\x4d\xd0\x31\xc9\x48\x8b\x55\xd0\x74\x00", &s, .reg = WIRE_RCX),
		10);
	assert_int_equal(s.reg, WIRE_RDX);
}

static void test_calls(void **state)
{
	struct plan_site s;

	(void)state;
	/* mov rbx,rcx; call rax; test; je */
	assert_int_equal(CHOOSE("\x48\x89\xcb\xff\xd0\x48\x85\xdb\x74\x00", &s, .reg = WIRE_RCX,
				.pass_calls = true),
			 8);
	assert_int_equal(s.reg, WIRE_RBX);
	assert_int_equal(CHOOSE("\xff\xd0\x74\x00", &s, .reg = WIRE_RCX, .pass_calls = true),
			 -ENOENT);
	assert_int_equal(CHOOSE("\x48\x89\xcb\xff\xd0\x74\x00", &s, .reg = WIRE_RCX), -ENOENT);
	assert_non_null(strstr(miss.reason, "indirect call"));
	/* behind a return nothing is held */
	assert_int_equal(CHOOSE("\x31\xff\xe8\0\0\0\0", &s, .reg = CODE_NONE), 2);
	assert_int_equal(CHOOSE("\x48\x83\xc4\x18\xc3", &s, .reg = CODE_NONE), -ENOENT);
	assert_true(miss.is_ret);
	assert_non_null(strstr(miss.reason, "ends or branches"));
	assert_int_equal(miss.popped_sz, 0x20); /* and the return address */
	/* add rsp,8; pop rbx; jmp: two words up */
	assert_int_equal(CHOOSE("\x48\x83\xc4\x08\x5b\xe9\0\0\0\0", &s, .reg = CODE_NONE), 5);
	assert_true(s.is_popped);
	assert_int_equal(s.pushed_words, 2);
	assert_int_equal(CHOOSE("\x5b\x74\x00", &s, .reg = CODE_NONE, .popped_sz = 0x20), 1);
	assert_int_equal(s.pushed_words, 5);
	/* an entry cannot lie above its own return address */
	assert_int_equal(CHOOSE("\x5b\x74\x00", &s, ENTRY), -ENOENT);
}

static void test_loops(void **state)
{
	char line[3 * SITE_INSNS_MAX + 1];
	struct plan_site s;

	(void)state;
	/* mov rax,[rdi]; again: lock cmpxchg [rdi],rdx; jne again */
	assert_int_equal(CHOOSE("\x48\x8b\x07\xf0\x48\x0f\xb1\x17\x75\xf9\xc3", &s, ENTRY),
			 -ENOENT);
	assert_non_null(strstr(miss.reason, "loop"));
	/* the same jump forward */
	assert_int_equal(CHOOSE("\x48\x8b\x07\xf0\x48\x0f\xb1\x17\x75\x01\xc3\xc3", &s, ENTRY), 8);
	/* multi-byte nops and endless straight lines are no sites */
	assert_int_equal(CHOOSE("\x0f\x1f\x44\0\0\x0f\x1f\x44\0\0\xc3", &s, ENTRY), -ENOENT);
	assert_int_equal(CHOOSE("\x0f\x1f\x44\0\0\xc3", &s, ENTRY, .allow_stepped = true), -ENOENT);
	for (int i = 0; i < SITE_INSNS_MAX; i++)
		memcpy(line + 3 * i, "\x48\x89\xf8", 3); /* mov rax,rdi */
	line[3 * SITE_INSNS_MAX] = 0x55;
	assert_int_equal(choose(line, sizeof(line), (struct site_query){ ENTRY }, &s), -ENOENT);
	assert_int_equal(choose(line + 3, sizeof(line) - 3, (struct site_query){ ENTRY }, &s),
			 3 * (SITE_INSNS_MAX - 1));
}

/* jmp [rip+slot], as a wrapper ends in a build without LTO */
static void test_tail_jump(void **state)
{
	uint8_t jump[] = "\x48\x89\xfe\xff\x25\0\0\0\0"; /* mov rsi,rdi; jmp [rip+x] */
	struct site_query q = { ENTRY };
	uint64_t target, wrapper, slot;
	struct plan_site s;
	int32_t disp;

	(void)state;
	elfmaker_init(&maker, true);
	target = elfmaker_code(&maker, "\x31\xff\x53\xc3", 4);
	slot = elfmaker_pointer(&maker, target);
	wrapper = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
	disp = (int32_t)(slot - (wrapper + 9));
	memcpy(jump + 5, &disp, 4);
	assert_int_equal(elfmaker_code(&maker, jump, 9), wrapper);
	assert_int_equal(choose_at(wrapper, q, &s), 0);
	assert_int_equal(s.vaddr, target + 2);
	assert_int_equal(s.reg, WIRE_RSI);
	/* a slot that holds no code */
	maker.relas[0].addend = ELFMAKER_DATA;
	assert_int_equal(choose_at(wrapper, q, &s), -ENOENT);
}

/* call [rip+slot]; add rsp,0x10; pop rbx; ret: what a poll returns to in code optimised for size */
static void test_own_calls(void **state)
{
	uint8_t code[] = "\xff\x15\0\0\0\0\x48\x83\xc4\x10\x5b\xc3";
	struct site_query q = { .reg = CODE_NONE };
	uint64_t target, at, slot;
	struct plan_site s;
	int32_t disp;

	(void)state;
	elfmaker_init(&maker, true);
	target = elfmaker_code(&maker, "\x31\xff\xc3", 3);
	slot = elfmaker_pointer(&maker, target);
	at = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
	disp = (int32_t)(slot - (at + 6));
	memcpy(code + 2, &disp, 4);
	assert_int_equal(elfmaker_code(&maker, code, sizeof(code) - 1), at);
	assert_int_equal(choose_at(at, q, &s), -ENOENT);
	assert_false(miss.is_ret);
	q.pass_own_calls = true;
	assert_int_equal(choose_at(at, q, &s), -ENOENT);
	assert_true(miss.is_ret);
	assert_int_equal(miss.popped_sz, 0x20);
	/* what another file does there is not known */
	maker.relas[0].addend = 0;
	assert_int_equal(choose_at(at, q, &s), -ENOENT);
	assert_false(miss.is_ret);
}

static void test_bad_bytes(void **state)
{
	struct plan_site s;

	(void)state;
	assert_int_equal(CHOOSE("\x06", &s, ENTRY), -ENOENT);
	assert_string_equal(miss.reason, "undecodable bytes");
	/* the code ends in the middle of an instruction */
	assert_int_equal(CHOOSE("\x48\x8b", &s, ENTRY), -ENOENT);
	elfmaker_init(&maker, true);
	assert_int_equal(choose_at(ELFMAKER_DATA, (struct site_query){ ENTRY }, &s), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entry),	  cmocka_unit_test(test_lost_value),
		cmocka_unit_test(test_below_rbp), cmocka_unit_test(test_calls),
		cmocka_unit_test(test_loops),	  cmocka_unit_test(test_tail_jump),
		cmocka_unit_test(test_own_calls), cmocka_unit_test(test_bad_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
