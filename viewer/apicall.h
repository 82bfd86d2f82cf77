/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apicall.h - one question of the page: its parameters, and an answer in the making.
 *
 * PAGE.md lists the questions. Parameters come from the client: each is read by one of the
 * functions here, within limits that the caller names; one that is wrong ends the call with 400.
 */
#ifndef DIAL9_APICALL_H
#define DIAL9_APICALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/columns.h"

struct finder;
struct held;
struct json;
struct reply;

#define API_LANES_MAX 256u /* lanes in one question */
#define API_PX_MAX 4096u /* cells in one question */

struct api_call {
	const char *(*arg)(void *ctx, const char *key); /* value of a parameter, NULL if absent */
	void *ctx;
	const char *path; /* of the traces, as given to the program */
	struct held *held;
	struct finder *finder;
	bool has_waited; /* asked before, and told that the answer comes later */
	struct reply *reply;
	const struct columns *c; /* NULL: the question is not about a recording; set before: about it */
	uint64_t generation;
	uint64_t base_ns; /* times in answers and questions count from here */
	FILE *out;
	struct json *j;
};

/* A number in [lo, hi]; *ret keeps its value if the parameter is absent. False: 400 is set. */
bool api_number(struct api_call *call, const char *key, uint64_t lo, uint64_t hi, uint64_t *ret);

/* from= and to=, relative ns, made absolute; absent: the recording's ends. False: 400 is set. */
bool api_span(struct api_call *call, uint64_t *ret_from_ns, uint64_t *ret_to_ns);

/* lanes=3,5-9 (rows of lanes); absent: all, up to the cap. Returns how many, 0: 400 is set. */
uint32_t api_lanes(struct api_call *call, uint32_t lanes[API_LANES_MAX]);

bool api_bad(struct api_call *call, const char *text); /* 400; false */
bool api_missing(struct api_call *call, const char *text); /* 404; false */

/* Starts a JSON map as the answer. NULL: 500 is set. */
struct json *api_begin(struct api_call *call);
void api_end(struct api_call *call); /* ends it */
void api_done(struct api_call *call); /* frees what an ended or broken-off answer holds */

/* Takes over a buffer from malloc as the answer; NULL: 500 is set. */
void api_bytes(struct api_call *call, void *p, size_t sz);

/* ---- what many answers say the same way ---- */
void api_text(struct json *j, const char *key, const struct columns *c, uint32_t text);
void api_rel(struct json *j, const char *key, const struct api_call *call, uint64_t ns);
bool api_is(const struct columns *c, uint32_t text, const char *want); /* is that text this? */
uint32_t api_schema(const struct columns *c, const char *name); /* its row; schemas.cnt: none */
void api_poll(struct api_call *call, const char *key, uint32_t poll); /* as a map, null for NONE */

#define API_BINS 512u /* 8 to an octave */
/* 0 for 0, else 1 + 8 log2(ns), at most 255: the byte by which the page knows a length. */
uint8_t api_log(uint64_t ns);
uint32_t api_bin(uint64_t ns);

#endif /* DIAL9_APICALL_H */
