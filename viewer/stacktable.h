/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacktable.h - whole stacks, each kept once, and the names of their addresses.
 *
 * Number 0 is the empty stack. At STACKTABLE_MAX stacks or STACKTABLE_FRAMES_MAX addresses further
 * new stacks are number 0 and counted; at STACKTABLE_NAMES_MAX named addresses further ones stay
 * without a name.
 */
#ifndef DIAL9_STACKTABLE_H
#define DIAL9_STACKTABLE_H

#include <stdint.h>

struct d9_ev;
struct d9_value;
struct labels;
struct stacktable;

#define STACKTABLE_MAX (1u << 17)
#define STACKTABLE_FRAMES_MAX (1u << 22)
#define STACKTABLE_NAMES_MAX (1u << 17)
#define STACKTABLE_DEPTH_MAX 512u /* frames of one stack kept, from the leaf on */

struct stacktable *stacktable_new(void); /* NULL: out of memory */
void stacktable_free(struct stacktable *t);

/* Number of a stack value; 0 for NULL, no stack, or at a cap. */
uint32_t stacktable_put(struct stacktable *t, const struct d9_value *stack);

/* Takes a name from a SymbolTableEntry. Names of inlined calls join their caller's: "a;b". */
void stacktable_name(struct stacktable *t, const struct d9_ev *ev, struct labels *labels);

/* The addresses of a stack, leaf first; good until the next stacktable_put. */
const uint64_t *stacktable_frames(const struct stacktable *t, uint32_t stack, uint32_t *ret_cnt);

/* Label of an address, LABEL_UNKNOWN if it has no name. */
uint32_t stacktable_label(const struct stacktable *t, uint64_t addr);

uint32_t stacktable_cnt(const struct stacktable *t); /* number 0 included */
uint64_t stacktable_over_cap(const struct stacktable *t);

#endif /* DIAL9_STACKTABLE_H */
