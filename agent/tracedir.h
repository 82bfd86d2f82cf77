/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracedir.h - TRACE_DIR and the directory of one process in it, open, verified and owned.
 */
#ifndef DIAL9_TRACEDIR_H
#define DIAL9_TRACEDIR_H

#include "dirlock.h"

#include <limits.h>
#include <stdbool.h>

struct tracedir {
	char root[PATH_MAX]; /* TRACE_DIR */
	char path[PATH_MAX]; /* TRACE_DIR/{boot_id} */
	char boot_id[DIRLOCK_BOOT_ID_SZ];
	int root_fd, fd; /* -1 = not open; their numbers stay the same until tracedir_close */
	bool is_new; /* the inner one was made by us */
};

/*
 * Opens both, made with mode 0750 where missing (TRACE_DIR's own parent too), and locks the inner
 * one. Failures are logged: -EBUSY (another agent writes there), -ENAMETOOLONG, and those of
 * dirlock_open_dir; then nothing stays open, and an inner directory that was made is removed.
 */
int tracedir_open(struct tracedir *d, const char *root, const char *boot_id);

/* The directory was removed under us: makes it again. The old descriptors are replaced. */
int tracedir_remake(struct tracedir *d);

/* Closes, and with `remove_empty` removes an inner directory in which nothing is. */
void tracedir_close(struct tracedir *d, bool remove_empty);

#endif /* DIAL9_TRACEDIR_H */
