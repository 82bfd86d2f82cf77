/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wordcache.h - the task words (taskword.h) of builds met before, kept between runs.
 *
 * One small text file: "dial9 task words 1", then a line for each build, the latest first:
 * "<build id> <bytes below the thread pointer> <1 if a tag stands before it, else 0>". What it says
 * is a hint and no more: it is used after the running target has confirmed it.
 *
 * A file that is not wholly of that form, or that others may write, counts as empty, and is logged.
 * Agents that write at the same time replace each other's file, never mix them.
 */
#ifndef DIAL9_WORDCACHE_H
#define DIAL9_WORDCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDCACHE_PATH "/var/lib/dial9/task-words"
#define WORDCACHE_NONE "none" /* in place of a path: nothing is kept */
#define WORDCACHE_BUILDS_MAX 256 /* the build not learnt for longest falls out */

struct wordcache_word {
	uint32_t off; /* bytes below the thread pointer, a multiple of 8 */
	bool has_tag;
};

#define WORDCACHE_ID_MAX 40 /* hex digits of a build id */
#define WORDCACHE_LINE_MAX (WORDCACHE_ID_MAX + 8) /* "<id> 8192 1\n" */
#define WORDCACHE_HEAD "dial9 task words 1\n"
#define WORDCACHE_SZ_MAX (sizeof(WORDCACHE_HEAD) + WORDCACHE_BUILDS_MAX * WORDCACHE_LINE_MAX)

struct wordcache {
	struct wordcache_build {
		char id[WORDCACHE_ID_MAX + 1];
		struct wordcache_word word;
	} builds[WORDCACHE_BUILDS_MAX];
	size_t cnt;
};

/* What a file of `sz` bytes says, behind which a NUL stands. false, and none: not of that form. */
bool wordcache_parse(const char *text, size_t sz, struct wordcache *ret);

/* The file that says it, its size without the NUL behind it: the one way to write it. */
size_t wordcache_print(const struct wordcache *c, char text[WORDCACHE_SZ_MAX + 1]);

/* 0; -ENOENT: that build is not in it. Hostile or damaged files: -ENOENT, and a warning. */
int wordcache_find(const char *path, const char *build_id, struct wordcache_word *ret);

/* Puts the build first, in place of what was known of it; `w` NULL takes it out. The directory is
 * made where only that is missing. 0, or what failed, logged unless there is no place for it at all:
 * nothing depends on it. */
int wordcache_put(const char *path, const char *build_id, const struct wordcache_word *w);

#endif /* DIAL9_WORDCACHE_H */
