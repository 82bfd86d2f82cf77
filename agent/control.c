// SPDX-License-Identifier: Apache-2.0
/* control.c - a listening Unix socket that is looked at on the agent's tick. */
#include "control.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "dirlock.h"
#include "log.h"

#define CONTROL_ANSWER_SECS 5
#define CONTROL_LOOK "look "
#define CONTROL_OK "ok"
#define CONTROL_ERROR "error: "

struct control_client {
	int fd; /* -1 = free */
	uint64_t since_ns;
};

struct control {
	int fd;
	struct control_client clients[CONTROL_CLIENTS_MAX];
	size_t asking; /* whose request was handed out, CONTROL_CLIENTS_MAX = nobody's */
	struct sockaddr_un addr;
};

static int control_address(const char *run_dir, pid_t pid, uint64_t start_ticks,
			   struct sockaddr_un *ret)
{
	int len;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	len = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/%d-%" PRIu64 ".sock",
		       run_dir ? run_dir : DIRLOCK_RUN_DIR, (int)pid, start_ticks);
	if (len < (int)sizeof(ret->sun_path))
		return 0;
	ret->sun_path[0] = '\0';
	return -ENAMETOOLONG;
}

int control_open(const char *run_dir, pid_t pid, uint64_t start_ticks, struct control **ret)
{
	struct control *c = calloc(1, sizeof(*c));
	const struct sockaddr *addr;
	int err;

	if (!c)
		return -ENOMEM;
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
		c->clients[i].fd = -1;
	c->asking = CONTROL_CLIENTS_MAX;
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = c->fd < 0 ? -errno : control_address(run_dir, pid, start_ticks, &c->addr);
	if (err)
		goto out;
	addr = (const struct sockaddr *)&c->addr;
	unlink(c->addr.sun_path);
	/* the mode of the socket's inode, which bind takes over: there is no moment at which others may */
	if (fchmod(c->fd, 0600) || bind(c->fd, addr, sizeof(c->addr)) ||
	    chmod(c->addr.sun_path, 0600) || listen(c->fd, CONTROL_CLIENTS_MAX))
		err = -errno;
out:
	if (err)
		control_close(c);
	else
		*ret = c;
	return err;
}

static void control_hang_up(struct control_client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
}

void control_close(struct control *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
		control_hang_up(&c->clients[i]);
	if (c->addr.sun_path[0])
		unlink(c->addr.sun_path);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

int control_parse(const char *text, size_t len, struct trigger_options *ret_look)
{
	size_t word = strlen(CONTROL_LOOK);
	struct trigger_options o;
	char copy[CONTROL_TEXT_SZ];

	if (len >= sizeof(copy) || len < word || memchr(text, '\0', len) ||
	    memcmp(text, CONTROL_LOOK, word) != 0)
		return -EINVAL;
	memcpy(copy, text + word, len - word);
	copy[len - word] = '\0';
	if (trigger_parse(copy, &o) || o.poll_ns || o.delay_ns || o.cpu_percent)
		return -EINVAL;
	*ret_look = o;
	return 0;
}

/* It is the client's affair whether it listens. */
static void control_say(struct control_client *client, const char *text, const char *more)
{
	char buf[CONTROL_TEXT_SZ];
	int len = snprintf(buf, sizeof(buf), "%s%s", text, more);

	if (len >= (int)sizeof(buf))
		len = sizeof(buf) - 1;
	if (send(client->fd, buf, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_debug("control socket: the answer was not taken: %s", strerror(errno));
	control_hang_up(client);
}

static bool control_may_ask(int fd)
{
	struct ucred who;
	socklen_t sz = sizeof(who);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &sz) &&
	       (who.uid == 0 || who.uid == geteuid());
}

static void control_accept(struct control *c, uint64_t now_ns)
{
	struct pollfd pfd = { .fd = c->fd, .events = POLLIN };

	/* accept makes a whole socket before it finds that nobody calls, a hundred times a second */
	if (poll(&pfd, 1, 0) <= 0)
		return;
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct control_client *client = &c->clients[i];

		if (client->fd >= 0)
			continue;
		client->fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (client->fd < 0)
			return;
		client->since_ns = now_ns;
		if (!control_may_ask(client->fd))
			control_say(client, CONTROL_ERROR, "only root may ask");
	}
}

/* True: it asks for *ret_look. */
static bool control_read(struct control_client *client, uint64_t now_ns,
			 struct trigger_options *ret_look)
{
	char text[CONTROL_TEXT_SZ];
	ssize_t len = recv(client->fd, text, sizeof(text), MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR)) {
		if (now_ns - client->since_ns > CONTROL_PATIENCE_NS)
			control_hang_up(client);
		return false;
	}
	if (len <= 0) {
		control_hang_up(client);
		return false;
	}
	if (!control_parse(text, (size_t)len, ret_look))
		return true;
	control_say(client, CONTROL_ERROR, "not understood; this agent knows: look LEVEL:TIME");
	return false;
}

