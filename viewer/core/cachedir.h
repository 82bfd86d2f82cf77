/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cachedir.h - the directory of cached indexes: found, made, kept below a size.
 */
#ifndef DIAL9_CACHEDIR_H
#define DIAL9_CACHEDIR_H

#include <stddef.h>
#include <stdint.h>

/* Opens the directory (a descriptor), making it if need be. dir NULL: dial9-view in
 * $XDG_CACHE_HOME, else in $HOME/.cache. -ENOENT where there is none to be had; -EPERM if it is
 * not this user's own, or others may write to it. */
int cachedir_open(const char *dir);

/* Opens a cached file for reading and marks it as used. A descriptor, or negative errno. */
int cachedir_find(int dir, const char *name);

/* A new file without a name yet; cachedir_publish gives it one, or cachedir_drop forgets it.
 * `temp` takes its temporary name. */
#define CACHEDIR_TEMP_SZ 32u
int cachedir_new(int dir, char temp[CACHEDIR_TEMP_SZ]);
int cachedir_publish(int dir, const char *temp, const char *name);
void cachedir_drop(int dir, const char *temp);

/* Removes the least recently used files until at most max_sz bytes are left, and temporary ones
 * an hour old. `keep` stays. */
void cachedir_trim(int dir, uint64_t max_sz, const char *keep);

#endif /* DIAL9_CACHEDIR_H */
