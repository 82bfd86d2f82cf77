/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dieindex.h - from an address to the DWARF entry of its function.
 *
 * Units are found by their address ranges when the index is made; the functions of a unit are
 * collected when it is first asked about, in one walk that never enters function bodies.
 */
#ifndef DIAL9_DIEINDEX_H
#define DIAL9_DIEINDEX_H

#include <elfutils/libdw.h>
#include <stdint.h>

#define DIEINDEX_UNITS_MAX 65536u /* compilation units; further ones are not found */
#define DIEINDEX_RANGES_MAX (1u << 20) /* address ranges of units */
#define DIEINDEX_FUNCTIONS_MAX (2u << 20) /* in all units together, 24 bytes each */
#define DIEINDEX_DIES_MAX (16u << 20) /* entries looked at in one unit */
#define DIEINDEX_DEPTH_MAX 48u /* of namespaces */

struct dieindex;

/* `dwarf` is borrowed. -ENOENT when no unit has addresses, -ENOMEM. */
int dieindex_open(Dwarf *dwarf, struct dieindex **ret);
void dieindex_close(struct dieindex *x);

/* The unit and the function that hold `vaddr`. -ENOENT. */
int dieindex_find(struct dieindex *x, uint64_t vaddr, Dwarf_Die *ret_unit, Dwarf_Die *ret_function,
		  uint64_t *ret_low, uint64_t *ret_high);

#endif /* DIAL9_DIEINDEX_H */
