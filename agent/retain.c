// SPDX-License-Identifier: Apache-2.0
/* retain.c - looks at trace directories and removes what is over the budgets. */
#include "retain.h"

#include "dirlock.h"
#include "log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_DIGITS_MAX 18 /* keeps an index far below 2^63 */

void retain_name(char ret[RETAIN_NAME_SZ], uint64_t index, const char *extension, bool is_active)
{
	snprintf(ret, RETAIN_NAME_SZ, "trace.%" PRIu64 ".bin%s%s", index, extension,
		 is_active ? ".active" : "");
}

bool retain_parse(const char *name, uint64_t *ret_index, bool *ret_is_active)
{
	static const char *const tails[] = { ".bin", ".bin.gz", ".bin.zst" };
	uint64_t index = 0;
	size_t digits;

	if (strncmp(name, "trace.", 6) != 0)
		return false;
	name += 6;
	digits = strspn(name, "0123456789");
	if (digits < 1 || digits > INDEX_DIGITS_MAX || (digits > 1 && name[0] == '0'))
		return false;
	for (size_t i = 0; i < digits; i++)
		index = index * 10 + (uint64_t)(name[i] - '0');
	name += digits;
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		size_t len = strlen(tails[i]);

		if (strncmp(name, tails[i], len) != 0)
			continue;
		if (name[len] == '\0' || strcmp(name + len, ".active") == 0) {
			*ret_index = index;
			*ret_is_active = name[len] != '\0';
			return true;
		}
	}
	return false;
}

