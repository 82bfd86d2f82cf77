// SPDX-License-Identifier: Apache-2.0
#include "comeback.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arrivals.h"
#include "log.h"

struct comeback {
	pid_t pid;
	int pidfd; /* by which the process is told from a later one with its number */
	struct arrivals *arrivals; /* NULL = nothing to wait for */
	enum comeback_after after;
	uint64_t end_ns;
};

int comeback_open(pid_t pid, int pidfd, enum comeback_after after, uint64_t now_ns,
		  struct comeback **ret)
{
	struct comeback *c = calloc(1, sizeof(*c));
	int err = 0;

	if (!c)
		return -ENOMEM;
	c->pid = pid;
	c->after = after;
	c->end_ns = after == COMEBACK_FIRST ? UINT64_MAX : now_ns + COMEBACK_WAIT_NS;
	c->pidfd = pidfd < 0 ? (int)syscall(SYS_pidfd_open, pid, 0) :
			       fcntl(pidfd, F_DUPFD_CLOEXEC, 0);
	if (c->pidfd < 0)
		err = -errno;
	if (!err && after != COMEBACK_AFTER_DLOPEN)
		err = arrivals_open(pid, NULL, &c->arrivals);
	if (err)
		comeback_close(c);
	else
		*ret = c;
	return err;
}

void comeback_close(struct comeback *c)
{
	if (!c)
		return;
	arrivals_close(c->arrivals);
	if (c->pidfd >= 0)
		close(c->pidfd);
	free(c);
}

enum comeback_state comeback_look(struct comeback *c, uint64_t now_ns)
{
	struct pollfd p = { .fd = c->pidfd, .events = POLLIN };

	if (poll(&p, 1, 0) != 0) {
		log_info("pid %d has ended", (int)c->pid);
		return COMEBACK_NEVER;
	}
	if (!c->arrivals)
		return COMEBACK_NOW;
	if (arrivals_look(c->arrivals, now_ns)) {
		if (c->after == COMEBACK_AFTER_EXEC)
			log_info("pid %d: the new program carries Tokio too: %s", (int)c->pid,
				 arrivals_path(c->arrivals));
		return COMEBACK_NOW;
	}
	if (now_ns < c->end_ns)
		return COMEBACK_NOT_YET;
	log_warn(0,
		 "pid %d is not recorded any more: the program that it has become carries no Tokio "
		 "1.23 or later",
		 (int)c->pid);
	return COMEBACK_NEVER;
}
