/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.h - the threads of a target and their thread pointers, as the kernel lists them.
 */
#ifndef DIAL9_ROSTER_H
#define DIAL9_ROSTER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ROSTER_THREADS_MAX 32768 /* a further thread is not found: its worker stays unknown */
#define ROSTER_AGE_NS 20000000ull /* a thread that is not in it is looked for again after this */

struct probe;
struct roster;

int roster_open(struct probe *p, pid_t pid, struct roster **ret);
void roster_close(struct roster *r);

/* Lists all threads anew. */
int roster_refresh(struct roster *r, uint64_t now_ns);

/* The thread pointer of `tid`; lists anew if the thread is not known. -ENOENT. */
int roster_fsbase(struct roster *r, pid_t tid, uint64_t now_ns, uint64_t *ret);

/* The kernel's name of the thread, as last listed; "" if it is not known. */
const char *roster_comm(const struct roster *r, pid_t tid);

size_t roster_cnt(const struct roster *r);
pid_t roster_tid(const struct roster *r, size_t i);

#endif /* DIAL9_ROSTER_H */
