// SPDX-License-Identifier: Apache-2.0
#include "wordcache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/wire.h"
#include "dirlock.h"
#include "log.h"

static bool wordcache_is_id(const char *id, size_t len)
{
	return len && len <= WORDCACHE_ID_MAX && len % 2 == 0 &&
	       strspn(id, "0123456789abcdef") >= len;
}

/* One line without its newline, which stands behind it. */
static bool wordcache_parse_line(const char *line, struct wordcache_build *ret)
{
	size_t len = strcspn(line, " \n");
	unsigned long off;
	char *end;

	if (!wordcache_is_id(line, len) || line[len] != ' ' || line[len + 1] < '1' ||
	    line[len + 1] > '9')
		return false;
	off = strtoul(line + len + 1, &end, 10);
	if (off % 8 || off > 8 * WIRE_TLS_WORDS_MAX || end[0] != ' ' ||
	    (end[1] != '0' && end[1] != '1') || end[2] != '\n')
		return false;
	memcpy(ret->id, line, len);
	ret->id[len] = '\0';
	ret->word = (struct wordcache_word){ .off = (uint32_t)off, .has_tag = end[1] == '1' };
	return true;
}

bool wordcache_parse(const char *text, size_t sz, struct wordcache *ret)
{
	const char *end;

	ret->cnt = 0;
	if (strlen(text) != sz || strncmp(text, WORDCACHE_HEAD, strlen(WORDCACHE_HEAD)) != 0)
		return false;
	for (text += strlen(WORDCACHE_HEAD); *text; text = end + 1) {
		end = strchr(text, '\n');
		if (!end || ret->cnt == WORDCACHE_BUILDS_MAX ||
		    !wordcache_parse_line(text, &ret->builds[ret->cnt])) {
			ret->cnt = 0;
			return false;
		}
		ret->cnt++;
	}
	return true;
}

static void wordcache_read(const char *path, struct wordcache *ret)
{
	char text[WORDCACHE_SZ_MAX + 1];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *why = NULL;
	struct stat st;
	ssize_t sz;

	ret->cnt = 0;
	if (fd < 0 && errno == ENOENT)
		return;
	if (fd < 0 || fstat(fd, &st) < 0)
		why = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		why = "it is no file";
	else if (st.st_uid != geteuid() || (st.st_mode & 022))
		why = "others may write it";
	else if ((sz = read(fd, text, sizeof(text) - 1)) < 0)
		why = strerror(errno);
	else {
		text[sz] = '\0';
		if (!wordcache_parse(text, (size_t)sz, ret))
			why = "it is damaged";
	}
	if (why)
		log_warn(0, "the task words kept in %s are not used: %s; remove it", path, why);
	if (fd >= 0)
		close(fd);
}

int wordcache_find(const char *path, const char *build_id, struct wordcache_word *ret)
{
	struct wordcache c;

	if (strcmp(path, WORDCACHE_NONE) == 0 || !wordcache_is_id(build_id, strlen(build_id)))
		return -ENOENT;
	wordcache_read(path, &c);
	for (size_t i = 0; i < c.cnt; i++)
		if (strcmp(c.builds[i].id, build_id) == 0) {
			*ret = c.builds[i].word;
			return 0;
		}
	return -ENOENT;
}

/* The directory of `path`, ours alone to write; *ret_name is what follows in `path`. */
static int wordcache_dir(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];

	if (!slash || slash == path || !slash[1] || (size_t)(slash - path) >= sizeof(dir))
		return log_warn(-EINVAL, "DIAL9_TASK_WORDS=%s: name a file in a directory, or none",
				path);
	*ret_name = slash + 1;
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = '\0';
	/* where nothing can be made, nothing is kept: no word about it */
	if (mkdir(dir, 0750) < 0 && errno != EEXIST)
		return -errno;
	return dirlock_open_dir(AT_FDCWD, dir, false, NULL);
}

size_t wordcache_print(const struct wordcache *c, char text[WORDCACHE_SZ_MAX + 1])
{
	size_t sz = (size_t)snprintf(text, WORDCACHE_SZ_MAX + 1, "%s", WORDCACHE_HEAD);

	for (size_t i = 0; i < c->cnt; i++)
		sz += (size_t)snprintf(text + sz, WORDCACHE_SZ_MAX + 1 - sz, "%s %u %d\n",
				       c->builds[i].id, c->builds[i].word.off,
				       c->builds[i].word.has_tag);
	return sz;
}

static int wordcache_write(int dir_fd, const char *name, const struct wordcache *c)
{
	char text[WORDCACHE_SZ_MAX + 1], fresh[NAME_MAX + 1];
	size_t sz = wordcache_print(c, text);
	int fd, err = 0;

	if ((size_t)snprintf(fresh, sizeof(fresh), ".%s.%d", name, (int)getpid()) >= sizeof(fresh))
		return -ENAMETOOLONG;
	unlinkat(dir_fd, fresh, 0); /* of a killed agent with our pid */
	fd = openat(dir_fd, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0)
		return -errno;
	errno = EIO; /* of a short write */
	if (write(fd, text, sz) != (ssize_t)sz || renameat(dir_fd, fresh, dir_fd, name) < 0)
		err = -errno;
	if (err)
		unlinkat(dir_fd, fresh, 0);
	close(fd);
	return err;
}

int wordcache_put(const char *path, const char *build_id, const struct wordcache_word *w)
{
	struct wordcache old, new = { .cnt = 0 };
	const char *name = NULL;
	int dir_fd, err;

	if (strcmp(path, WORDCACHE_NONE) == 0 || !wordcache_is_id(build_id, strlen(build_id)))
		return 0;
	dir_fd = wordcache_dir(path, &name);
	if (dir_fd < 0)
		return dir_fd;
	wordcache_read(path, &old);
	if (w) {
		snprintf(new.builds[0].id, sizeof(new.builds[0].id), "%s", build_id);
		new.builds[new.cnt++].word = *w;
	}
	for (size_t i = 0; i < old.cnt && new.cnt < WORDCACHE_BUILDS_MAX; i++)
		if (strcmp(old.builds[i].id, build_id) != 0)
			new.builds[new.cnt++] = old.builds[i];
	err = wordcache_write(dir_fd, name, &new);
	close(dir_fd);
	return err ? log_warn(err, "cannot keep task words in %s: %s", path, strerror(-err)) : 0;
}
