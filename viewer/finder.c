// SPDX-License-Identifier: Apache-2.0
/* finder.c - one child at a time, its output read until it ends or its time is over. */
#include "finder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FINDER_LOOK_MS 100 /* between two looks at whether to stop */
#define FINDER_AGAIN_MS 1000u /* after a run that came to nothing */

struct finder {
	char *path, *program;
	uint32_t run_ms;
	void (*done)(void *ctx);
	void *ctx;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t order;
	bool is_stopping, is_wanted; /* wanted: `key` is ordered and not begun */
	bool is_running;
	uint64_t key, made_key, tried_key; /* ordered; of `text`; of the last run */
	uint64_t failed_ms; /* when the last run came to nothing, 0: it did not */
	char *text;
	size_t sz;
};

static uint64_t finder_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int finder_spawn(const struct finder *f, int *ret_fd, pid_t *ret_pid)
{
	/* exec takes them as char *, and changes nothing */
	char *argv[] = { (char[]){ "dial9-view" },
			 (char[]){ "issues" },
			 (char[]){ "--json" },
			 (char[]){ "--" },
			 f->path,
			 NULL };
	const char *program = f->program ? f->program : "/proc/self/exe";
	sigset_t none;
	int fds[2];

	sigemptyset(&none);
	if (pipe2(fds, O_CLOEXEC) != 0)
		return -errno;
	*ret_pid = fork();
	if (*ret_pid == 0) { /* other threads are gone: nothing here but calls of the kernel */
		int null = open("/dev/null", O_RDWR);

		sigprocmask(SIG_SETMASK, &none, NULL);
		if (null >= 0 && dup2(null, 0) == 0 && dup2(null, 2) == 2 && dup2(fds[1], 1) == 1)
			execv(program, argv);
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

static bool finder_must_end(struct finder *f)
{
	bool must;

	pthread_mutex_lock(&f->lock);
	must = f->is_stopping;
	pthread_mutex_unlock(&f->lock);
	return must;
}

/* All that the child says until it ends; NULL: too much, too late, or nobody wants it any more. */
static char *finder_read(struct finder *f, int fd, size_t *ret_sz)
{
	uint64_t until_ms = finder_now_ms() + f->run_ms;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char *text = malloc(FINDER_OUT_MAX_SZ);
	ssize_t got = 1;

	*ret_sz = 0;
	while (text && got > 0 && *ret_sz < FINDER_OUT_MAX_SZ) {
		if (finder_now_ms() >= until_ms || finder_must_end(f))
			break;
		if (poll(&p, 1, FINDER_LOOK_MS) <= 0)
			continue;
		got = read(fd, text + *ret_sz, FINDER_OUT_MAX_SZ - *ret_sz);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			*ret_sz += (size_t)got;
	}
	if (text && got != 0) {
		free(text);
		text = NULL;
	}
	return text;
}

static char *finder_make(struct finder *f, size_t *ret_sz)
{
	pid_t pid = -1;
	int fd = -1;
	char *text;

	if (finder_spawn(f, &fd, &pid) != 0)
		return NULL;
	text = finder_read(f, fd, ret_sz);
	close(fd);
	if (!text)
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (text && *ret_sz < 2) { /* it had nothing to say: it failed */
		free(text);
		text = NULL;
	}
	return text;
}

static void *finder_thread(void *ctx)
{
	struct finder *f = ctx;

	pthread_mutex_lock(&f->lock);
	while (!f->is_stopping) {
		uint64_t key = f->key;
		size_t sz = 0;
		char *text;

		if (!f->is_wanted) {
			pthread_cond_wait(&f->order, &f->lock);
			continue;
		}
		f->is_wanted = false;
		f->is_running = true;
		pthread_mutex_unlock(&f->lock);
		text = finder_make(f, &sz);
		pthread_mutex_lock(&f->lock);
		f->is_running = false;
		f->tried_key = key;
		f->failed_ms = text ? 0 : finder_now_ms();
		if (text) {
			free(f->text);
			f->text = text;
			f->sz = sz;
			f->made_key = key;
		}
		pthread_mutex_unlock(&f->lock);
		f->done(f->ctx);
		pthread_mutex_lock(&f->lock);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

struct finder *finder_new(const char *path, const char *program, uint32_t run_ms,
			  void (*done)(void *ctx), void *ctx)
{
	struct finder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->path = strdup(path);
	f->program = program ? strdup(program) : NULL;
	f->run_ms = run_ms ? run_ms : FINDER_RUN_S * 1000;
	f->done = done;
	f->ctx = ctx;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->order, NULL);
	if (f->path && (!program || f->program) &&
	    pthread_create(&f->thread, NULL, finder_thread, f) == 0)
		return f;
	free(f->path);
	free(f->program);
	free(f);
	return NULL;
}

void finder_stop(struct finder *f)
{
	pthread_mutex_lock(&f->lock);
	f->is_stopping = true;
	pthread_cond_signal(&f->order);
	pthread_mutex_unlock(&f->lock);
	f->done(f->ctx);
}

void finder_free(struct finder *f)
{
	if (!f)
		return;
	finder_stop(f);
	pthread_join(f->thread, NULL);
	pthread_cond_destroy(&f->order);
	pthread_mutex_destroy(&f->lock);
	free(f->text);
	free(f->path);
	free(f->program);
	free(f);
}

enum finder_state finder_get(struct finder *f, uint64_t key, char **ret_text, size_t *ret_sz)
{
	enum finder_state state = FINDER_WORKING;

	pthread_mutex_lock(&f->lock);
	if (f->text && (f->made_key == key || key == FINDER_NEWEST)) {
		*ret_text = malloc(f->sz);
		state = *ret_text ? FINDER_READY : FINDER_FAILED;
		if (*ret_text)
			memcpy(*ret_text, f->text, *ret_sz = f->sz);
	} else if (f->is_stopping || key == FINDER_NEWEST ||
		   (f->failed_ms && f->tried_key == key && !f->is_running &&
		    finder_now_ms() - f->failed_ms < FINDER_AGAIN_MS)) {
		state = FINDER_FAILED;
	} else if (f->key != key || (!f->is_wanted && !f->is_running)) {
		f->key = key;
		f->is_wanted = true;
		pthread_cond_signal(&f->order);
	}
	pthread_mutex_unlock(&f->lock);
	return state;
}
