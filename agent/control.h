/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the socket by which a running recording is asked for a closer look.
 *
 * RUN_DIR/<pid>-<starttime>.sock, one per recorded process, beside its lock (dirlock.h): mode 0600 in
 * a directory of root's, and who asks must be root or of our own user. A connection carries one
 * request and one answer, each one message of text: "look LEVEL:TIME" (trigger.h, no conditions), and
 * "ok", or "error: " and the reason. Bytes from it are hostile: a request is bounded, has a second
 * to arrive, and at most CONTROL_CLIENTS_MAX wait; further ones stand in the kernel's queue.
 */
#ifndef DIAL9_CONTROL_H
#define DIAL9_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trigger.h"

#define CONTROL_CLIENTS_MAX 4
#define CONTROL_TEXT_SZ 160 /* of a request or an answer, with the NUL it is given here */
#define CONTROL_PATIENCE_NS 1000000000ull

struct control;

/* Listens. `run_dir` NULL = DIRLOCK_RUN_DIR; it exists, as the lock of the process is held, so that a
 * socket left there by a killed agent is nobody's. 0 or a negative errno, not logged. */
int control_open(const char *run_dir, pid_t pid, uint64_t start_ticks, struct control **ret);
/* Removes the socket. NULL is fine. */
void control_close(struct control *c);

/*
 * The next request, if there is one: *ret_look is what is asked for, and control_answer must
 * follow. What is not understood is answered here. Never blocks; one system call when nobody asks.
 */
bool control_next(struct control *c, uint64_t now_ns, struct trigger_options *ret_look);
/* `problem` NULL: it is done. */
void control_answer(struct control *c, const char *problem);

/* The other end: asks who records this process, and waits for the answer, 5 s at most. 0 = it is
 * done; else logged: -ENOENT nobody records it, -EPERM, -ETIMEDOUT, -EINVAL it was refused. */
int control_ask(const char *run_dir, pid_t pid, uint64_t start_ticks, const char *look);

/* "look full:10s", `len` bytes without a NUL among them: 0 or -EINVAL. */
int control_parse(const char *text, size_t len, struct trigger_options *ret_look);

#endif /* DIAL9_CONTROL_H */
