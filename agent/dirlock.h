/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirlock.h - one recorder per process, and one owner per directory.
 *
 * Both are flock(2)s, so the kernel drops them however the agent ends: a lock on
 * RUN_DIR/<pid>-<starttime>.lock, which holds the agent's pid for the message to the second one,
 * and a lock on the open directory itself, by which an agent that shares only the trace dir (from
 * another container) is told from one that was killed.
 */
#ifndef DIAL9_DIRLOCK_H
#define DIAL9_DIRLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DIRLOCK_RUN_DIR "/run/dial9-agent"
#define DIRLOCK_BOOT_ID_SZ 32

struct dirlock;

/*
 * Takes the lock for process (pid, start_ticks). `run_dir` NULL = DIRLOCK_RUN_DIR; it is made if
 * missing and must be ours alone to write. -EBUSY (logged with the holder's pid) when another
 * agent records this process; other failures are logged too. Release with dirlock_release.
 */
int dirlock_take(const char *run_dir, pid_t pid, uint64_t start_ticks, struct dirlock **ret);

/* Removes the lock file and unlocks. NULL is fine. */
void dirlock_release(struct dirlock *l);

/*
 * "abcd-4242": four letters from (boot id of the machine, pid, start time), then the pid. The
 * same process gives the same name again, so that a later agent continues its directory.
 * -EIO when the machine's boot id cannot be read (logged).
 */
int dirlock_boot_id(pid_t pid, uint64_t start_ticks, char ret[DIRLOCK_BOOT_ID_SZ]);

/* True if `name` has the form of a boot id: what may be touched below a trace dir. */
bool dirlock_is_boot_id(const char *name);

/*
 * Opens directory `name` below `parent_fd` (AT_FDCWD for a path), made with mode 0750 if `make`.
 * It must be a directory (no symbolic link), owned by us and writable by nobody else. Returns
 * the fd, or logs and returns -EPERM (not safe), -ENOTDIR, -ELOOP, or the errno of mkdir/open
 * (-EROFS also with `make` and a directory that exists);
 * *ret_made (may be NULL) tells whether it is new.
 */
int dirlock_open_dir(int parent_fd, const char *name, bool make, bool *ret_made);

/* Locks an open directory until its fd is closed. -EBUSY when another agent holds it. */
int dirlock_own_dir(int dir_fd);

#endif /* DIAL9_DIRLOCK_H */