/* A stream of its own over the directory: the caller's fd keeps its position and its lock. */
static DIR *retain_list(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

struct retain_entry {
	char name[RETAIN_NAME_SZ];
	uint64_t index, sz;
	struct timespec mtime;
	bool is_active;
};

/* The next segment file, regular files only. 1, 0 at the end. */
static int retain_next(DIR *dir, struct retain_entry *ret)
{
	struct dirent *d;
	struct stat st;

	while ((d = readdir(dir))) {
		if (!retain_parse(d->d_name, &ret->index, &ret->is_active) ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		/* its form bounds its length */
		memcpy(ret->name, d->d_name, strlen(d->d_name) + 1);
		ret->sz = (uint64_t)st.st_size;
		ret->mtime = st.st_mtim;
		return 1;
	}
	return 0;
}

int retain_measure(int dir_fd, struct retain_sum *ret)
{
	struct retain_sum sum = { 0 };
	struct retain_entry e;
	DIR *dir = retain_list(dir_fd);

	if (!dir)
		return -errno;
	while (retain_next(dir, &e)) {
		*(e.is_active ? &sum.active_sz : &sum.sealed_sz) += e.sz;
		*(e.is_active ? &sum.active_cnt : &sum.sealed_cnt) += 1;
		if (e.index >= sum.next_index)
			sum.next_index = e.index + 1;
	}
	closedir(dir);
	*ret = sum;
	return 0;
}

/* The sealed segment with the lowest index; -ENOENT. */
static int retain_find_oldest(int dir_fd, struct retain_entry *ret)
{
	struct retain_entry e;
	bool found = false;
	DIR *dir = retain_list(dir_fd);

	if (!dir)
		return -errno;
	while (retain_next(dir, &e))
		if (!e.is_active && (!found || e.index < ret->index)) {
			*ret = e;
			found = true;
		}
	closedir(dir);
	return found ? 0 : -ENOENT;
}

int retain_evict_oldest(int dir_fd, uint64_t *ret_sz)
{
	struct retain_entry e;
	int err = retain_find_oldest(dir_fd, &e);

	if (err)
		return err;
	/* gone already is as good: somebody else made the room */
	if (unlinkat(dir_fd, e.name, 0) < 0 && errno != ENOENT)
		return -errno;
	*ret_sz = e.sz;
	return 0;
}

int retain_enforce(int dir_fd, uint64_t budget_sz, uint64_t *cnt, uint64_t *sz)
{
	struct retain_sum sum;
	uint64_t gone_sz = 0;
	int err = retain_measure(dir_fd, &sum);

	while (err == 0 && sum.sealed_sz > budget_sz) {
		err = retain_evict_oldest(dir_fd, &gone_sz);
		if (err)
			break;
		sum.sealed_sz -= gone_sz < sum.sealed_sz ? gone_sz : sum.sealed_sz;
		*sz += gone_sz;
		*cnt += 1;
	}
	return err == -ENOENT ? 0 : err;
}

/* Opens the next boot id directory that is safe to touch. Its fd, or -ENOENT at the end. */
static int retain_next_dir(DIR *trace, char name[DIRLOCK_BOOT_ID_SZ], unsigned *seen)
{
	struct dirent *d;
	struct stat st;
	int fd;

	while (*seen < RETAIN_DIRS_MAX && (d = readdir(trace))) {
		if (!dirlock_is_boot_id(d->d_name))
			continue;
		*seen += 1;
		fd = openat(dirfd(trace), d->d_name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		/* what others own or may change is none of ours: never delete through it */
		if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
			close(fd);
			continue;
		}
		/* its form bounds its length */
		memcpy(name, d->d_name, strlen(d->d_name) + 1);
		return fd;
	}
	return -ENOENT;
}

/* Sum over all directories, and in which of them the sealed segment lies that was sealed first. */
static int retain_measure_all(int trace_fd, uint64_t *ret_sz, char oldest[DIRLOCK_BOOT_ID_SZ])
{
	char name[DIRLOCK_BOOT_ID_SZ];
	struct timespec when = { 0 };
	struct retain_entry e;
	struct retain_sum sum;
	unsigned seen = 0;
	DIR *trace = retain_list(trace_fd);
	int fd;

	if (!trace)
		return -errno;
	*ret_sz = 0;
	oldest[0] = '\0';
	while ((fd = retain_next_dir(trace, name, &seen)) >= 0) {
		if (retain_measure(fd, &sum) == 0)
			*ret_sz += sum.sealed_sz + sum.active_sz;
		if (retain_find_oldest(fd, &e) == 0 &&
		    (!oldest[0] || e.mtime.tv_sec < when.tv_sec ||
		     (e.mtime.tv_sec == when.tv_sec && e.mtime.tv_nsec < when.tv_nsec))) {
			when = e.mtime;
			snprintf(oldest, DIRLOCK_BOOT_ID_SZ, "%s", name);
		}
		close(fd);
	}
	closedir(trace);
	return 0;
}

/* Evicts from one directory, and removes it when that leaves it empty and nobody owns it. */
static int retain_evict_in(int trace_fd, const char *name, uint64_t *ret_sz)
{
	int err, fd = openat(trace_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	err = retain_evict_oldest(fd, ret_sz);
	/* rmdir refuses a directory that still holds anything */
	if (err == 0 && dirlock_own_dir(fd) == 0)
		unlinkat(trace_fd, name, AT_REMOVEDIR);
	close(fd);
	return err;
}

int retain_enforce_all(int trace_fd, uint64_t budget_sz, uint64_t *cnt, uint64_t *sz)
{
	char oldest[DIRLOCK_BOOT_ID_SZ];
	uint64_t total_sz = 0, gone_sz = 0;
	int err;

	for (;;) {
		err = retain_measure_all(trace_fd, &total_sz, oldest);
		if (err || total_sz <= budget_sz || !oldest[0])
			return err;
		err = retain_evict_in(trace_fd, oldest, &gone_sz);
		if (err)
			return err;
		*sz += gone_sz;
		*cnt += 1;
	}
}

int retain_publish(int dir_fd, int file_fd, const char *active_name)
{
	char name[RETAIN_NAME_SZ];
	size_t len = strlen(active_name);

	if (len <= 7 || len - 7 >= sizeof(name))
		return -EINVAL;
	memcpy(name, active_name, len - 7);
	name[len - 7] = '\0';
	if (fsync(file_fd) < 0)
		return -errno;
	if (renameat2(dir_fd, active_name, dir_fd, name, RENAME_NOREPLACE) < 0) {
		/* some file systems know no flags; our lock and the numbering make it safe there */
		if (errno != EINVAL || renameat(dir_fd, active_name, dir_fd, name) < 0)
			return -errno;
	}
	return fsync(dir_fd) < 0 ? -errno : 0;
}

/* One .active file whose writer is gone. */
static int retain_recover_file(int dir_fd, const struct retain_entry *e)
{
	int err, fd;

	if (e->sz == 0)
		return unlinkat(dir_fd, e->name, 0) < 0 ? -errno : 0;
	fd = openat(dir_fd, e->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* gives back what was reserved behind its end */
	err = ftruncate(fd, (off_t)e->sz) < 0 ? -errno : retain_publish(dir_fd, fd, e->name);
	close(fd);
	return err;
}

int retain_recover(int dir_fd, uint64_t *ret_cnt)
{
	struct retain_entry e;
	DIR *dir = retain_list(dir_fd);
	int err, first = 0;

	if (!dir)
		return -errno;
	while (retain_next(dir, &e)) {
		if (!e.is_active)
			continue;
		err = retain_recover_file(dir_fd, &e);
		if (err)
			log_warn(0, "cannot publish %s, which a killed agent left: %s, leaving it",
				 e.name, strerror(-err));
		if (err == 0 && e.sz)
			*ret_cnt += 1;
		first = first ? first : err;
	}
	closedir(dir);
	return first;
}

int retain_recover_all(int trace_fd, uint64_t *ret_cnt)
{
	char name[DIRLOCK_BOOT_ID_SZ];
	unsigned seen = 0;
	DIR *trace = retain_list(trace_fd);
	int fd, first = 0;

	if (!trace)
		return -errno;
	while ((fd = retain_next_dir(trace, name, &seen)) >= 0) {
		int err = dirlock_own_dir(fd);

		if (err == 0)
			err = retain_recover(fd, ret_cnt);
		first = first || err == -EBUSY ? first : err;
		close(fd);
	}
	closedir(trace);
	return first;
}
