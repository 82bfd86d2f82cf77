/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addrs.h - the set of code addresses that occur in one segment's stacks, to be named when it is
 * sealed. Fixed memory; further addresses are counted and stay without a name.
 */
#ifndef DIAL9_ADDRS_H
#define DIAL9_ADDRS_H

#include <stddef.h>
#include <stdint.h>

#define ADDRS_MAX 65536

struct addrs;

int addrs_new(struct addrs **ret);
void addrs_free(struct addrs *a);

void addrs_add(struct addrs *a, const uint64_t *addrs, size_t cnt);

/* Sorted, unique; valid until the next call. */
const uint64_t *addrs_sorted(struct addrs *a, size_t *ret_cnt);

/* A new segment. */
void addrs_clear(struct addrs *a);

/* Addresses that found no room, all segments together. */
uint64_t addrs_over_cap(const struct addrs *a);

#endif /* DIAL9_ADDRS_H */
