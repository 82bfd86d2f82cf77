/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - x86-64 instructions, boiled down to what choosing a probe site needs.
 *
 * The decoder's types stay in code.c. Registers are numbered as instructions encode them (enum
 * wire_reg); CODE_NONE stands for none. What the kernel emulates in a uprobe (so that a hit costs
 * one trap and no single-step): push of a 64-bit register, relative jmp and jcc, relative call,
 * and a one-byte nop, also with a 66 prefix.
 */
#ifndef DIAL9_CODE_H
#define DIAL9_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_NONE 0xff
#define CODE_FUNC_SZ_MAX (1u << 20) /* a function is decoded this far, no further */
#define CODE_CALL_CLOBBERS 0x0fc7u /* rax rcx rdx rsi rdi r8-r11: what a call may change */

struct image;
struct starts;

enum code_flow {
	CODE_NEXT, /* goes on to the following instruction, always */
	CODE_JUMP, /* relative jmp: dest */
	CODE_BRANCH, /* relative jcc: dest or the following */
	CODE_CALL, /* relative call: dest */
	CODE_CALL_INDIRECT,
	CODE_JUMP_INDIRECT,
	CODE_STOP /* ret, trap, syscall and whatever else leaves the straight line */
};

struct code_op {
	uint64_t vaddr;
	uint64_t dest; /* of a relative jump or call */
	uint64_t mem_addr; /* absolute address of a rip-relative operand, 0 = none */
	int64_t mem_disp;
	int32_t stack_sz; /* bytes by which the instruction lowers rsp: push 8, pop -8 */
	uint16_t writes; /* bit n: register n is written, whole or in part */
	uint8_t len;
	uint8_t mem_sz; /* bytes the memory operand has; 0 = none, or more than 255 */
	uint8_t flow; /* enum code_flow */
	uint8_t mem_base, mem_index; /* CODE_NONE when absent or rip */
	uint8_t load_to; /* mov r64, [mem]: r64 */
	uint8_t store_from; /* mov [mem], r64: r64 */
	uint8_t copy_to, copy_from; /* mov r64, r64 */
	uint8_t lea_to; /* lea r64, [mem]: r64 (mem_addr is set when rip-relative; has_mem is not) */
	uint8_t xadd_reg; /* lock xadd [mem], r64: r64 */
	uint8_t call_reg; /* call/jmp r64: r64 (mem_base then is CODE_NONE) */
	bool has_mem;
	bool writes_mem; /* through the memory operand */
	bool is_emulated; /* by the kernel, in a uprobe */
	bool is_steppable; /* the kernel accepts a probe here and single-steps it */
	uint8_t bytes[15];
};

/* Decodes one instruction from `sz` bytes. -EILSEQ: there is none. */
int code_decode(const uint8_t *bytes, size_t sz, uint64_t vaddr, struct code_op *ret);
/* The same from a file. -EILSEQ; -EFAULT when the address holds no code. */
int code_read(struct image *img, uint64_t vaddr, struct code_op *ret);

/* "mov rax, [rdi+0x10]", cut to fit. */
void code_format(const struct code_op *op, char *buf, size_t sz);

/*
 * The start of the function that holds `vaddr`, with proof that `vaddr` is the first byte of an
 * instruction: an unwind table entry, or else the nearest frame-pointer or padded prologue before
 * it, and in both cases decoding from there reaches `vaddr` exactly. Calls `step` (may be NULL) on
 * each instruction from the start up to but without `vaddr`. -ENOENT: not proven.
 */
int code_prove(struct image *img, const struct starts *starts, uint64_t vaddr, uint64_t *ret_start,
	       void (*step)(const struct code_op *op, void *ctx), void *ctx);

#endif /* DIAL9_CODE_H */
