// SPDX-License-Identifier: Apache-2.0
/* reply.c - bodies compressed as the client offers, headers the same for all. */
#include "reply.h"

#include "jsonout.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

/* zstd at 1 is quick enough to win even over loopback; Chromium takes windows up to 8 MiB */
#define REPLY_ZSTD_LEVEL 1
#define REPLY_GZIP_LEVEL 1

static const char *const reply_headers[][2] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	  "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'; "
	  "require-trusted-types-for 'script'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Permissions-Policy", "camera=(), microphone=(), geolocation=(), usb=()" },
	{ "Vary", "Accept-Encoding" },
};

/* True if `name` stands in the list with a weight above 0. */
static bool reply_offers(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (*list) {
		const char *p = list + strspn(list, " \t,"), *end = p + strcspn(p, ",");
		const char *q = memchr(p, ';', (size_t)(end - p));
		size_t word = strcspn(p, " \t;,");

		if (word == len && strncasecmp(p, name, len) == 0) {
			q = q ? q + 1 + strspn(q + 1, " \t") : end;
			/* "q=0", "q=0.0" and so on refuse it */
			return !(end - q >= 3 && strncasecmp(q, "q=0", 3) == 0 &&
				 strspn(q + 3, ".0 \t") >= (size_t)(end - q - 3));
		}
		list = end;
	}
	return false;
}

enum reply_coding reply_choose(const char *accept)
{
	if (accept && reply_offers(accept, "zstd"))
		return REPLY_ZSTD;
	if (accept && reply_offers(accept, "gzip"))
		return REPLY_GZIP;
	return REPLY_IDENTITY;
}

static size_t reply_gzip(char *to, size_t room, const char *body, size_t sz)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)body,
		       .avail_in = (uInt)sz,
		       .next_out = (Bytef *)to,
		       .avail_out = (uInt)room };
	size_t got = 0;

	if (sz > UINT32_MAX / 2 ||
	    deflateInit2(&z, REPLY_GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	if (deflate(&z, Z_FINISH) == Z_STREAM_END)
		got = z.total_out;
	deflateEnd(&z);
	return got;
}

char *reply_encode(enum reply_coding coding, const char *body, size_t sz, size_t *ret_sz)
{
	size_t room = coding == REPLY_ZSTD ? ZSTD_compressBound(sz) : sz + sz / 1000 + 64, got = 0;
	char *to;

	if (coding == REPLY_IDENTITY || sz < REPLY_COMPRESS_MIN_SZ)
		return NULL;
	to = malloc(room);
	if (!to)
		return NULL;
	if (coding == REPLY_ZSTD) {
		got = ZSTD_compress(to, room, body, sz, REPLY_ZSTD_LEVEL);
		if (ZSTD_isError(got))
			got = 0;
	} else {
		got = reply_gzip(to, room, body, sz);
	}
	if (got == 0 || got >= sz) {
		free(to);
		return NULL;
	}
	*ret_sz = got;
	return to;
}

void reply_error(struct reply *r, unsigned int status, const char *text)
{
	FILE *out;
	struct json *j;

	if (!r->is_static)
		free(r->body);
	*r = (struct reply){ .status = status, .type = "application/json" };
	out = open_memstream(&r->body, &r->body_sz);
	j = out ? json_open(out, false) : NULL;
	if (j) {
		json_map(j);
		json_put_text(j, "error", text);
		json_map_end(j);
		json_line(j);
	}
	json_close(j);
	if (out)
		fclose(out);
}

/* A body that the library gives back once it is read, or its reader gone. */
struct reply_pending {
	char *body;
	size_t sz;
};

static atomic_size_t reply_pending_sz;

static void reply_read(void *ctx)
{
	struct reply_pending *p = ctx;

	atomic_fetch_sub(&reply_pending_sz, p->sz);
	free(p->body);
	free(p);
}

/* Takes the body, even where it fails: NULL, there is no room. */
static struct MHD_Response *reply_response(char *body, size_t sz)
{
	struct reply_pending *p = malloc(sizeof(*p));
	struct MHD_Response *response;

	if (!p) {
		free(body);
		return NULL;
	}
	*p = (struct reply_pending){ body, sz };
	if (atomic_fetch_add(&reply_pending_sz, sz) + sz <= REPLY_PENDING_MAX_SZ ||
	    sz <= REPLY_SMALL_SZ) {
		response = MHD_create_response_from_buffer_with_free_callback_cls(sz, body,
										  reply_read, p);
		if (response)
			return response;
	}
	reply_read(p);
	return NULL;
}

int reply_send(struct MHD_Connection *c, struct reply *r)
{
	static const char *const names[] = { NULL, "gzip", "zstd" };
	const char *offered = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept-Encoding");
	const char *known = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "If-None-Match");
	enum reply_coding coding = reply_choose(offered);
	struct MHD_Response *response;
	char *packed = NULL;
	size_t packed_sz;
	int ok = MHD_NO;

	if (r->etag && known && strcmp(known, r->etag) == 0 && r->status == MHD_HTTP_OK) {
		if (!r->is_static)
			free(r->body);
		r->body = NULL;
		r->body_sz = 0;
		r->status = MHD_HTTP_NOT_MODIFIED;
	} else {
		packed = reply_encode(coding, r->body ? r->body : "", r->body_sz, &packed_sz);
	}
	if (packed && !r->is_static)
		free(r->body);
	if (packed)
		response = reply_response(packed, packed_sz);
	else if (r->is_static || !r->body)
		response = MHD_create_response_from_buffer(r->body_sz, r->body ? r->body : (char[1]){ 0 },
							   MHD_RESPMEM_PERSISTENT);
	else
		response = reply_response(r->body, r->body_sz);
	r->body = NULL;
	if (!response) {
		static char full[] = "{\"error\":\"too many answers are being read: ask again in a moment\"}\n";

		packed = NULL;
		*r = (struct reply){ .status = MHD_HTTP_SERVICE_UNAVAILABLE, .type = "application/json" };
		response = MHD_create_response_from_buffer(sizeof(full) - 1, full,
							   MHD_RESPMEM_PERSISTENT);
	}
	if (!response)
		return MHD_NO;
	for (size_t i = 0; i < sizeof(reply_headers) / sizeof(reply_headers[0]); i++)
		MHD_add_response_header(response, reply_headers[i][0], reply_headers[i][1]);
	MHD_add_response_header(response, "Content-Type", r->type);
	MHD_add_response_header(response, "Cache-Control", r->etag ? "no-cache" : "no-store");
	if (r->etag)
		MHD_add_response_header(response, "ETag", r->etag);
	if (packed)
		MHD_add_response_header(response, "Content-Encoding", names[coding]);
	if (r->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	/* what was refused may be followed by a body that is not to be taken for a request */
	if (r->status >= 400)
		MHD_add_response_header(response, "Connection", "close");
	ok = (int)MHD_queue_response(c, r->status, response);
	MHD_destroy_response(response);
	return ok;
}
