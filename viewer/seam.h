/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seam.h - how a segment joins the one read before it.
 *
 * A recorder that is started again on the same process goes on with the numbers of its segments,
 * but nothing was recorded between: agent.session changes there. Files that somebody copied,
 * renamed or mixed betray themselves by their first clock pair, process.pid or boot_id.
 */
#ifndef DIAL9_SEAM_H
#define DIAL9_SEAM_H

#include <stdint.h>

#include "facts.h"
#include "traceset.h"

enum seam_kind {
	SEAM_FOLLOWS, /* what is open stays open */
	SEAM_HOLE, /* segments are missing between */
	SEAM_SESSION, /* another session begins */
	SEAM_BROKEN, /* other process, copy or wrong order: a notice said so, exit code 3 */
};

struct seam {
	struct facts before; /* of the file before; zero at first */
	uint32_t files;
};

/* Called once for each file, in order, when `facts` is up to date for it (reader_ops.begin). */
enum seam_kind seam_next(struct seam *s, const struct facts *facts,
			 const struct traceset_recording *rec, size_t file);

/* How many segments are gone before the first one of a directory; 0 for single files. */
uint64_t seam_evicted(const struct traceset_recording *rec);

#endif /* DIAL9_SEAM_H */
