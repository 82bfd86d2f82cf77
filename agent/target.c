// SPDX-License-Identifier: Apache-2.0
/*
 * target.c - opens a process in the one order that leaves no race: pidfd first, then its start
 * time, then its files, and at the end the pidfd is asked again, so that everything read between
 * belongs to that process and not to a later one with the same number.
 */
#include "target.h"

#include "log.h"
#include "maps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define TARGET_PF_KTHREAD 0x00200000u /* field 9 of /proc/PID/stat */
#define TARGET_MAPS_LINES_MAX 1000000u /* a process may have 65530 by default */

static int target_no_access(pid_t pid, const char *what)
{
	return log_error(-EPERM,
			 geteuid() ? "cannot read %s of process %d: permission denied; run as root, "
				     "or with CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE" :
				     "cannot read %s of process %d: permission denied even to root: this "
				     "process is outside what the sandbox or container of the agent may "
				     "see (user namespace, capabilities, security module)",
			 what, (int)pid);
}

static ssize_t target_slurp(pid_t pid, const char *name, char *buf, size_t sz)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, sz - 1);
	if (n < 0)
		n = -errno;
	else
		buf[n] = '\0';
	close(fd);
	return n;
}

/* the thread group a thread id belongs to, or 0 */
static pid_t target_leader_of(pid_t tid)
{
	char buf[2048];
	const char *at;

	if (target_slurp(tid, "status", buf, sizeof(buf)) <= 0)
		return 0;
	at = strstr(buf, "\nTgid:");
	return at ? (pid_t)atoi(at + 6) : 0;
}

static int target_open_pidfd(struct target *t)
{
	pid_t leader;

	t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	if (t->pidfd >= 0)
		return 0;
	leader = target_leader_of(t->pid);
	if (leader > 0 && leader != t->pid)
		return log_error(-ESRCH, "%d is a thread of process %d: use --pid %d", (int)t->pid,
				 (int)leader, (int)leader);
	if (errno == EPERM || errno == EACCES)
		return target_no_access(t->pid, "the state");
	return log_error(-ESRCH,
			 "no process %d: it has exited or never was; look with "
			 "`ps -p %d`",
			 (int)t->pid, (int)t->pid);
}

/* "pid (comm) S ppid ...": comm may hold anything, so it ends at the last ')' */
static int target_read_stat(struct target *t)
{
	char buf[2048], *name, *at;
	unsigned long long start;
	unsigned long flags;
	size_t len;
	ssize_t n;
	char state;

	n = target_slurp(t->pid, "stat", buf, sizeof(buf));
	if (n == -EACCES || n == -EPERM)
		return target_no_access(t->pid, "the state");
	name = n > 0 ? strchr(buf, '(') : NULL;
	at = name ? strrchr(buf, ')') : NULL;
	if (!at || sscanf(at + 1,
			  " %c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			  "%*d %*d %*d %llu",
			  &state, &flags, &start) != 3)
		return log_error(-ESRCH, "process %d is gone: its /proc entry cannot be read",
				 (int)t->pid);
	if (flags & TARGET_PF_KTHREAD)
		return log_error(-ENOEXEC,
				 "process %d is a kernel thread: only programs can be "
				 "recorded",
				 (int)t->pid);
	if (state == 'Z' || state == 'X')
		return log_error(-ESRCH, "process %d has exited and waits for its parent (zombie)",
				 (int)t->pid);
	len = (size_t)(at - name - 1);
	if (len >= sizeof(t->comm))
		len = sizeof(t->comm) - 1;
	memcpy(t->comm, name + 1, len);
	t->start_ticks = start;
	return 0;
}

