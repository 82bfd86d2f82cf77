/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traceset.h - which files a FILE or DIR argument stands for.
 *
 * A file is one recording of one segment. A directory may hold segments itself, hold {boot_id}/
 * directories with segments (each the recording of one process), or both. A segment is a regular
 * file called STEM.N.bin or STEM.bin, with .zst or .gz and .active behind it as the case may be;
 * other names are passed over, and so are hidden ones and anything reached through a symbolic
 * link inside the directory. Recordings are sorted by name; segments by stem, then by number (as
 * numbers), sealed before .active.
 */
#ifndef DIAL9_TRACESET_H
#define DIAL9_TRACESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACESET_FILES_MAX 1000000u /* segments in all; more is -E2BIG */
#define TRACESET_NO_NUMBER UINT64_MAX

struct traceset_file {
	char *path; /* as to be opened */
	const char *name; /* its last part, within path */
	uint64_t number; /* N, or TRACESET_NO_NUMBER */
	size_t stem_len; /* of name */
	uint64_t sz; /* when it was listed */
	bool is_active; /* still written, or left by a recorder that was killed */
};

struct traceset_recording {
	char *name; /* {boot_id}, or the name of the directory or file */
	struct traceset_file *files;
	size_t files_cnt; /* at least 1 */
};

struct traceset {
	struct traceset_recording *recordings;
	size_t recordings_cnt; /* at least 1 */
	uint64_t sz; /* of all files */
};

/*
 * Lists what `path` holds. 0; or, after a notice, a negative errno, -ENODATA when there is no
 * segment. traceset_close frees what it holds, in either case.
 */
int traceset_open(const char *path, struct traceset *ret);
void traceset_close(struct traceset *set);

/* True and the missing number (the first of them) if a segment is missing before `file`: same
 * stem and number not one more than the file's before it. */
bool traceset_is_hole(const struct traceset_recording *rec, size_t file, uint64_t *ret_missing);

#endif /* DIAL9_TRACESET_H */
