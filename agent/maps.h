/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - one line of /proc/PID/maps, parsed.
 *
 * The kernel writes "A-B perms offset major:minor inode  path", with newlines in the path as \012
 * and nothing else escaped; " (deleted)" is appended to the path of an unlinked file. The text is
 * taken as hostile all the same: paths come from the target.
 */
#ifndef DIAL9_MAPS_H
#define DIAL9_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_entry {
	uint64_t start, end, off; /* end > start */
	uint64_t ino; /* 0 = no file behind it */
	uint32_t dev_major, dev_minor;
	bool is_exec;
	bool is_deleted;
	const char *path; /* points into the line; "" = anonymous. " (deleted)" is cut off */
	size_t path_len;
};

/* Parses `len` bytes without the newline. 0, or -EINVAL when it is not such a line. */
int maps_parse(const char *line, size_t len, struct maps_entry *ret);

#endif /* DIAL9_MAPS_H */