/* Opens what a /proc link stands for if it is a regular file: never a device or a pipe. */
static int target_open_link(const char *link, struct stat *ret_st)
{
	char self[64];
	int path_fd, fd;

	path_fd = open(link, O_PATH | O_CLOEXEC);
	if (path_fd < 0)
		return -errno;
	if (fstat(path_fd, ret_st) < 0) {
		fd = -errno;
	} else if (!S_ISREG(ret_st->st_mode)) {
		fd = -ENODEV;
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
		fd = open(self, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	close(path_fd);
	return fd;
}

static bool target_has_file(const struct target *t, uint64_t dev, uint64_t ino)
{
	for (size_t i = 0; i < t->files_cnt; i++)
		if (t->files[i].dev == dev && t->files[i].ino == ino)
			return true;
	return false;
}

/* a slot for one more file, or NULL when the cap is reached or memory is out */
static struct target_file *target_new_file(struct target *t)
{
	struct target_file *files;

	if (t->files_cnt == TARGET_FILES_MAX)
		return NULL;
	files = realloc(t->files, (t->files_cnt + 1) * sizeof(*files));
	if (!files)
		return NULL;
	t->files = files;
	memset(&files[t->files_cnt], 0, sizeof(*files));
	return &files[t->files_cnt++];
}

static int target_add_mapping(struct target *t, const struct maps_entry *e, const struct stat *exe)
{
	char link[64];
	struct target_file *file;
	struct stat st;
	int fd;

	snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", (int)t->pid,
		 (unsigned long long)e->start, (unsigned long long)e->end);
	fd = target_open_link(link, &st);
	if (fd < 0 && fd != -ENODEV) {
		/* without the capability for map_files the program itself is still reachable */
		snprintf(link, sizeof(link), "/proc/%d/exe", (int)t->pid);
		if (exe->st_ino != e->ino || target_has_file(t, exe->st_dev, exe->st_ino) ||
		    target_open_link(link, &st) < 0)
			return log_warn(fd,
					"cannot open the mapping %llx-%llx (%.*s) of process "
					"%d, ignoring this file: run as root or with "
					"CAP_CHECKPOINT_RESTORE",
					(unsigned long long)e->start, (unsigned long long)e->end,
					(int)e->path_len, e->path, (int)t->pid);
		fd = target_open_link(link, &st);
	}
	if (fd < 0)
		return fd;
	if (target_has_file(t, st.st_dev, st.st_ino)) {
		close(fd);
		return 0;
	}
	file = target_new_file(t);
	if (!file) {
		close(fd);
		return -ENOSPC;
	}
	file->fd = fd;
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	file->sz = (uint64_t)st.st_size;
	snprintf(file->path, sizeof(file->path), "%.*s", (int)e->path_len, e->path);
	snprintf(file->link, sizeof(file->link), "%s", link);
	file->map_start = e->start;
	file->map_end = e->end;
	file->map_off = e->off;
	file->is_main = st.st_dev == exe->st_dev && st.st_ino == exe->st_ino;
	file->is_deleted = e->is_deleted;
	return 0;
}

static int target_open_files(struct target *t)
{
	char path[64], *line = NULL;
	size_t line_sz = 0, left_cnt = 0, lines = 0;
	struct maps_entry last = { 0 };
	struct stat exe;
	ssize_t len;
	FILE *in;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)t->pid);
	fd = target_open_link(path, &exe);
	if (fd == -EACCES || fd == -EPERM)
		return target_no_access(t->pid, "the program file");
	if (fd < 0)
		return log_error(-ENOEXEC, "process %d has no program file that can be opened",
				 (int)t->pid);
	close(fd);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->pid);
	in = fopen(path, "re");
	if (!in)
		return errno == EACCES || errno == EPERM
			       ? target_no_access(t->pid, "the memory map")
			       : log_error(-ESRCH,
					   "process %d is gone: its memory map cannot be read",
					   (int)t->pid);
	while ((len = getline(&line, &line_sz, in)) > 0 && lines++ < TARGET_MAPS_LINES_MAX) {
		struct maps_entry e;

		if (line[len - 1] == '\n')
			len--;
		if (maps_parse(line, (size_t)len, &e) || !e.is_exec)
			continue;
		if (e.path_len == 6 && !memcmp(e.path, "[vdso]", 6)) {
			t->vdso_start = e.start;
			t->vdso_end = e.end;
		}
		if (!e.ino)
			continue; /* no file: generated code */
		if (e.ino == last.ino && e.dev_major == last.dev_major &&
		    e.dev_minor == last.dev_minor)
			continue; /* one more piece of the file just opened */
		if (target_add_mapping(t, &e, &exe) == -ENOSPC)
			left_cnt++;
		last = e;
	}
	free(line);
	fclose(in);
	if (left_cnt)
		log_warn(0, "process %d maps more than %d executable files, ignoring %zu mappings",
			 (int)t->pid, TARGET_FILES_MAX, left_cnt);
	return 0;
}

