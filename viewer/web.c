// SPDX-License-Identifier: Apache-2.0
/* web.c - libmicrohttpd on one side, gate, assets and api on the other. */
#include "web.h"

#include "api.h"
#include "apicall.h"
#include "assets.h"
#include "finder.h"
#include "gate.h"
#include "guests.h"
#include "reply.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

struct web {
	struct MHD_Daemon *daemon;
	struct guests *guests;
	const struct gate *gate;
	struct held *held;
	struct finder *finder;
	const char *path;
	pthread_mutex_t lock; /* of what follows */
	struct MHD_Connection *waiting[GUESTS_MAX]; /* suspended until the finder is done */
	unsigned int waiting_cnt;
};

static uint64_t web_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const char *web_header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result web_count_host(void *ctx, enum MHD_ValueKind kind, const char *key,
				      const char *value)
{
	unsigned int *cnt = ctx;

	(void)kind;
	(void)value;
	*cnt += strcasecmp(key, "Host") == 0;
	return MHD_YES;
}

static const char *web_arg(void *ctx, const char *key)
{
	const char *value = MHD_lookup_connection_value(ctx, MHD_GET_ARGUMENT_KIND, key);

	return value && *value ? value : NULL;
}

static int web_slot(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	/* slot + 1, so that NULL is none */
	return info && info->socket_context ? (int)(intptr_t)info->socket_context - 1 : -1;
}

static bool web_has_body(struct MHD_Connection *c)
{
	const char *length = web_header(c, "Content-Length");

	return web_header(c, "Transfer-Encoding") || (length && strcmp(length, "0") != 0);
}

static void web_answer(struct web *w, struct MHD_Connection *c, const char *path, bool has_waited,
		       struct reply *r)
{
	const struct asset *asset = asset_find(path);
	struct api_call call = { .arg = web_arg,
				 .ctx = c,
				 .path = w->path,
				 .held = w->held,
				 .finder = w->finder,
				 .has_waited = has_waited,
				 .reply = r };

	if (asset) {
		*r = (struct reply){ .status = MHD_HTTP_OK,
				     .type = asset->type,
				     .body = (char *)(uintptr_t)asset->from,
				     .body_sz = (size_t)(asset->to - asset->from),
				     .is_static = true };
		return;
	}
	if (strncmp(path, "/api/", 5) == 0)
		api_answer(&call, path);
	else
		reply_error(r, MHD_HTTP_NOT_FOUND, "nothing of this name is served here");
}

/* The finder is done (or ends): those who wait for it ask again. */
static void web_on_found(void *ctx)
{
	struct web *w = ctx;

	pthread_mutex_lock(&w->lock);
	while (w->waiting_cnt)
		MHD_resume_connection(w->waiting[--w->waiting_cnt]);
	pthread_mutex_unlock(&w->lock);
}

/*
 * Answers, or suspends the connection so that its thread serves others meanwhile: then true. The
 * lock is held so that what the finder finds cannot slip in between.
 */
static bool web_answer_or_wait(struct web *w, struct MHD_Connection *c, const char *path,
			       bool has_waited, struct reply *r)
{
	bool is_waiting;

	web_answer(w, c, path, has_waited, r);
	if (!r->is_later)
		return false;
	pthread_mutex_lock(&w->lock);
	*r = (struct reply){ 0 };
	web_answer(w, c, path, has_waited, r);
	is_waiting = r->is_later && w->waiting_cnt < GUESTS_MAX;
	if (is_waiting) {
		MHD_suspend_connection(c);
		w->waiting[w->waiting_cnt++] = c;
	} else if (r->is_later) {
		reply_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too many wait for this already");
	}
	pthread_mutex_unlock(&w->lock);
	return is_waiting;
}

