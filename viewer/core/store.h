/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - columns as one file, to be mapped again.
 *
 * A head (magic, layout, identity, row counts, hashes), then every column in the order of
 * columns.def, each on a 64-byte boundary. Places follow from the row counts, so none is in the
 * file. Opening checks size, both hashes and every reference; what passes can be read without
 * further checks. The numbers are in the machine's own byte order: a cache, no exchange format.
 */
#ifndef DIAL9_STORE_H
#define DIAL9_STORE_H

#include <stddef.h>

struct columns;

#define STORE_IDENTITY_MAX (64u << 20) /* bytes; more is -E2BIG */

/* Writes to a descriptor from its start. 0, -E2BIG or the errno of write(2). */
int store_write(const struct columns *c, int fd, const void *identity, size_t identity_sz);

/* Maps a file; fd may be closed then. 0; -EILSEQ if it is not whole, sound and of this identity;
 * -ENOMEM or another errno. store_close gives it back. */
int store_open(struct columns **ret, int fd, const void *identity, size_t identity_sz);

/* Of store_open, or of columns made by tables_alloc and malloc. NULL is fine. */
void store_close(struct columns *c);

#endif /* DIAL9_STORE_H */