/* The program must be a 64-bit little-endian ELF file of this machine's kind. */
static int target_check_program(const struct target *t)
{
	const struct target_file *file = NULL;
	unsigned char head[EI_NIDENT + 4];

	for (size_t i = 0; i < t->files_cnt && !file; i++)
		if (t->files[i].is_main)
			file = &t->files[i];
	if (!file)
		return log_error(t->files_cnt ? -ENOEXEC : -EPERM,
				 "the program of process %d is "
				 "not mapped or cannot be opened: run as root",
				 (int)t->pid);
	if (pread(file->fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head, ELFMAG, SELFMAG))
		return log_error(-ENOEXEC, "%s (process %d) is not an ELF program", file->path,
				 (int)t->pid);
	if (head[EI_CLASS] == ELFCLASS32)
		return log_error(-ENOEXEC,
				 "%s (process %d) is a 32-bit program: only 64-bit "
				 "x86-64 is supported",
				 file->path, (int)t->pid);
	if (head[EI_CLASS] != ELFCLASS64 || head[EI_DATA] != ELFDATA2LSB ||
	    (head[EI_NIDENT + 2] | head[EI_NIDENT + 3] << 8) != EM_X86_64)
		return log_error(-ENOEXEC,
				 "%s (process %d) is built for another machine: only "
				 "x86-64 is supported",
				 file->path, (int)t->pid);
	return 0;
}

int target_open(pid_t pid, struct target **ret)
{
	struct target *t;
	int err;

	if (pid <= 0)
		return log_error(-ESRCH, "%d is no process id", (int)pid);
	t = calloc(1, sizeof(*t));
	if (!t)
		return log_error(-ENOMEM, "no memory to open process %d", (int)pid);
	t->pid = pid;
	t->pidfd = -1;
	err = target_open_pidfd(t);
	if (!err)
		err = target_read_stat(t);
	if (!err)
		err = target_open_files(t);
	if (!err && !target_is_alive(t))
		err = log_error(-ESRCH, "process %d exited while it was opened", (int)pid);
	if (!err)
		err = target_check_program(t);
	if (err) {
		target_close(t);
		return err;
	}
	*ret = t;
	return 0;
}

void target_close(struct target *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->files_cnt; i++)
		close(t->files[i].fd);
	if (t->pidfd >= 0)
		close(t->pidfd);
	free(t->files);
	free(t);
}

bool target_is_alive(const struct target *t)
{
	struct pollfd p = { .fd = t->pidfd, .events = POLLIN };

	/* a pidfd becomes readable when the process exits, zombie included */
	return poll(&p, 1, 0) == 0;
}

int target_read(const struct target *t, uint64_t addr, void *buf, size_t sz)
{
	struct iovec to = { buf, sz };
	struct iovec from = { (void *)(uintptr_t)addr, sz };
	ssize_t n = process_vm_readv(t->pid, &to, 1, &from, 1, 0);
	int err = errno;

	/* asked afterwards: had the number been reused, the bytes would be another process's */
	if ((n < 0 && err == ESRCH) || !target_is_alive(t))
		return -ESRCH;
	return n == (ssize_t)sz ? 0 : -EFAULT;
}
