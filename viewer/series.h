/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - one answer for each recording of a path: what stands around and between them.
 *
 * Text: the answers, an empty line between two. JSON: {"schema": S, "recordings": [ANSWER...]}.
 */
#ifndef DIAL9_SERIES_H
#define DIAL9_SERIES_H

#include <stdbool.h>

struct json;
struct progress;
struct request;
struct traceset;
struct traceset_recording;

struct series_ops {
	const char *schema; /* of the JSON */
	bool is_bare; /* nothing stands between two answers in text */
	/*
	 * Reads one recording and prints its answer, one JSON value if json is not NULL. May raise
	 * *exit_code (notice.h). 0, or -ENOMEM, which ends the series.
	 */
	int (*one)(void *ctx, const struct request *req, const struct traceset_recording *rec,
		   struct json *json, struct progress *progress, int *exit_code);
	/* What comes behind the list in JSON; may be NULL. */
	void (*tail)(void *ctx, struct json *json, int exit_code);
};

/* Returns an exit code of notice.h. */
int series_run(const struct request *req, const struct traceset *set, const struct series_ops *ops,
	       void *ctx);

#endif /* DIAL9_SERIES_H */
