// SPDX-License-Identifier: Apache-2.0
/* dirlock.c - flocks on a file per process and on directories, and the checks on directories. */
#include "dirlock.h"

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_RETRIES 16 /* races with an agent that just leaves */

struct dirlock {
	int run_fd, fd;
	char name[64];
};

static int dirlock_hash_boot(uint64_t *ret)
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";
	char text[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));
	uint64_t hash = 14695981039346656037ull; /* FNV-1a */

	if (fd >= 0)
		close(fd);
	if (len < 36)
		return log_error(-EIO, "cannot read %s, which names this boot: is /proc mounted?",
				 path);
	for (int i = 0; i < 36; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
	*ret = hash;
	return 0;
}

int dirlock_boot_id(pid_t pid, uint64_t start_ticks, char ret[DIRLOCK_BOOT_ID_SZ])
{
	uint64_t words[2] = { (uint64_t)pid, start_ticks };
	char letters[5] = "";
	uint64_t hash = 0;
	int err = dirlock_hash_boot(&hash);

	if (err)
		return err;
	for (int i = 0; i < 16; i++)
		hash = (hash ^ ((words[i / 8] >> (i % 8 * 8)) & 0xff)) * 1099511628211ull;
	/* FNV leaves the pattern of its last bytes in the low bits */
	hash ^= hash >> 32;
	for (int i = 0; i < 4; i++, hash /= 26)
		letters[i] = (char)('a' + hash % 26);
	snprintf(ret, DIRLOCK_BOOT_ID_SZ, "%s-%d", letters, (int)pid);
	return 0;
}

bool dirlock_is_boot_id(const char *name)
{
	size_t digits;

	for (int i = 0; i < 4; i++)
		if (name[i] < 'a' || name[i] > 'z')
			return false;
	if (name[4] != '-')
		return false;
	digits = strspn(name + 5, "0123456789");
	return digits >= 1 && digits <= 10 && name[5 + digits] == '\0';
}

static const char *dirlock_make_text(int err)
{
	return err == -EROFS ? "the file system there is read-only: name another directory, or make it "
			       "writable (mount -o remount,rw)" :
			       strerror(-err);
}

int dirlock_open_dir(int parent_fd, const char *name, bool make, bool *ret_made)
{
	struct stat st;
	bool made = false;
	int fd, err;

	if (make) {
		made = mkdirat(parent_fd, name, 0750) == 0;
		if (!made && errno != EEXIST) {
			err = -errno;
			return log_error(err, "cannot make directory %s: %s", name,
					 dirlock_make_text(err));
		}
	}
	fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		return log_error(
			err, "cannot open directory %s: %s", name,
			err == -ENOTDIR || err == -ELOOP
				? "it is a symbolic link or no directory; name the directory itself"
				: strerror(-err));
	}
	/* our umask has taken bits off the mode of a new one */
	if (made && fchmod(fd, 0750) < 0)
		err = -errno;
	else if (fstat(fd, &st) < 0)
		err = -errno;
	else if (make && faccessat(fd, ".", W_OK, AT_EACCESS) < 0 && errno == EROFS)
		/* whatever else is wrong with it: putting that right would not help */
		err = log_error(-EROFS, "cannot write into directory %s: %s", name,
				dirlock_make_text(-EROFS));
	else if (st.st_uid != geteuid())
		err = log_error(-EPERM, "directory %s belongs to user %u, not to us (%u): chown it",
				name, (unsigned)st.st_uid, (unsigned)geteuid());
	else if (st.st_mode & S_ISVTX)
		err = log_error(-EPERM, "directory %s is shared by all users: name a directory below it",
				name);
	else if (st.st_mode & 022)
		err = log_error(-EPERM,
				"directory %s can be written by others (mode %04o): chmod go-w it",
				name, (unsigned)st.st_mode & 07777);
	else
		err = 0;
	if (err) {
		close(fd);
		if (made)
			unlinkat(parent_fd, name, AT_REMOVEDIR);
		return err;
	}
	if (ret_made)
		*ret_made = made;
	return fd;
}

int dirlock_own_dir(int dir_fd)
{
	if (flock(dir_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

/* 1 locked, 0 the file went away meanwhile: try again, or a negative errno. */
static int dirlock_try(struct dirlock *l, pid_t pid)
{
	char text[32] = "";
	struct stat mine, there;
	ssize_t len;
	int err;

	l->fd = openat(l->run_fd, l->name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (l->fd < 0) {
		err = -errno;
		return log_error(err, "cannot make lock file %s: %s", l->name, strerror(-err));
	}
	if (flock(l->fd, LOCK_EX | LOCK_NB) < 0) {
		err = -errno;
		len = pread(l->fd, text, sizeof(text) - 1, 0);
		text[len > 0 ? strspn(text, "0123456789") : 0] = '\0';
		if (err == -EWOULDBLOCK)
			return log_error(
				-EBUSY,
				"process %d is already recorded by dial9-agent with pid %s: stop "
				"that one first (kill %s)",
				(int)pid, text[0] ? text : "?", text[0] ? text : "PID");
		return log_error(err, "cannot lock %s: %s", l->name, strerror(-err));
	}
	/* an agent that leaves removes the file while it holds the lock */
	if (fstat(l->fd, &mine) == 0 && fstatat(l->run_fd, l->name, &there, 0) == 0 &&
	    mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
		return 1;
	close(l->fd);
	l->fd = -1;
	return 0;
}

int dirlock_take(const char *run_dir, pid_t pid, uint64_t start_ticks, struct dirlock **ret)
{
	struct dirlock *l = malloc(sizeof(*l));
	char text[32];
	int err, len;

	if (!l)
		return log_error(-ENOMEM, "out of memory");
	*l = (struct dirlock){ .fd = -1 };
	snprintf(l->name, sizeof(l->name), "%d-%" PRIu64 ".lock", (int)pid, start_ticks);
	l->run_fd = dirlock_open_dir(AT_FDCWD, run_dir ? run_dir : DIRLOCK_RUN_DIR, true, NULL);
	err = l->run_fd;
	if (err >= 0)
		err = 0;
	for (int i = 0; err == 0 && i < LOCK_RETRIES; i++)
		err = dirlock_try(l, pid);
	if (err == 0)
		err = log_error(-EAGAIN, "cannot lock %s: other agents come and go", l->name);
	if (err == 1) {
		len = snprintf(text, sizeof(text), "%d\n", (int)getpid());
		err = ftruncate(l->fd, 0) < 0 || pwrite(l->fd, text, (size_t)len, 0) != len
			      ? log_error(-EIO, "cannot write lock file %s: is the disk full?",
					  l->name)
			      : 0;
		if (err)
			unlinkat(l->run_fd, l->name, 0);
	}
	if (err) {
		if (l->fd >= 0)
			close(l->fd);
		if (l->run_fd >= 0)
			close(l->run_fd);
		free(l);
		return err;
	}
	*ret = l;
	return 0;
}

void dirlock_release(struct dirlock *l)
{
	if (!l)
		return;
	unlinkat(l->run_fd, l->name, 0);
	close(l->fd);
	close(l->run_fd);
	free(l);
}
