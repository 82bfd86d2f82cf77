/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dict.h - byte strings (or arrays) to small numbers, each kept once, in the order of first sight.
 */
#ifndef DIAL9_DICT_H
#define DIAL9_DICT_H

#include <stddef.h>
#include <stdint.h>

struct dict {
	uint32_t cnt, cap; /* entries; cap is the most there may be */
	size_t bytes_max;
	uint32_t over; /* the number that further ones get */
	uint64_t over_cnt;
	uint32_t *ends; /* [i]: where entry i ends in bytes */
	size_t ends_cap;
	char *bytes;
	size_t bytes_sz, bytes_cap;
	uint32_t *slots, slots_cnt;
	uint64_t seed; /* of the hash: no file can be made to collide */
};

/* cap entries of together bytes_max bytes (at most 4 GiB); beyond, dict_put gives `over`. */
void dict_init(struct dict *d, uint32_t cap, size_t bytes_max, uint32_t over);
void dict_free(struct dict *d);

/* Forgets all but the first cnt. */
void dict_rewind(struct dict *d, uint32_t cnt);

/* The number of a string, which may be part of one that is here; *err becomes -ENOMEM and the number `over` without memory. */
uint32_t dict_put(struct dict *d, const void *p, size_t len, int *err);

/* A number that no file can know. */
uint64_t dict_seed(void);

static inline const char *dict_get(const struct dict *d, uint32_t i, size_t *ret_len)
{
	uint32_t from = i ? d->ends[i - 1] : 0;

	*ret_len = d->ends[i] - from;
	return d->bytes + from;
}

#endif /* DIAL9_DICT_H */
