/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * siteregs.bpf.h - where a site's cookie says that the task header (or id) and the frame are.
 */
#ifndef DIAL9_SITEREGS_BPF_H
#define DIAL9_SITEREGS_BPF_H

/* One register of the probed thread. In assembly: the verifier refuses a variable offset into the
 * context, which is what the compiler makes of several plain loads. */
#define SITEREGS_LOAD(ctx, field)                                                                  \
	({                                                                                         \
		__u64 reg_;                                                                        \
		asm volatile("%0 = *(u64 *)(%1 + %2)"                                              \
			     : "=r"(reg_)                                                          \
			     : "r"(ctx), "i"(offsetof(struct pt_regs, field)));                    \
		reg_;                                                                              \
	})

/* Of the less usual registers; not a helper's read of the context, which takes 30 ns. */
static __always_inline __u64 siteregs_other(struct pt_regs *ctx, __u8 reg)
{
	switch (reg) {
	case WIRE_RAX:
		return SITEREGS_LOAD(ctx, rax);
	case WIRE_RCX:
		return SITEREGS_LOAD(ctx, rcx);
	case WIRE_RDX:
		return SITEREGS_LOAD(ctx, rdx);
	case WIRE_RBP:
		return SITEREGS_LOAD(ctx, rbp);
	case WIRE_R8:
		return SITEREGS_LOAD(ctx, r8);
	case WIRE_R9:
		return SITEREGS_LOAD(ctx, r9);
	case WIRE_R10:
		return SITEREGS_LOAD(ctx, r10);
	case WIRE_R11:
		return SITEREGS_LOAD(ctx, r11);
	case WIRE_R12:
		return SITEREGS_LOAD(ctx, r12);
	case WIRE_R13:
		return SITEREGS_LOAD(ctx, r13);
	case WIRE_R15:
		return SITEREGS_LOAD(ctx, r15);
	default:
		return 0;
	}
}

/* The header (or id) that the cookie locates. */
static __always_inline __u64 siteregs_value(struct pt_regs *ctx, __u64 cookie)
{
	__u8 reg = WIRE_COOKIE_REG(cookie);
	__u64 off, value = 0;

	if (reg == WIRE_RDI)
		return SITEREGS_LOAD(ctx, rdi);
	if (reg == WIRE_RBX)
		return SITEREGS_LOAD(ctx, rbx);
	if (reg == WIRE_RSI)
		return SITEREGS_LOAD(ctx, rsi);
	if (reg == WIRE_R14)
		return SITEREGS_LOAD(ctx, r14);
	if (reg != WIRE_RSP)
		return siteregs_other(ctx, reg);
	off = 8 * WIRE_COOKIE_STACK_WORD(cookie);
	user_word(WIRE_COOKIE_BELOW_RBP(cookie) ? SITEREGS_LOAD(ctx, rbp) - off :
						  SITEREGS_LOAD(ctx, rsp) + off,
		  &value);
	return value;
}

/* Where the stack pointer stood at function entry, or right after the return. */
static __always_inline __u64 siteregs_sp(struct pt_regs *ctx, __u64 cookie)
{
	return ctx->rsp + 8 * WIRE_COOKIE_PUSHED(cookie);
}

#endif /* DIAL9_SITEREGS_BPF_H */
