/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile.h - a file that appears under its name only when it is whole.
 *
 * What fails is said in a notice. "-" is standard output, which must not be a terminal. What is no
 * file but a device or a pipe is written to as it is.
 */
#ifndef DIAL9_OUTFILE_H
#define DIAL9_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct outfile {
	FILE *f;
	const char *name; /* borrowed; "-" */
	char *temp; /* beside it; NULL: standard output, a device or a pipe */
	bool force;
};

/* force: `name` may be replaced. 0 or negative errno. */
int outfile_open(struct outfile *o, const char *name, bool force);

/* What mends a failure to write to `name`, as the end of a message. */
const char *outfile_remedy(const char *name, int err);

/* Writes out what is left and puts the file in its place; with err (of the one who wrote) nonzero
 * the file is dropped. 0 or negative errno. */
int outfile_close(struct outfile *o, int err);

#endif /* DIAL9_OUTFILE_H */
