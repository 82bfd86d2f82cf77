/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests.h - the open connections, so that a slow one cannot stay for ever.
 *
 * The library ends a connection that is silent for a while; one that drips a byte now and then is
 * not silent. So each has a time until its next request must be there, whole; and as who reads an
 * answer byte by byte holds its memory, that has a time as well.
 */
#ifndef DIAL9_GUESTS_H
#define DIAL9_GUESTS_H

#include <stdint.h>

#define GUESTS_MAX 256u /* connections at a time; further ones are closed at once */
#define GUESTS_REQUEST_NS 10000000000ull /* from the end of an answer, or the start, to a request */
#define GUESTS_ANSWER_NS 30000000000ull /* from an answer's being made until all of it is out */

struct guests;

struct guests *guests_new(void); /* NULL: no memory */
void guests_free(struct guests *c); /* NULL is fine */

/* A slot's number, or -1: full. */
int guests_enter(struct guests *c, int fd, uint64_t now_ns);
void guests_leave(struct guests *c, int slot); /* before the descriptor is closed */

/* A request has come whole (it may take its time to answer); its answer is made; it is out. */
void guests_asked(struct guests *c, int slot);
void guests_sending(struct guests *c, int slot, uint64_t now_ns);
void guests_answered(struct guests *c, int slot, uint64_t now_ns);

/* Shuts down those whose time is over. Returns how many. */
unsigned int guests_expire(struct guests *c, uint64_t now_ns);

#endif /* DIAL9_GUESTS_H */
