/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retain.h - which sealed segments are kept: the names of segment files, sizes, eviction.
 *
 * It keeps no books: each call looks at the directory, so files that people or other agents add
 * or remove never make it drift. It touches nothing but names of its own form in directories
 * named like a boot id, and never an .active file.
 */
#ifndef DIAL9_RETAIN_H
#define DIAL9_RETAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RETAIN_NAME_SZ 64
#define RETAIN_DIRS_MAX 65536 /* boot id directories looked at; further ones are not counted */

/* "trace.7.bin.zst", plus ".active" while it is open. `extension` is "", ".gz" or ".zst". */
void retain_name(char ret[RETAIN_NAME_SZ], uint64_t index, const char *extension, bool is_active);

/* True if `name` is one of those; then *ret_index and *ret_is_active are set. */
bool retain_parse(const char *name, uint64_t *ret_index, bool *ret_is_active);

struct retain_sum {
	uint64_t sealed_sz, sealed_cnt; /* bytes by file size */
	uint64_t active_sz, active_cnt;
	uint64_t next_index; /* one above the highest seen, 0 when there is none */
};

/* Looks at one boot id directory. 0 or -errno. */
int retain_measure(int dir_fd, struct retain_sum *ret);

/* Removes the sealed segment with the lowest index. Its size goes to *ret_sz. -ENOENT when there
 * is none. */
int retain_evict_oldest(int dir_fd, uint64_t *ret_sz);

/*
 * Evicts, oldest first, until the sealed segments of the directory take at most `budget_sz`.
 * Adds to *cnt and *sz what went.
 */
int retain_enforce(int dir_fd, uint64_t budget_sz, uint64_t *cnt, uint64_t *sz);

/*
 * The same for a whole trace dir, .active files counted in but not evicted: the segment sealed
 * longest ago goes first, whichever process it belongs to. Directories that end up empty and that
 * no agent owns are removed.
 */
int retain_enforce_all(int trace_fd, uint64_t budget_sz, uint64_t *cnt, uint64_t *sz);

/*
 * Publishes what killed agents left: each .active file in the directory is cut to its size,
 * synced and renamed; an empty one is removed. The caller owns the directory (dirlock_own_dir).
 */
int retain_recover(int dir_fd, uint64_t *ret_cnt);

/* retain_recover on every boot id directory below `trace_fd` that no live agent owns. */
int retain_recover_all(int trace_fd, uint64_t *ret_cnt);

/* Syncs and renames "NAME.active" to "NAME" and syncs the directory. Never replaces a file. */
int retain_publish(int dir_fd, int file_fd, const char *active_name);

#endif /* DIAL9_RETAIN_H */
