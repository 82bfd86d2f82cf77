/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - may this request be answered at all? Asked before anything else looks at it.
 *
 * A page of another site, open in the same browser, can send requests to a server on loopback, and
 * a name of its own that it lets point to 127.0.0.1 makes it "same-origin" there. So: the Host must
 * be ours to the letter (no prefix, no suffix), an Origin must be ours, and where the browser says
 * who asks (Sec-Fetch-Site), it must be our own page; only opening the page itself by a link from
 * elsewhere is allowed. On any address but loopback the API wants a token as well, which comes in
 * the fragment of the printed URL, so it stands in no log and no Referer.
 *
 * Pure: no sockets, no allocation. All texts come from the client and may hold anything.
 */
#ifndef DIAL9_GATE_H
#define DIAL9_GATE_H

#include <stdbool.h>
#include <stddef.h>

#define GATE_HOSTS_MAX 16u /* names the server answers to; adding more is false */
#define GATE_HOST_SZ 256u
#define GATE_TOKEN_SZ 33u /* 32 hex digits */

struct gate {
	char hosts[GATE_HOSTS_MAX][GATE_HOST_SZ]; /* "127.0.0.1:8080", in lower case */
	unsigned int hosts_cnt;
	char token[GATE_TOKEN_SZ]; /* empty: none is asked for */
};

struct gate_request {
	const char *method;
	const char *path; /* decoded, without the query */
	const char *host; /* NULL: none */
	unsigned int hosts_cnt; /* Host headers in the request */
	const char *origin, *site, *mode; /* Origin, Sec-Fetch-Site, Sec-Fetch-Mode; NULL: none */
	const char *token;
	bool has_body;
};

/* The name with its port, and for port 80 without. False: no room, or no such name (empty, too
 * long, or with characters that no Host has). */
bool gate_add_host(struct gate *g, const char *name, unsigned int port);

/* 0: go on. Else the HTTP status to refuse with, and why in *ret_why. */
unsigned int gate_check(const struct gate *g, const struct gate_request *r, const char **ret_why);

#endif /* DIAL9_GATE_H */
