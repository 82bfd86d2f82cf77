/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - what tells one list of files from another, and a file from itself when it has changed.
 */
#ifndef DIAL9_IDENTITY_H
#define DIAL9_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_file;

#define IDENTITY_SETTLED_S 2 /* a file changed since may change again without a new mtime */

struct identity { /* of a file that cannot be asked: all 0 but the last two */
	uint64_t dev, ino, sz, mtime_ns, is_after_gap, decoded_max_sz;
};

/* One for each file, to be freed. NULL: no memory. *ret_err: 0, -ENOMEM, or the errno of the first
 * file if none can be asked. */
struct identity *identity_new(const struct index_file *files, size_t cnt, uint64_t decoded_max_sz,
			      int *ret_err);

uint64_t identity_hash(const struct identity *id, size_t cnt, uint64_t seed);

/* Were they changed long enough ago? */
bool identity_is_settled(const struct identity *id, size_t cnt);

#endif /* DIAL9_IDENTITY_H */
