/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resumed.h - where the async bodies of a stripped Rust file stand.
 *
 * Each compiled async block or fn ends, in its poll function, in a call that panics with "`async fn`
 * resumed after completion" and hands over its own source place. That survives stripping and LTO:
 * it is how a task gets a name when no symbol is left.
 */
#ifndef DIAL9_RESUMED_H
#define DIAL9_RESUMED_H

#include <stddef.h>
#include <stdint.h>

#define RESUMED_MAX 65536u /* async bodies in one file; further ones have no name */
#define RESUMED_PATH_MAX 512u /* longer file names are not taken */

#define RESUMED_LEA_SZ 7u

struct image;
struct resumed;

struct resumed_site {
	uint64_t vaddr; /* where its panic begins: RESUMED_LEA_SZ bytes, then the call */
	uint64_t location; /* of its core::panic::Location */
};

/* Borrows `img`. -ENOENT: no such panic (no async code, or an older compiler's form), -ENOMEM,
 * -EIO, -ENOEXEC. */
int resumed_open(struct image *img, struct resumed **ret);
void resumed_close(struct resumed *r);

/* Sites in [start, end), by address: *ret points into the table. Returns their number. */
size_t resumed_between(const struct resumed *r, uint64_t start, uint64_t end,
		       const struct resumed_site **ret);

/* "src/main.rs:41:18" of a site. -ENOENT. */
int resumed_place(struct resumed *r, const struct resumed_site *site, char *buf, size_t sz);

#endif /* DIAL9_RESUMED_H */
