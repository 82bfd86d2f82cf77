/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - which registers hold the same value, along a straight line of instructions.
 *
 * Two registers with the same number hold the same value. Branch targets are not considered: the
 * caller uses the answer as evidence for a shape, never as proof that memory may be read.
 */
#ifndef DIAL9_VALUES_H
#define DIAL9_VALUES_H

#include <stdint.h>

struct code_op;

struct values {
	uint32_t of[16]; /* by enum wire_reg */
	uint32_t next;
};

/* Every register holds a value of its own: that of function entry, numbered by the register. */
void values_init(struct values *v);
void values_step(struct values *v, const struct code_op *op);

#endif /* DIAL9_VALUES_H */
