// SPDX-License-Identifier: Apache-2.0
/* values.c - value numbering reduced to register copies. */
#include "values.h"

#include "code.h"

void values_init(struct values *v)
{
	for (uint32_t i = 0; i < 16; i++)
		v->of[i] = i;
	v->next = 16;
}

void values_step(struct values *v, const struct code_op *op)
{
	uint32_t copied = op->copy_from != CODE_NONE ? v->of[op->copy_from] : 0;
	uint16_t writes = op->writes;

	if (op->flow == CODE_CALL || op->flow == CODE_CALL_INDIRECT)
		writes |= CODE_CALL_CLOBBERS;
	for (unsigned i = 0; i < 16; i++)
		if (writes & 1u << i)
			v->of[i] = v->next++;
	if (op->copy_to != CODE_NONE)
		v->of[op->copy_to] = copied;
}