static enum MHD_Result web_on_request(void *ctx, struct MHD_Connection *c, const char *url,
				      const char *method, const char *version, const char *body,
				      size_t *body_sz, void **own)
{
	static int is_known, has_waited;
	struct web *w = ctx;
	struct gate_request ask = { .method = method, .path = url };
	struct reply r = { 0 };
	char etag[ASSET_ETAG_SZ];
	const char *why = NULL;
	unsigned int refused;

	(void)version;
	(void)body;
	if (!*own) { /* the headers are there; the call after this one comes when all is */
		*own = &is_known;
		if (!web_has_body(c))
			return MHD_YES;
	}
	*body_sz = 0;
	guests_asked(w->guests, web_slot(c));
	MHD_get_connection_values(c, MHD_HEADER_KIND, web_count_host, &ask.hosts_cnt);
	ask.host = web_header(c, "Host");
	ask.origin = web_header(c, "Origin");
	ask.site = web_header(c, "Sec-Fetch-Site");
	ask.mode = web_header(c, "Sec-Fetch-Mode");
	ask.token = web_header(c, "X-Dial9-Token");
	ask.has_body = web_has_body(c);
	refused = gate_check(w->gate, &ask, &why);
	if (refused) {
		reply_error(&r, refused, why);
	} else if (web_answer_or_wait(w, c, url, *own == &has_waited, &r)) {
		*own = &has_waited;
		return MHD_YES;
	}
	if (r.is_static)
		r.etag = asset_etag(etag, asset_find(url));
	guests_sending(w->guests, web_slot(c), web_now_ns());
	return (enum MHD_Result)reply_send(c, &r);
}

static void web_on_connection(void *ctx, struct MHD_Connection *c, void **own,
			      enum MHD_ConnectionNotificationCode code)
{
	struct web *w = ctx;
	const union MHD_ConnectionInfo *info;
	int slot;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		guests_leave(w->guests, (int)(intptr_t)*own - 1);
		return;
	}
	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	slot = info ? guests_enter(w->guests, info->connect_fd, web_now_ns()) : -1;
	*own = (void *)(intptr_t)(slot + 1);
}

static void web_on_answered(void *ctx, struct MHD_Connection *c, void **own,
			    enum MHD_RequestTerminationCode code)
{
	struct web *w = ctx;

	(void)own;
	(void)code;
	guests_answered(w->guests, web_slot(c), web_now_ns());
}

/* A path of "/app.js%00" is not "/app.js": what would end the string early becomes a character that no
 * name has. */
static size_t web_unescape(void *ctx, struct MHD_Connection *connection, char *text)
{
	size_t len = MHD_http_unescape(text);

	(void)ctx;
	(void)connection;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = '\001';
	return len;
}

struct web *web_start(int fd, const struct gate *gate, struct held *held, const char *path)
{
	struct web *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->gate = gate;
	w->held = held;
	w->path = path;
	pthread_mutex_init(&w->lock, NULL);
	w->guests = guests_new();
	w->finder = finder_new(path, NULL, 0, web_on_found, w);
	if (w->guests && w->finder)
		w->daemon = MHD_start_daemon(
			MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, web_on_request, w,
			MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, WEB_THREADS,
			MHD_OPTION_CONNECTION_LIMIT, GUESTS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
			WEB_IDLE_S, MHD_OPTION_UNESCAPE_CALLBACK, web_unescape, NULL,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)WEB_CONNECTION_SZ,
			MHD_OPTION_NOTIFY_CONNECTION, web_on_connection, w,
			MHD_OPTION_NOTIFY_COMPLETED, web_on_answered, w, MHD_OPTION_STRICT_FOR_CLIENT,
			1, MHD_OPTION_END);
	if (w->daemon)
		return w;
	finder_free(w->finder);
	guests_free(w->guests);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return NULL;
}

void web_stop(struct web *w)
{
	if (!w)
		return;
	finder_stop(w->finder); /* nobody may be left suspended */
	MHD_stop_daemon(w->daemon);
	finder_free(w->finder);
	guests_free(w->guests);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void web_tick(struct web *w)
{
	guests_expire(w->guests, web_now_ns());
}
