// SPDX-License-Identifier: Apache-2.0
/* outfile.c - written beside its place, then linked or renamed into it. */
#include "outfile.h"

#include "notice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does the directory that `name` is to be in exist? */
static bool outfile_has_place(const char *name)
{
	const char *slash = strrchr(name, '/');
	char *place = slash ? strndup(name, (size_t)(slash - name) + 1) : NULL;
	bool is_there = !slash || (place && access(place, F_OK) == 0);

	free(place);
	return is_there;
}

const char *outfile_remedy(const char *name, int err)
{
	switch (err) {
	case -ENOENT:
		return outfile_has_place(name) ? "no file can be made there: give --output another place"
					       : "make its directory first (mkdir -p)";
	case -ENOTDIR:
		return "a file stands where it names a directory: give --output another name";
	case -ENOSPC:
	case -EDQUOT:
		return "make room there, or give --output another place";
	case -ENAMETOOLONG:
		return "give --output a shorter name";
	case -EFBIG:
		return "raise the limit on file sizes (ulimit -f)";
	default:
		return "give --output a place that you may write to";
	}
}

static int outfile_failed(const struct outfile *o, int err)
{
	return notice(err, "%s: cannot write it: %s: %s", o->name, notice_text(err),
		      outfile_remedy(o->name, err));
}

static int outfile_exists(const struct outfile *o)
{
	return notice(-EEXIST, "%s: exists already: give --force to replace it", o->name);
}

/* A device or a pipe: nothing to replace, nothing to keep. */
static int outfile_open_device(struct outfile *o)
{
	int fd = open(o->name, O_WRONLY | O_CLOEXEC | O_NOCTTY), err;

	if (fd >= 0 && isatty(fd)) {
		close(fd);
		return notice(-EINVAL, "%s: is a terminal: give --output a file", o->name);
	}
	if (fd >= 0)
		o->f = fdopen(fd, "w");
	if (o->f)
		return 0;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return outfile_failed(o, err);
}

int outfile_open(struct outfile *o, const char *name, bool force)
{
	mode_t mask = umask(0);
	struct stat st;
	int fd, err;

	umask(mask);
	*o = (struct outfile){ .name = name, .force = force };
	if (strcmp(name, "-") == 0) {
		o->f = stdout;
		return isatty(STDOUT_FILENO)
			       ? notice(-EINVAL,
					"standard output is a terminal: give --output FILE")
			       : 0;
	}
	if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
		return notice(-EISDIR, "%s: is a directory: give --output a file in it", name);
	if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
		return outfile_open_device(o);
	if (!force && lstat(name, &st) == 0)
		return outfile_exists(o);
	if (asprintf(&o->temp, "%s.XXXXXX", name) < 0) {
		o->temp = NULL;
		return outfile_failed(o, -ENOMEM);
	}
	fd = mkostemp(o->temp, O_CLOEXEC);
	if (fd >= 0)
		o->f = fdopen(fd, "w+");
	if (!o->f) {
		err = -errno;
		if (fd >= 0) {
			close(fd);
			unlink(o->temp);
		}
		free(o->temp);
		o->temp = NULL;
		return outfile_failed(o, err);
	}
	fchmod(fd, 0666 & ~mask); /* mkostemp makes it private */
	return 0;
}

/* link() rather than rename() where nothing may be replaced: it fails if somebody made the name
 * meanwhile. */
static int outfile_publish(const struct outfile *o)
{
	if (!o->force) {
		if (link(o->temp, o->name) == 0) {
			unlink(o->temp);
			return 0;
		}
		if (errno == EEXIST)
			return outfile_exists(o);
		/* a file system without hard links */
	}
	return rename(o->temp, o->name) == 0 ? 0 : outfile_failed(o, -errno);
}

int outfile_close(struct outfile *o, int err)
{
	if (!o->f)
		return err;
	if (err == 0 && (fflush(o->f) != 0 || ferror(o->f)))
		err = outfile_failed(o, errno ? -errno : -EIO);
	if (!o->temp) {
		if (o->f != stdout && fclose(o->f) != 0 && err == 0)
			err = outfile_failed(o, -errno);
		return err;
	}
	if (err == 0 && fsync(fileno(o->f)) != 0)
		err = outfile_failed(o, -errno);
	fclose(o->f);
	if (err == 0)
		err = outfile_publish(o);
	if (err)
		unlink(o->temp);
	free(o->temp);
	return err;
}
