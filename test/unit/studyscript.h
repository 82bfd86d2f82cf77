/* SPDX-License-Identifier: Apache-2.0 */
/*
 * studyscript.h - an empty study for tests of what analyses count and judge.
 *
 * Inline: it is of use only to tests that link the viewer.
 */
#ifndef DIAL9_STUDYSCRIPT_H
#define DIAL9_STUDYSCRIPT_H

#include "viewer/behind.h"
#include "viewer/command.h"
#include "viewer/labels.h"
#include "viewer/report.h"
#include "viewer/study.h"
#include "viewer/traceset.h"
#include "viewer/typetable.h"

#include <stdlib.h>
#include <string.h>

/* A study of `own_sz` bytes of own state whose recording lasts span_ns. */
static inline struct study *studyscript_begin(const struct request *req, size_t own_sz,
					      uint64_t span_ns)
{
	static const struct traceset_recording recording;
	struct study *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->req = req;
	s->report = report_new(&recording, true);
	s->own = calloc(1, own_sz);
	s->behind = behind_new(NULL, NULL);
	assert_true(s->report && s->own && s->behind);
	s->report->span_ns = span_ns;
	filter_init(&s->filter, req);
	return s;
}

static inline void studyscript_end(struct study *s)
{
	report_free(s->report);
	behind_free(s->behind);
	free(s->own);
	free(s);
}

/* The row of a task type. */
static inline uint32_t studyscript_type(struct study *s, const char *name)
{
	return typetable_find(s->report->account.types,
			      labels_put(s->report->labels, name, strlen(name)));
}

#endif /* DIAL9_STUDYSCRIPT_H */
