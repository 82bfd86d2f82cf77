// SPDX-License-Identifier: Apache-2.0
/*
 * apiissues.c - the findings, as `dial9-view issues --json` prints them: the page and a program
 * read the very same document. The command runs as a child of its own: it may take seconds, and
 * what it does not survive does not end the server.
 */
#include "api.h"

#include "apicall.h"
#include "held.h"
#include "reply.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ISSUES_OUT_MAX_SZ (8u << 20) /* a longer answer is an error */

/* One run at a time, and its answer kept until a recording changes. */
static struct {
	pthread_mutex_t lock;
	uint64_t key; /* sum of the generations it was made of */
	char *text;
	size_t sz;
} issues_kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int issues_spawn(const char *path, int *ret_fd, pid_t *ret_pid)
{
	/* exec takes them as char *, and changes nothing */
	char *argv[] = { (char[]){ "dial9-view" }, (char[]){ "issues" }, (char[]){ "--json" },
			 (char[]){ "--" },	   (char *)(uintptr_t)path,	NULL };
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return -errno;
	*ret_pid = fork();
	if (*ret_pid == 0) { /* other threads are gone: nothing here but calls of the kernel */
		int null = open("/dev/null", O_RDWR);

		if (null >= 0 && dup2(null, 0) == 0 && dup2(null, 2) == 2 && dup2(fds[1], 1) == 1)
			execv("/proc/self/exe", argv);
		_exit(127);
	}
	close(fds[1]);
	if (*ret_pid < 0) {
		close(fds[0]);
		return -EAGAIN;
	}
	*ret_fd = fds[0];
	return 0;
}

static char *issues_read(int fd, size_t *ret_sz)
{
	char *text = malloc(ISSUES_OUT_MAX_SZ);
	ssize_t got = 1;

	*ret_sz = 0;
	while (text && got > 0 && *ret_sz < ISSUES_OUT_MAX_SZ) {
		got = read(fd, text + *ret_sz, ISSUES_OUT_MAX_SZ - *ret_sz);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			*ret_sz += (size_t)got;
	}
	if (text && *ret_sz == ISSUES_OUT_MAX_SZ) {
		free(text);
		text = NULL;
	}
	return text;
}

static void issues_make(const char *path)
{
	pid_t pid = -1;
	int fd = -1;

	free(issues_kept.text);
	issues_kept.text = NULL;
	if (issues_spawn(path, &fd, &pid) != 0)
		return;
	issues_kept.text = issues_read(fd, &issues_kept.sz);
	close(fd);
	if (!issues_kept.text)
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void api_issues(struct api_call *call)
{
	uint64_t key = 1;
	struct held_status s;
	char *copy = NULL;
	size_t sz = 0;

	for (uint32_t i = 0; held_status(call->held, i, &s); i++)
		key += s.generation;
	pthread_mutex_lock(&issues_kept.lock);
	if (issues_kept.key != key || !issues_kept.text)
		issues_make(call->path);
	issues_kept.key = key;
	if (issues_kept.text && issues_kept.sz > 1) {
		copy = malloc(issues_kept.sz);
		if (copy)
			memcpy(copy, issues_kept.text, sz = issues_kept.sz);
	}
	pthread_mutex_unlock(&issues_kept.lock);
	if (!copy) {
		reply_error(call->reply, 503, "the findings could not be worked out: try dial9-view issues");
		return;
	}
	*call->reply = (struct reply){ .status = 200,
				       .type = "application/json",
				       .body = copy,
				       .body_sz = sz };
}
