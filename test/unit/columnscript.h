/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columnscript.h - the events of an eventscript as columns.
 */
#ifndef DIAL9_COLUMNSCRIPT_H
#define DIAL9_COLUMNSCRIPT_H

#include "eventscript.h"
#include "viewer/core/columns.h"
#include "viewer/core/index.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Ends the script; index_close gives the columns back. Inline: it is of use only to tests that
 * link the viewer. */
static inline struct columns *columnscript_end(struct eventscript *s)
{
	static const struct index_opt opt = { .cache_dir = "" };
	char path[] = "/tmp/dial9-script-XXXXXX";
	struct index_file file = { path, false };
	struct columns *c = NULL;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, s->enc.buf, s->enc.len), s->enc.len);
	close(fd);
	d9_pool_free(s->pool);
	assert_int_equal(index_open(&c, &file, 1, &opt), 0);
	unlink(path);
	return c;
}

#endif /* DIAL9_COLUMNSCRIPT_H */
