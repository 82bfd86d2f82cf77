/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - one process to record, and the executable files it has mapped.
 *
 * A process is (pid, start time), held by a pidfd: a reused pid is never taken for it. Files are
 * opened through /proc/PID/map_files or /proc/PID/exe, never by path, so deleted, replaced and
 * container-private binaries are the ones that run. Nothing here stops or writes to the process.
 */
#ifndef DIAL9_TARGET_H
#define DIAL9_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TARGET_FILES_MAX 512 /* distinct files mapped executable; further ones are reported */
#define TARGET_PATH_SZ 512

struct target_file {
	int fd; /* O_RDONLY, owned by the target */
	uint64_t dev, ino; /* as stat(2) gives them */
	uint64_t sz;
	char path[TARGET_PATH_SZ]; /* as /proc/PID/maps shows it; for people only */
	char link[64]; /* /proc/PID/map_files/A-B: what the kernel is given at attach */
	/* first executable mapping; runtime address = vaddr + bias (bias is set by image_open) */
	uint64_t map_start, map_end, map_off;
	bool is_main; /* the program itself, as opposed to a shared object */
	bool is_deleted;
};

struct target {
	pid_t pid;
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	int pidfd;
	char comm[16];
	uint64_t vdso_start, vdso_end; /* where the kernel's code page lies in it; 0 = none */
	struct target_file *files;
	size_t files_cnt;
};

/*
 * Opens process `pid` and all its executable mappings. Logs the reason and the mend on failure.
 * -ESRCH no such process (or only a zombie), -EPERM not allowed to look, -ENOEXEC 32-bit or not
 * an ELF program, -ENOMEM. *ret is untouched on failure. Free with target_close.
 */
int target_open(pid_t pid, struct target **ret);
void target_close(struct target *t);

/* true while the very process that was opened still runs (pidfd, not pid). */
bool target_is_alive(const struct target *t);

/* Bytes of the target's memory, without stopping it: process_vm_readv. 0 when all `sz` bytes
 * were read, -EFAULT when not mapped, -ESRCH when the process is gone. */
int target_read(const struct target *t, uint64_t addr, void *buf, size_t sz);

#endif /* DIAL9_TARGET_H */
