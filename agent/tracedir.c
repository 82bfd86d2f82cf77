// SPDX-License-Identifier: Apache-2.0
/* tracedir.c - opens, makes again and leaves the directory that segments go to. */
#include "tracedir.h"

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OWN_RETRIES 50 /* of 10 ms: another agent may be looking for orphans in there */

/* /var/lib/dial9 on a fresh machine. A failure shows when the directory itself is made. */
static void tracedir_make_parent(const char *root)
{
	char parent[PATH_MAX];
	char *slash;

	snprintf(parent, sizeof(parent), "%s", root);
	slash = strrchr(parent, '/');
	if (slash && slash != parent) {
		*slash = '\0';
		if (mkdir(parent, 0750) == 0 && chmod(parent, 0750) < 0)
			log_warn(0, "cannot set the mode of %s, ignoring", parent);
	}
}

static int tracedir_own(int fd, const char *path)
{
	int err = -EBUSY;

	for (int i = 0; i < OWN_RETRIES && err == -EBUSY; i++) {
		err = dirlock_own_dir(fd);
		if (err == -EBUSY)
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return err ? log_error(err, "%s: another agent writes there: stop it first", path) : 0;
}

int tracedir_open(struct tracedir *d, const char *root, const char *boot_id)
{
	size_t len = strlen(root);
	int err;

	*d = (struct tracedir){ .root_fd = -1, .fd = -1 };
	while (len > 1 && root[len - 1] == '/')
		len--; /* O_NOFOLLOW would follow "link/" */
	if (len + 1 + strlen(boot_id) >= sizeof(d->path) || strlen(boot_id) >= sizeof(d->boot_id))
		return log_error(-ENAMETOOLONG, "trace directory %s: its name is too long", root);
	memcpy(d->root, root, len);
	memcpy(d->path, root, len);
	d->path[len] = '/';
	strcpy(d->path + len + 1, boot_id);
	strcpy(d->boot_id, boot_id);

	tracedir_make_parent(d->root);
	d->root_fd = dirlock_open_dir(AT_FDCWD, d->root, true, NULL);
	err = d->root_fd < 0 ? d->root_fd : 0;
	if (err == 0) {
		d->fd = dirlock_open_dir(d->root_fd, d->boot_id, true, &d->is_new);
		err = d->fd < 0 ? d->fd : tracedir_own(d->fd, d->path);
	}
	if (err)
		tracedir_close(d, d->is_new);
	return err;
}

int tracedir_remake(struct tracedir *d)
{
	struct tracedir again;
	int err = tracedir_open(&again, d->root, d->boot_id);

	if (err)
		return err;
	if (dup3(again.root_fd, d->root_fd, O_CLOEXEC) < 0 || dup3(again.fd, d->fd, O_CLOEXEC) < 0)
		err = -errno;
	tracedir_close(&again, false);
	return err;
}

void tracedir_close(struct tracedir *d, bool remove_empty)
{
	/* refused by the kernel when anything is in it */
	if (remove_empty && d->fd >= 0)
		unlinkat(d->root_fd, d->boot_id, AT_REMOVEDIR);
	if (d->fd >= 0)
		close(d->fd);
	if (d->root_fd >= 0)
		close(d->root_fd);
	d->root_fd = d->fd = -1;
}
