// SPDX-License-Identifier: Apache-2.0
/* serve.c - listen, say where, then let the library's threads answer until a signal ends it. */
#include "serve.h"

#include "command.h"
#include "gate.h"
#include "held.h"
#include "jsonout.h"
#include "notice.h"
#include "plain.h"
#include "web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SERVE_BACKLOG 128
#define SERVE_HOST_SZ 64
#define SERVE_SEND_SZ (256 << 10) /* of an answer in the kernel; the rest waits where it is counted */

struct serve_place {
	struct sockaddr_storage addr;
	socklen_t addr_sz;
	bool is_loopback;
	char host[SERVE_HOST_SZ]; /* as in a URL */
};

/* Loopback unless asked otherwise; only numeric addresses: what a name means can change. */
static int serve_place(const char *listen_on, uint64_t port, struct serve_place *ret)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&ret->addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&ret->addr;
	const char *text = listen_on ? listen_on : "127.0.0.1";

	*ret = (struct serve_place){ 0 };
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		ret->addr_sz = sizeof(*v4);
		ret->is_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
		snprintf(ret->host, sizeof(ret->host), "%s", text);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		ret->addr_sz = sizeof(*v6);
		ret->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
		snprintf(ret->host, sizeof(ret->host), "[%s]", text);
		return 0;
	}
	return notice(EXIT_USAGE, "--listen: '%s' is no numeric address: give one as 127.0.0.1 or ::1",
		      text);
}

static int serve_listen(struct serve_place *place, uint16_t *ret_port)
{
	int fd = socket(place->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
	int send_sz = SERVE_SEND_SZ;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_sz, sizeof(send_sz)); /* connections inherit it */
	if (bind(fd, (struct sockaddr *)&place->addr, place->addr_sz) != 0 ||
	    listen(fd, SERVE_BACKLOG) != 0 ||
	    getsockname(fd, (struct sockaddr *)&place->addr, &place->addr_sz) != 0) {
		int err = -errno;

		close(fd);
		return err;
	}
	/* both families keep it at the same place */
	*ret_port = ntohs(((struct sockaddr_in *)&place->addr)->sin_port);
	return fd;
}

static int serve_gate(struct gate *g, const struct request *req, const struct serve_place *place,
		      uint16_t port)
{
	unsigned char bytes[(GATE_TOKEN_SZ - 1) / 2];

	if (!gate_add_host(g, place->host, port) ||
	    (place->is_loopback &&
	     (!gate_add_host(g, "localhost", port) || !gate_add_host(g, "127.0.0.1", port) ||
	      !gate_add_host(g, "[::1]", port))))
		return notice(EXIT_FINDINGS, "no room for the server's own names");
	for (uint32_t i = 0; i < req->hosts_cnt; i++)
		if (!gate_add_host(g, req->hosts[i], port))
			return notice(EXIT_USAGE, "--allow-host: '%s' is no host name, or one too many",
				      req->hosts[i]);
	if (place->is_loopback && !req->token)
		return 0;
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return notice(EXIT_FINDINGS, "no random bytes for a token: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(g->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static void serve_say(const struct request *req, const struct gate *g, const char *host, uint16_t port)
{
	char url[256];
	struct json *j;

	/* one that takes all addresses is opened by a real one */
	if (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "[::]") == 0)
		host = req->hosts_cnt ? req->hosts[0] : "127.0.0.1";
	snprintf(url, sizeof(url), "http://%s:%u/%s%s", host, port, g->token[0] ? "#token=" : "",
		 g->token);
	if (req->json) {
		j = json_open(stdout, true);
		if (j) {
			json_map(j);
			json_put_text(j, "schema", "dial9-view.serve/1");
			json_put_text(j, "url", url);
			json_put_u64(j, "port", port);
			json_put_u64(j, "pid", (uint64_t)getpid());
			json_map_end(j);
			json_line(j);
		}
		json_close(j);
	} else {
		printf("dial9-view: ");
		plain_write(stdout, req->path, strlen(req->path));
		printf(" is at %s\n(Ctrl+C ends it)\n", url);
	}
	fflush(stdout);
}

int serve_run(const struct request *req, const struct traceset *set)
{
	struct serve_place place;
	struct gate gate = { 0 };
	struct timespec tick = { 1, 0 };
	struct held *held = NULL;
	struct web *web = NULL;
	uint16_t port = 0;
	sigset_t ends;
	int fd, code, got = 0;

	(void)set; /* listed again by the thread that keeps up with the directory */
	code = serve_place(req->listen_on, req->port, &place);
	if (code)
		return code;
	fd = serve_listen(&place, &port);
	if (fd < 0)
		return notice(EXIT_FINDINGS, "%s port %" PRIu64 ": cannot listen there: %s", place.host,
			      req->port, strerror(-fd));
	code = serve_gate(&gate, req, &place, port);
	if (code) {
		close(fd);
		return code;
	}
	/* before any thread is started, so that all of them leave these to this one */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	held = held_new(req->path);
	web = held ? web_start(fd, &gate, held, req->path) : NULL;
	if (!web) {
		close(fd);
		code = notice(EXIT_FINDINGS, "the server cannot start: out of memory or threads");
		goto out;
	}
	serve_say(req, &gate, place.host, port);
	while (got != SIGINT && got != SIGTERM && got != SIGHUP) {
		got = sigtimedwait(&ends, NULL, &tick);
		web_tick(web);
	}
out:
	web_stop(web);
	held_free(held);
	return code;
}
