/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - the columns of a recording that grows: what was decoded once is not decoded again.
 *
 * What was gathered of the files that do not change any more stays in memory (about 30 bytes an
 * event); the columns are made of that and of the rest, which is decoded each time. They are those
 * that index_open would make of the same files, but for the seed and the slots of its task table.
 *
 * A file stays if it was changed IDENTITY_SETTLED_S ago or longer and stands before all that do not.
 * If one of them has changed since, is gone (the oldest one, evicted) or has another before it, all
 * begins anew. So it does, and nothing is kept from then on, if what is to be kept exceeds its cap.
 */
#ifndef DIAL9_LIVE_H
#define DIAL9_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct columns;
struct index_file;
struct index_opt;
struct live;

#define LIVE_FRESH_S 60 /* a file changed since may well be one that grows */

struct live *live_new(void); /* NULL: no memory */
void live_free(struct live *l); /* NULL is fine */

/*
 * As index_open, but for the cache, which is not asked. Of the files the first sealed_cnt will not
 * grow. max_sz: the cap of what is kept, in bytes.
 */
int live_open(struct live *l, struct columns **ret, const struct index_file *files,
	      size_t files_cnt, size_t sealed_cnt, const struct index_opt *opt, uint64_t max_sz);

/* Gives back what is kept; the next live_open begins anew. */
void live_forget(struct live *l);

uint64_t live_sz(const struct live *l); /* bytes kept; of NULL 0 */
size_t live_cnt(const struct live *l); /* files kept */

/* Was this file changed LIVE_FRESH_S ago or later? */
bool live_is_fresh(const char *path);

#endif /* DIAL9_LIVE_H */
