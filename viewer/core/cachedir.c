// SPDX-License-Identifier: Apache-2.0
/* cachedir.c - files of the cache by name, in a directory that is nobody else's. */
#include "cachedir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CACHEDIR_SUFFIX ".d9x"
#define CACHEDIR_TEMP_PREFIX "new-"
#define CACHEDIR_TEMP_S 3600
#define CACHEDIR_FILES_MAX 65536u /* looked at in one trim */

static int cachedir_path(char *path, size_t sz)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int len;

	if (xdg && *xdg == '/')
		len = snprintf(path, sz, "%s", xdg);
	else if (home && *home == '/')
		len = snprintf(path, sz, "%s/.cache", home);
	else
		return -ENOENT;
	if (len < 0 || (size_t)len + sizeof("/dial9-view") > sz)
		return -ENAMETOOLONG;
	mkdir(path, 0700); /* one that is there, or cannot be made, shows below */
	strcat(path, "/dial9-view");
	return 0;
}

int cachedir_open(const char *dir)
{
	char path[4096];
	struct stat st;
	int fd, err;

	if (!dir) {
		err = cachedir_path(path, sizeof(path));
		if (err)
			return err;
		dir = path;
	}
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return -errno;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

int cachedir_find(int dir, const char *name)
{
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		close(fd);
		return -EPERM;
	}
	futimens(fd, NULL);
	return fd;
}

int cachedir_new(int dir, char temp[CACHEDIR_TEMP_SZ])
{
	uint64_t number;
	int fd;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return -errno;
	snprintf(temp, CACHEDIR_TEMP_SZ, CACHEDIR_TEMP_PREFIX "%016llx",
		 (unsigned long long)number);
	fd = openat(dir, temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : fd;
}

int cachedir_publish(int dir, const char *temp, const char *name)
{
	return renameat(dir, temp, dir, name) == 0 ? 0 : -errno;
}

void cachedir_drop(int dir, const char *temp)
{
	unlinkat(dir, temp, 0);
}

struct cached {
	char name[64];
	uint64_t sz;
	struct timespec used;
};

static int compare_use(const void *left, const void *right)
{
	const struct cached *a = left, *b = right;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	if (a->used.tv_nsec != b->used.tv_nsec)
		return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool has_suffix(const char *name)
{
	size_t len = strlen(name), suffix = strlen(CACHEDIR_SUFFIX);

	return len > suffix && len < sizeof(((struct cached *)0)->name) &&
	       strcmp(name + len - suffix, CACHEDIR_SUFFIX) == 0;
}

void cachedir_trim(int dir, uint64_t max_sz, const char *keep)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct cached *all = NULL, *grown;
	uint64_t sum = 0;
	size_t cnt = 0;
	struct dirent *e;
	struct stat st;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (cnt < CACHEDIR_FILES_MAX && (e = readdir(d))) {
		if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		if (strncmp(e->d_name, CACHEDIR_TEMP_PREFIX, strlen(CACHEDIR_TEMP_PREFIX)) == 0 &&
		    st.st_mtim.tv_sec + CACHEDIR_TEMP_S < time(NULL))
			unlinkat(dir, e->d_name, 0);
		if (!has_suffix(e->d_name))
			continue;
		if ((cnt & (cnt - 1)) == 0) { /* room doubles at each power of two */
			grown = realloc(all, (cnt ? 2 * cnt : 1) * sizeof(*all));
			if (!grown)
				break;
			all = grown;
		}
		all[cnt] = (struct cached){ .sz = (uint64_t)st.st_size, .used = st.st_mtim };
		strcpy(all[cnt].name, e->d_name);
		sum += all[cnt++].sz;
	}
	closedir(d);
	if (cnt)
		qsort(all, cnt, sizeof(*all), compare_use);
	for (size_t i = 0; i < cnt && sum > max_sz; i++) {
		if (strcmp(all[i].name, keep) == 0)
			continue;
		if (unlinkat(dir, all[i].name, 0) == 0)
			sum -= all[i].sz;
	}
	free(all);
}
