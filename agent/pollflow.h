/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pollflow.h - which of the async bodies compiled into one function is the outermost.
 *
 * A compiled async body begins with a dispatch on its state, and one of the ways from there is its
 * "resumed after completion" panic. The bodies it awaits are inlined behind that dispatch. So the
 * outermost is the one from whose dispatch all other panics can be reached and which none of their
 * dispatches can reach. Control flow is followed within the function, jump tables included.
 */
#ifndef DIAL9_POLLFLOW_H
#define DIAL9_POLLFLOW_H

#include <stddef.h>
#include <stdint.h>

#define POLLFLOW_FUNC_SZ_MAX (512u << 10) /* larger functions are not looked at */
#define POLLFLOW_SITES_MAX 128 /* nor those with more bodies */
#define POLLFLOW_TABLE_MAX 512 /* entries of one jump table */
#define POLLFLOW_TABLES_MAX 1024 /* jump tables of one function; further ones lead nowhere */
#define POLLFLOW_CALLS_MAX 256 /* different functions called, further ones are not given */

struct image;
struct pollflow;
struct resumed_site;

/* Decodes [start, end). -E2BIG, -ENOMEM, -EILSEQ (not code from its first byte). */
int pollflow_open(struct image *img, uint64_t start, uint64_t end, struct pollflow **ret);
void pollflow_close(struct pollflow *p);

/* Index of the outermost of `cnt` sites, or -ENOENT when the flow does not prove one. */
int pollflow_outermost(struct pollflow *p, const struct resumed_site *sites, size_t cnt);

/* Functions that it calls directly or jumps to. Returns their number. */
size_t pollflow_calls(const struct pollflow *p, const uint64_t **ret);

#endif /* DIAL9_POLLFLOW_H */
