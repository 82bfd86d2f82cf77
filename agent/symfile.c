// SPDX-License-Identifier: Apache-2.0
/* symfile.c - opens the sources of names of one file. */
#include "symfile.h"

#include "callers.h"
#include "debuginfo.h"
#include "elfsyms.h"
#include "image.h"
#include "locations.h"
#include "resumed.h"
#include "rustname.h"
#include "sections.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int symfile_init(struct symfile *f, const struct target_file *from)
{
	const char *slash = strrchr(from->path, '/');
	int fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	*f = (struct symfile){
		.fd = fd,
		.sz = from->sz,
		.map_start = from->map_start,
		.map_end = from->map_end,
		.map_off = from->map_off,
		.debug_fd = -1,
	};
	snprintf(f->module, sizeof(f->module), "%.*s", (int)sizeof(f->module) - 1,
		 slash ? slash + 1 : from->path);
	rustname_clean(f->module);
	return 0;
}

void symfile_done(struct symfile *f)
{
	resumed_close(f->resumed);
	locations_close(f->locations);
	callers_close(f->callers);
	debuginfo_close(f->debug);
	elfsyms_close(f->syms);
	image_close(f->image);
	if (f->debug_fd >= 0)
		close(f->debug_fd);
	if (f->fd >= 0)
		close(f->fd);
	f->fd = f->debug_fd = -1;
}

/* The separate debug file of that build id, or -ENOENT. */
static int symfile_open_debug(const char *build_id, struct sections **ret)
{
	char path[128], other[41];
	struct sections *sections = NULL;
	struct stat st;
	int fd;

	if (strlen(build_id) < 16)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%.2s/%s.debug", SYMFILE_DEBUG_DIR, build_id, build_id + 2);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -ENOENT;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0 && !(st.st_mode & 022) &&
	    sections_read(fd, (uint64_t)st.st_size, &sections) == 0) {
		sections_build_id(sections, fd, other);
		if (strcmp(other, build_id) == 0) {
			*ret = sections;
			return fd;
		}
	}
	free(sections);
	close(fd);
	return -ENOENT;
}

void symfile_prepare(struct symfile *f)
{
	struct sections *own = NULL, *separate = NULL;

	if (f->is_opened)
		return;
	f->is_opened = true;
	if (image_open(f->fd, f->sz, &f->image))
		f->image = NULL;
	if (f->image && image_bias(f->image, f->map_start, f->map_off, &f->bias)) {
		image_close(f->image);
		f->image = NULL;
	}
	if (!f->image)
		return;
	if (sections_read(f->fd, f->sz, &own) == 0)
		debuginfo_open(f->fd, own, &f->debug);
	if (!f->debug && (!own || !sections_find(own, ".symtab"))) {
		f->debug_fd = symfile_open_debug(f->image->build_id, &separate);
		if (f->debug_fd >= 0) {
			debuginfo_open(f->debug_fd, separate, &f->debug);
			elfsyms_open(f->debug_fd, separate, &f->syms);
		}
	}
	if (!f->syms && own)
		elfsyms_open(f->fd, own, &f->syms);
	free(separate);
	free(own);
}

void symfile_trace(struct symfile *f)
{
	if (f->has_tried_trace || !f->image)
		return;
	f->has_tried_trace = true;
	if (callers_open(f->image, &f->callers))
		f->callers = NULL;
	if (locations_open(f->image, &f->locations))
		f->locations = NULL;
}

void symfile_bodies(struct symfile *f)
{
	if (f->has_tried_bodies || !f->image)
		return;
	f->has_tried_bodies = true;
	if (resumed_open(f->image, &f->resumed))
		f->resumed = NULL;
}
