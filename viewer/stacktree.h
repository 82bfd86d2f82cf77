/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacktree.h - stacks laid over each other from the outermost frame on, with their weights.
 *
 * Node 0 is the root. Frames are labels. At STACKTREE_MAX nodes a stack ends at the last frame
 * that found room, and is counted.
 */
#ifndef DIAL9_STACKTREE_H
#define DIAL9_STACKTREE_H

#include <stdint.h>

#define STACKTREE_MAX (1u << 20)

struct labels;

struct stacktree_node {
	uint32_t label, child, next; /* child: the first one; next: of the same parent; 0 = none */
	uint64_t total, self;
};

struct stacktree {
	struct stacktree_node *nodes;
	uint32_t cnt, room;
	uint64_t cut; /* stacks */
};

/* An all-zero struct is an empty tree. */
void stacktree_done(struct stacktree *t);

/* Adds `weight` to the stack of `cnt` labels, outermost first. 0 or -ENOMEM. */
int stacktree_add(struct stacktree *t, const uint32_t *labels, uint32_t cnt, uint64_t weight);

/* Orders each node's children: heaviest first, then by name. 0 or -ENOMEM. */
int stacktree_sort(struct stacktree *t, const struct labels *labels);

#endif /* DIAL9_STACKTREE_H */
