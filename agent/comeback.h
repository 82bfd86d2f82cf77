/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comeback.h - a process that runs but is not recorded at the moment: when is it time to?
 *
 * After a library with a Tokio of its own was loaded, at once. After an exec, as soon as the new
 * program is seen to carry Tokio, if it does within a moment. With --wait, whenever it does.
 */
#ifndef DIAL9_COMEBACK_H
#define DIAL9_COMEBACK_H

#include <stdint.h>
#include <sys/types.h>

#define COMEBACK_WAIT_NS 2000000000ull /* for the new program to map its files */

enum comeback_after { COMEBACK_AFTER_DLOPEN, COMEBACK_AFTER_EXEC, COMEBACK_FIRST };
enum comeback_state { COMEBACK_NOT_YET, COMEBACK_NOW, COMEBACK_NEVER };

struct comeback;

/* `pidfd` is duplicated; -1 opens one. 0 or a negative errno. */
int comeback_open(pid_t pid, int pidfd, enum comeback_after after, uint64_t now_ns,
		  struct comeback **ret);
void comeback_close(struct comeback *c);

/* On each tick. What is decided is logged. */
enum comeback_state comeback_look(struct comeback *c, uint64_t now_ns);

#endif /* DIAL9_COMEBACK_H */
