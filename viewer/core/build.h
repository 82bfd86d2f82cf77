/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - columns from files, in memory: every step of index.h but the cache. */
#ifndef DIAL9_BUILD_H
#define DIAL9_BUILD_H

#include <stddef.h>

struct columns;
struct gather;
struct index_file;
struct index_opt;

/* As index_open; store_close gives the columns back. */
int build_run(struct columns **ret, const struct index_file *files, size_t files_cnt,
	      const struct index_opt *opt);

/* Its two halves: file `at` is taken; all that was gathered becomes columns. 0 or a negative errno,
 * but for what index_open says of a file that is damaged or cannot be opened. */
int build_file(struct gather *g, const struct index_file *files, size_t at,
	       const struct index_opt *opt);
int build_tables(struct columns **ret, struct gather *g);

#endif /* DIAL9_BUILD_H */
