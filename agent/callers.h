/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callers.h - which instructions of a file call a function directly.
 *
 * Found by bytes: a relative call or jump whose destination is exactly the function. What looks
 * like one by chance has an arbitrary destination, so it is next to never a given function's start;
 * the user of an answer still checks it against the debug info.
 */
#ifndef DIAL9_CALLERS_H
#define DIAL9_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#define CALLERS_MAX (4u << 20) /* sites kept, 8 bytes each; further ones are not found */
#define CALLERS_ALIGN 16u /* only functions on such addresses, as compilers place them */

struct callers;
struct image;

/* Reads all code of the file once. -ENOENT no code, -ENOMEM, -EIO. */
int callers_open(struct image *img, struct callers **ret);
void callers_close(struct callers *c);

/* The nth (0, 1, ...) call or jump to `function`. -ENOENT past the last. */
int callers_nth(const struct callers *c, uint64_t function, size_t nth, uint64_t *ret_site);

#endif /* DIAL9_CALLERS_H */
