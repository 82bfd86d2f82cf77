// SPDX-License-Identifier: Apache-2.0
/* code.c - Zydis, asked for one instruction at a time, and the proof of function starts. */
#include "code.h"

#include "image.h"
#include "starts.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <string.h>

#define CODE_BACK_SZ 32768u /* how far back a start without unwind entry is looked for */
#define CODE_GUESSES_MAX 8 /* prologues tried */

static uint8_t code_gpr(ZydisRegister reg)
{
	ZydisRegister r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15 ? (uint8_t)ZydisRegisterGetId(r)
								  : CODE_NONE;
}

static bool code_is_reg64(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->reg.value >= ZYDIS_REGISTER_RAX &&
	       o->reg.value <= ZYDIS_REGISTER_R15;
}

/* The forms that arch/x86/kernel/uprobes.c sets up without an out-of-line slot. */
static bool code_kernel_emulates(const uint8_t *b, size_t len)
{
	switch (b[0]) {
	case 0x50 ... 0x57:
		return len == 1;
	case 0x41:
		return len == 2 && b[1] >= 0x50 && b[1] <= 0x57;
	case 0x90:
		return len == 1;
	case 0x66:
		return len == 2 && b[1] == 0x90;
	case 0x70 ... 0x7f:
	case 0xeb:
		return len == 2;
	case 0xe8:
	case 0xe9:
		return len == 5;
	case 0x0f:
		return len == 6 && b[1] >= 0x80 && b[1] <= 0x8f;
	default:
		return false;
	}
}

/* Plain instructions only: what the kernel refuses (bad prefixes) or treats specially is left. */
static bool code_kernel_steps(const ZydisDecodedInstruction *in, const struct code_op *op)
{
	if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || op->flow != CODE_NEXT ||
	    op->mem_addr)
		return false;
	for (unsigned i = 0; i < in->raw.prefix_count; i++)
		if ((in->raw.prefixes[i].value & 0xf0) != 0x40 && in->raw.prefixes[i].value != 0x66)
			return false; /* segment, lock, repeat */
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		/* not moves to segment or control registers */
		return in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && in->opcode >= 0x88 &&
		       in->opcode != 0x8c && in->opcode != 0x8e;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_XOR:
		return true;
	default:
		return false;
	}
}

static enum code_flow code_flow_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o)
{
	bool is_relative = in->operand_count_visible && o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
			   o[0].imm.is_relative;

	switch (in->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return is_relative ? CODE_CALL : CODE_CALL_INDIRECT;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return is_relative ? CODE_JUMP : CODE_JUMP_INDIRECT;
	case ZYDIS_CATEGORY_COND_BR:
		return CODE_BRANCH;
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_IO:
		return CODE_STOP;
	default:
		return in->mnemonic == ZYDIS_MNEMONIC_UD0 || in->mnemonic == ZYDIS_MNEMONIC_UD1 ||
				       in->mnemonic == ZYDIS_MNEMONIC_UD2
			       ? CODE_STOP
			       : CODE_NEXT;
	}
}

static void code_take_memory(struct code_op *op, const ZydisDecodedOperand *o)
{
	op->has_mem = true;
	op->mem_sz = o->size <= 255 * 8 ? (uint8_t)(o->size / 8) : 0;
	op->writes_mem = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	op->mem_disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
	if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS)
		return; /* thread-local: neither base nor address say where */
	if (o->mem.base == ZYDIS_REGISTER_RIP)
		op->mem_addr = op->vaddr + op->len + (uint64_t)op->mem_disp;
	else
		op->mem_base = code_gpr(o->mem.base);
	op->mem_index = code_gpr(o->mem.index);
}

