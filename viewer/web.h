/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web.h - HTTP requests to answers: the gate first, then the page's files or a question of it.
 */
#ifndef DIAL9_WEB_H
#define DIAL9_WEB_H

#define WEB_THREADS 3u /* a long question must not hold up the others */
#define WEB_IDLE_S 15u /* a connection that says nothing for so long is closed */
#define WEB_CONNECTION_SZ (32u << 10) /* memory for a request's line and headers */

struct gate;
struct held;
struct web;

/* Takes over the listening socket, only if it succeeds; the rest is borrowed. NULL: no memory. */
struct web *web_start(int fd, const struct gate *gate, struct held *held, const char *path);
void web_stop(struct web *w); /* NULL is fine */

/* To be called about every second: ends connections that let wait. */
void web_tick(struct web *w);

#endif /* DIAL9_WEB_H */
