// SPDX-License-Identifier: Apache-2.0
/* gate.c - the checks of gate.h, cheapest and most general first. */
#include "gate.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool gate_put_host(struct gate *g, const char *name, const char *port)
{
	char *to = g->hosts[g->hosts_cnt];
	int len;

	if (g->hosts_cnt == GATE_HOSTS_MAX)
		return false;
	len = snprintf(to, GATE_HOST_SZ, "%s%s", name, port);
	if (len < 0 || (size_t)len >= GATE_HOST_SZ)
		return false;
	for (char *p = to; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	g->hosts_cnt++;
	return true;
}

bool gate_add_host(struct gate *g, const char *name, unsigned int port)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_[]:";
	char text[8];

	if (!*name || strspn(name, allowed) != strlen(name))
		return false;
	snprintf(text, sizeof(text), ":%u", port);
	return gate_put_host(g, name, text) && (port != 80 || gate_put_host(g, name, ""));
}

static bool gate_knows(const struct gate *g, const char *host)
{
	for (unsigned int i = 0; i < g->hosts_cnt; i++)
		if (strcasecmp(host, g->hosts[i]) == 0)
			return true;
	return false;
}

/* Takes the same time for every wrong token of the right length. */
static bool gate_is_token(const struct gate *g, const char *token)
{
	size_t len = strlen(g->token);
	unsigned char differ = 0;

	if (!token || strlen(token) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		differ |= (unsigned char)(token[i] ^ g->token[i]);
	return differ == 0;
}

static unsigned int gate_refuse(unsigned int status, const char *why, const char **ret_why)
{
	*ret_why = why;
	return status;
}

unsigned int gate_check(const struct gate *g, const struct gate_request *r, const char **ret_why)
{
	static const char scheme[] = "http://";
	bool is_api = strncmp(r->path, "/api/", 5) == 0;

	if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
		return gate_refuse(405, "this server only reads: GET or HEAD", ret_why);
	if (r->has_body)
		return gate_refuse(400, "a request here has no body", ret_why);
	if (!r->host || r->hosts_cnt != 1)
		return gate_refuse(400, "exactly one Host header is needed", ret_why);
	if (!gate_knows(g, r->host))
		return gate_refuse(421, "not the name of this server: use the printed URL, or start "
					"it with --allow-host NAME",
				   ret_why);
	if (r->origin && (strncmp(r->origin, scheme, sizeof(scheme) - 1) != 0 ||
			  strcasecmp(r->origin + sizeof(scheme) - 1, r->host) != 0))
		return gate_refuse(403, "a page of another origin may not ask here", ret_why);
	if (r->site && strcmp(r->site, "same-origin") != 0 && strcmp(r->site, "none") != 0 &&
	    (is_api || !r->mode || strcmp(r->mode, "navigate") != 0))
		return gate_refuse(403, "a page of another site may not ask here", ret_why);
	if (is_api && g->token[0] && !gate_is_token(g, r->token))
		return gate_refuse(401, "the token is missing or wrong: open the printed URL", ret_why);
	return 0;
}