static void code_take_mov(struct code_op *op, const ZydisDecodedOperand *o)
{
	bool is_to_reg = code_is_reg64(&o[0]);

	if (is_to_reg && code_is_reg64(&o[1])) {
		op->copy_to = code_gpr(o[0].reg.value);
		op->copy_from = code_gpr(o[1].reg.value);
	} else if (is_to_reg && o[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		op->load_to = code_gpr(o[0].reg.value);
	} else if (o[0].type == ZYDIS_OPERAND_TYPE_MEMORY && code_is_reg64(&o[1])) {
		op->store_from = code_gpr(o[1].reg.value);
	}
}

static void code_take_operands(struct code_op *op, const ZydisDecodedInstruction *in,
			       const ZydisDecodedOperand *o)
{
	for (unsigned i = 0; i < in->operand_count; i++) {
		if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) {
			uint8_t reg = code_gpr(o[i].reg.value);

			if (reg != CODE_NONE)
				op->writes |= (uint16_t)(1u << reg);
		}
		if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY && i < in->operand_count_visible &&
		    in->mnemonic != ZYDIS_MNEMONIC_NOP)
			code_take_memory(op, &o[i]);
		if (i < in->operand_count_visible && o[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		    o[i].imm.is_relative)
			op->dest = op->vaddr + op->len + o[i].imm.value.u;
	}
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		code_take_mov(op, o);
		break;
	case ZYDIS_MNEMONIC_LEA:
		op->has_mem = op->writes_mem = false;
		if (code_is_reg64(&o[0]))
			op->lea_to = code_gpr(o[0].reg.value);
		break;
	case ZYDIS_MNEMONIC_XADD:
		if (op->has_mem && (in->attributes & ZYDIS_ATTRIB_HAS_LOCK) && code_is_reg64(&o[1]))
			op->xadd_reg = code_gpr(o[1].reg.value);
		break;
	case ZYDIS_MNEMONIC_PUSH:
		op->stack_sz = 8;
		break;
	case ZYDIS_MNEMONIC_POP:
		op->stack_sz = -8;
		break;
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_ADD:
		if (code_is_reg64(&o[0]) && code_gpr(o[0].reg.value) == 4 &&
		    o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			op->stack_sz =
				(int32_t)(in->mnemonic == ZYDIS_MNEMONIC_SUB ? o[1].imm.value.s
									     : -o[1].imm.value.s);
		break;
	default:
		break;
	}
	if ((op->flow == CODE_CALL_INDIRECT || op->flow == CODE_JUMP_INDIRECT) &&
	    code_is_reg64(&o[0]))
		op->call_reg = code_gpr(o[0].reg.value);
}

static void code_init(ZydisDecoder *d)
{
	ZydisDecoderInit(d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

int code_decode(const uint8_t *bytes, size_t sz, uint64_t vaddr, struct code_op *ret)
{
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisDecoder d;

	code_init(&d);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes, sz, &in, o)))
		return -EILSEQ;
	*ret = (struct code_op){
		.vaddr = vaddr,
		.len = in.length,
		.mem_base = CODE_NONE,
		.mem_index = CODE_NONE,
		.load_to = CODE_NONE,
		.store_from = CODE_NONE,
		.copy_to = CODE_NONE,
		.copy_from = CODE_NONE,
		.lea_to = CODE_NONE,
		.xadd_reg = CODE_NONE,
		.call_reg = CODE_NONE,
	};
	memcpy(ret->bytes, bytes, in.length);
	ret->flow = (uint8_t)code_flow_of(&in, o);
	code_take_operands(ret, &in, o);
	ret->is_emulated = code_kernel_emulates(bytes, in.length);
	ret->is_steppable = code_kernel_steps(&in, ret);
	return 0;
}

int code_read(struct image *img, uint64_t vaddr, struct code_op *ret)
{
	const struct image_segment *s = image_segment_at(img, vaddr, 1);
	uint8_t bytes[15];
	size_t n;

	if (!s || !s->is_exec)
		return -EFAULT;
	n = image_read_some(img, vaddr, bytes, sizeof(bytes));
	return n ? code_decode(bytes, n, vaddr, ret) : -EFAULT;
}

void code_format(const struct code_op *op, char *buf, size_t sz)
{
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisFormatter f;
	ZydisDecoder d;

	code_init(&d);
	if (!ZYAN_SUCCESS(ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL)) ||
	    !ZYAN_SUCCESS(ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
						    ZYDIS_PADDING_DISABLED)) ||
	    !ZYAN_SUCCESS(ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE,
						    ZYAN_FALSE)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, op->bytes, op->len, &in, o)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&f, &in, o, in.operand_count_visible, buf,
							  sz, op->vaddr, NULL)))
		buf[0] = '\0';
}

