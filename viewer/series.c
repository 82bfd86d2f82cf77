// SPDX-License-Identifier: Apache-2.0
/* series.c - recordings in the order of their names. */
#include "series.h"

#include "command.h"
#include "jsonout.h"
#include "notice.h"
#include "progress.h"
#include "traceset.h"

#include <errno.h>
#include <stdio.h>

int series_run(const struct request *req, const struct traceset *set, const struct series_ops *ops,
	       void *ctx)
{
	struct json *json = req->json ? json_open(stdout, true) : NULL;
	int err = req->json && !json ? -ENOMEM : 0, exit_code = 0;
	struct progress progress;

	progress_start(&progress, set->sz);
	if (json) {
		json_map(json);
		json_put_text(json, "schema", ops->schema);
		json_key(json, "recordings");
		json_list(json);
	}
	for (size_t i = 0; err == 0 && i < set->recordings_cnt; i++) {
		if (i > 0 && !json && !ops->is_bare)
			putchar('\n');
		err = ops->one(ctx, req, &set->recordings[i], json, &progress, &exit_code);
	}
	if (json) {
		json_list_end(json);
		if (ops->tail)
			ops->tail(ctx, json, exit_code);
		json_map_end(json);
	}
	if (json_close(json) == -ENOMEM || err)
		exit_code = notice(EXIT_FINDINGS, "%s: out of memory", req->path);
	return exit_code;
}
