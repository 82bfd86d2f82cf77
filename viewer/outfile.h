/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile.h - a file that appears under its name only when it is whole.
 *
 * What fails is said in a notice. "-" is standard output, which must not be a terminal.
 */
#ifndef DIAL9_OUTFILE_H
#define DIAL9_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct outfile {
	FILE *f;
	const char *name; /* borrowed; "-" */
	char *temp; /* beside it; NULL: standard output */
	bool force;
};

/* force: `name` may be replaced. 0 or negative errno. */
int outfile_open(struct outfile *o, const char *name, bool force);

/* Writes out what is left and puts the file in its place; with err (of the one who wrote) nonzero
 * the file is dropped. 0 or negative errno. */
int outfile_close(struct outfile *o, int err);

#endif /* DIAL9_OUTFILE_H */
