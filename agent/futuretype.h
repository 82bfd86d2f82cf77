/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futuretype.h - the future behind a task's vtable, by the names that the compiler left.
 */
#ifndef DIAL9_FUTURETYPE_H
#define DIAL9_FUTURETYPE_H

#include <stddef.h>
#include <stdint.h>

#define FUTURETYPE_CODE_SZ 16384u /* of one function that is searched for calls */
#define FUTURETYPE_VISITS_MAX 32 /* functions searched for one type */

struct symfile;

/* From the poll function's own name (DWARF, then symbol). vaddr. -ENOENT. */
int futuretype_of_poll(struct symfile *f, uint64_t poll, char *buf, size_t sz);

/*
 * From the drop glue that the poll and dealloc functions call, directly or through Tokio's own
 * functions. Compilers merge equal glue of different types, so all names at all of it are looked
 * at: up to FUTURETYPE_TWINS_MAX types that cannot be told apart give "A | B | C". Returns their
 * number; -ENOENT when there are more, or none: no name is better than a wrong one.
 */
#define FUTURETYPE_TWINS_MAX 4
int futuretype_of_glue(struct symfile *f, uint64_t poll, uint64_t dealloc, char *buf, size_t sz);

/*
 * Without any symbol: "{async@src/main.rs:41:18}", the outermost async body that the poll function
 * runs, in itself or in the nearest function it calls. For a future written by hand around one, that
 * body is what tells its tasks apart. -ENOENT when there is none or the code does not prove which.
 */
#define FUTURETYPE_DEPTH_MAX 4 /* calls below the poll function */
int futuretype_of_code(struct symfile *f, uint64_t poll, char *buf, size_t sz);

#endif /* DIAL9_FUTURETYPE_H */