/* Decodes from `start`; 0 when an instruction begins exactly at `vaddr`. */
static int code_reach(struct image *img, uint64_t start, uint64_t vaddr,
		      void (*step)(const struct code_op *op, void *ctx), void *ctx)
{
	ZydisDecodedInstruction in;
	uint8_t window[512];
	size_t have = 0, at = 0;
	struct code_op op;
	ZydisDecoder d;

	if (vaddr - start > CODE_FUNC_SZ_MAX || !image_work(img, vaddr - start))
		return -ENOENT;
	code_init(&d);
	ZydisDecoderEnableMode(&d, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	while (start < vaddr) {
		if (have - at < 15) {
			have = image_read_some(img, start, window, sizeof(window));
			at = 0;
			if (!have)
				return -ENOENT;
		}
		if (step) {
			if (code_decode(window + at, have - at, start, &op))
				return -ENOENT;
			step(&op, ctx);
			in.length = op.len;
		} else if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, window + at,
								       have - at, &in))) {
			return -ENOENT;
		}
		start += in.length;
		at += in.length;
	}
	return start == vaddr ? 0 : -ENOENT;
}

/* Whether a function may begin at b[i] (i >= 1): a prologue, behind padding or with a frame. */
static bool code_looks_like_start(const uint8_t *b, size_t i, size_t n, uint64_t vaddr)
{
	bool is_push = (b[i] >= 0x50 && b[i] <= 0x57) ||
		       (n - i >= 2 && b[i] == 0x41 && b[i + 1] >= 0x50 && b[i + 1] <= 0x57);
	bool is_sub_rsp = n - i >= 4 && b[i] == 0x48 && (b[i + 1] == 0x83 || b[i + 1] == 0x81) &&
			  b[i + 2] == 0xec;

	if (n - i >= 4 && !memcmp(b + i, "\x55\x48\x89\xe5", 4))
		return true;
	/* int3, ret, or the zero tail of a long nop */
	return (vaddr & 15) == 0 && (is_push || is_sub_rsp) &&
	       (b[i - 1] == 0xcc || b[i - 1] == 0xc3 || b[i - 1] == 0x90 || b[i - 1] == 0x00);
}

/*
 * Without an unwind entry: the nearest prologue before `vaddr` that decodes to it, confirmed by
 * decoding through both from the next prologue before it. Two independent decodings that agree on
 * both boundaries cannot both be off: x86 code falls into step within a few instructions.
 */
static int code_guess_start(struct image *img, uint64_t vaddr, uint64_t *ret)
{
	const struct image_segment *s = image_segment_at(img, vaddr, 1);
	static _Thread_local uint8_t b[CODE_BACK_SZ + 4];
	uint64_t from, found = 0;
	unsigned tried = 0;
	size_t n;

	if (!s || !s->is_exec)
		return -ENOENT;
	from = vaddr - s->vaddr > CODE_BACK_SZ ? vaddr - CODE_BACK_SZ : s->vaddr;
	n = (size_t)(vaddr - from);
	if (n + 4 <= s->file_sz - (from - s->vaddr))
		n += 4;
	if (image_read(img, from, b, n))
		return -ENOENT;
	for (size_t i = (size_t)(vaddr - from); i >= 1 && tried < CODE_GUESSES_MAX; i--) {
		if (i >= n || !code_looks_like_start(b, i, n, from + i))
			continue;
		tried++;
		if (found && !code_reach(img, from + i, found, NULL, NULL)) {
			*ret = found;
			return 0;
		}
		/* one that reaches the place but not the last candidate shows that to be data */
		if (!code_reach(img, from + i, vaddr, NULL, NULL))
			found = from + i;
	}
	return -ENOENT;
}

int code_prove(struct image *img, const struct starts *starts, uint64_t vaddr, uint64_t *ret_start,
	       void (*step)(const struct code_op *op, void *ctx), void *ctx)
{
	uint64_t start, end;

	if (starts_find(starts, vaddr, &start, &end) && code_guess_start(img, vaddr, &start))
		return -ENOENT;
	if (code_reach(img, start, vaddr, step, ctx))
		return -ENOENT;
	*ret_start = start;
	return 0;
}
