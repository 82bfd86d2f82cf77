/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.h - an answer on its way out: body, compression, and the headers that every one carries.
 *
 * The headers forbid everything a page here has no need of: scripts and styles from elsewhere or
 * inline, frames, forms, connections to other servers, guessing of types, referrers.
 */
#ifndef DIAL9_REPLY_H
#define DIAL9_REPLY_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;

/* Answers that are being read, together: with more, a further one is 503; but for small ones, so that
 * who reads slowly does not keep others from being told what is the case. */
#define REPLY_PENDING_MAX_SZ (128u << 20)
#define REPLY_SMALL_SZ (64u << 10)
#define REPLY_COMPRESS_MIN_SZ 512u /* smaller bodies go as they are */

enum reply_coding { REPLY_IDENTITY, REPLY_GZIP, REPLY_ZSTD };

struct reply {
	unsigned int status;
	const char *type; /* content type */
	const char *etag; /* NULL: the body is not to be kept; else it may be, and asked for again */
	char *body; /* from malloc, freed by reply_send; or see is_static */
	size_t body_sz;
	bool is_static; /* body is nobody's to free */
	bool is_later; /* there is no answer yet: ask again when told to */
};

/* The best coding that an Accept-Encoding header (or NULL) allows. */
enum reply_coding reply_choose(const char *accept);

/* The body in a coding: a new buffer, or NULL where that does not help or memory is short. */
char *reply_encode(enum reply_coding coding, const char *body, size_t sz, size_t *ret_sz);

/* A JSON map {"error": text}. */
void reply_error(struct reply *r, unsigned int status, const char *text);

/* Queues it and frees the body. An enum MHD_Result. */
int reply_send(struct MHD_Connection *c, struct reply *r);

#endif /* DIAL9_REPLY_H */