bool control_next(struct control *c, uint64_t now_ns, struct trigger_options *ret_look)
{
	control_accept(c, now_ns);
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		if (c->clients[i].fd < 0 || !control_read(&c->clients[i], now_ns, ret_look))
			continue;
		c->asking = i;
		return true;
	}
	return false;
}

void control_answer(struct control *c, const char *problem)
{
	if (c->asking >= CONTROL_CLIENTS_MAX)
		return;
	control_say(&c->clients[c->asking], problem ? CONTROL_ERROR : CONTROL_OK,
		    problem ? problem : "");
	c->asking = CONTROL_CLIENTS_MAX;
}

/* The answer: *ret_len bytes, 0 = the other end hung up. */
static int control_exchange(int fd, const struct sockaddr_un *addr, const char *look,
			    char answer[CONTROL_TEXT_SZ], size_t *ret_len)
{
	struct timeval patience = { .tv_sec = CONTROL_ANSWER_SECS };
	char text[CONTROL_TEXT_SZ];
	int want = snprintf(text, sizeof(text), CONTROL_LOOK "%s", look);
	ssize_t len;

	if (want >= (int)sizeof(text))
		return -EMSGSIZE;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) ||
	    send(fd, text, (size_t)want, MSG_NOSIGNAL) != want)
		return -errno;
	len = recv(fd, answer, CONTROL_TEXT_SZ - 1, 0);
	if (len < 0)
		return -errno;
	*ret_len = (size_t)len;
	return 0;
}

int control_ask(const char *run_dir, pid_t pid, uint64_t start_ticks, const char *look)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	char answer[CONTROL_TEXT_SZ] = "";
	struct sockaddr_un addr;
	size_t len = 0;
	int err = fd < 0 ? -errno : control_address(run_dir, pid, start_ticks, &addr);

	if (!err)
		err = control_exchange(fd, &addr, look, answer, &len);
	if (fd >= 0)
		close(fd);
	if (err == -ENOENT || err == -ECONNREFUSED)
		return log_error(-ENOENT, "no dial9-agent records process %d: start one with "
					  "dial9-agent --pid %d",
				 (int)pid, (int)pid);
	if (err == -EACCES || err == -EPERM)
		return log_error(-EPERM, "may not ask the agent that records process %d: run as root",
				 (int)pid);
	if (err == -EAGAIN || (!err && !len))
		return log_error(-ETIMEDOUT, "the agent that records process %d gave no answer: it is "
					     "stopped, or about to end",
				 (int)pid);
	if (err)
		return log_error(err, "cannot ask the agent that records process %d: %s", (int)pid,
				 strerror(-err));
	answer[len] = '\0';
	if (strcmp(answer, CONTROL_OK) == 0)
		return 0;
	return log_error(-EINVAL, "the agent that records process %d answers: %s", (int)pid, answer);
}
