/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits.h - the instructions by which a function returns: its `ret`s and its tail jumps.
 *
 * At each of them the stack pointer stands where it stood at the function's entry. A probe there
 * sees the end of one function alone, where a return site sees that of all that are called from its
 * place; the kernel must single-step a `ret`. A function that does nothing but jump to another is
 * taken for that one.
 */
#ifndef DIAL9_EXITS_H
#define DIAL9_EXITS_H

#include <stddef.h>
#include <stdint.h>

#include "code.h"

#define EXITS_MAX 16 /* of one function; more: -ENOENT */
#define EXITS_FOLLOW_MAX 3 /* functions that only jump on */

struct image;
struct starts;

struct exits {
	struct code_op ops[EXITS_MAX]; /* by address */
	size_t cnt;
};

/*
 * All exits of the function that begins at `func`, from decoding it from end to end, or none at
 * all: -ENOENT, *ret_reason (static) says why.
 */
int exits_find(struct image *img, const struct starts *starts, uint64_t func, struct exits *ret,
	       const char **ret_reason);

#endif /* DIAL9_EXITS_H */
