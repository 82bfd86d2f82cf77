/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - columns from files, in memory: every step of index.h but the cache. */
#ifndef DIAL9_BUILD_H
#define DIAL9_BUILD_H

#include <stddef.h>

struct columns;
struct index_file;
struct index_opt;

/* As index_open; store_close gives the columns back. */
int build_run(struct columns **ret, const struct index_file *files, size_t files_cnt,
	      const struct index_opt *opt);

#endif /* DIAL9_BUILD_H */
