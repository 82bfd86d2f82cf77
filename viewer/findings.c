// SPDX-License-Identifier: Apache-2.0
/* findings.c - a bounded list and its order. */
#include "findings.h"

#include "callplace.h"
#include "labels.h"
#include "pains.h"
#include "report.h"
#include "study.h"
#include "tasktable.h"
#include "typetable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int findings_init(struct findings *f)
{
	*f = (struct findings){ .at = calloc(FINDINGS_MAX, sizeof(*f->at)) };
	return f->at ? 0 : -ENOMEM;
}

void findings_done(struct findings *f)
{
	free(f->at);
	f->at = NULL;
}

struct finding *findings_add(struct findings *f, const char *kind, enum severity severity,
			     uint32_t type)
{
	static struct finding scrap;
	struct finding *at = f->cnt < FINDINGS_MAX ? &f->at[f->cnt++] : &scrap;

	f->over_cap += at == &scrap;
	*at = (struct finding){ .kind = kind, .severity = severity, .type = type };
	return at;
}

void findings_poll(struct finding *at, const struct pain_poll *p)
{
	at->has_task = at->has_span = true;
	at->has_worker = p->worker != MOMENT_NO_WORKER;
	at->task = p->task;
	at->nr = p->nr;
	at->worker = p->worker;
	at->from_ns = p->start_ns;
	at->to_ns = p->start_ns + p->ns;
}

void findings_place(struct finding *at, const struct study *s, const char *what, uint32_t stack)
{
	char function[301];
	const char *text;
	size_t len;

	if (callplace_function(function, sizeof(function), s, stack)) {
		snprintf(at->place, sizeof(at->place), "%s%s", what, function);
	} else if (at->type != TASK_TYPE_NONE) {
		text = labels_text(s->report->labels,
				   typetable_row(s->report->account.types, at->type)->label, &len);
		snprintf(at->place, sizeof(at->place), "%s%.*s", what, (int)(len < 300 ? len : 300),
			 text);
	}
}

static int findings_compare(const void *left, const void *right, void *ctx)
{
	const struct finding *a = left, *b = right;
	const struct study *s = ctx;
	int order = (int)b->severity - (int)a->severity;

	if (order == 0)
		order = (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
	if (order == 0)
		order = (a->cnt < b->cnt) - (a->cnt > b->cnt);
	if (order == 0)
		order = strcmp(a->kind, b->kind);
	if (order == 0 && a->type != TASK_TYPE_NONE && b->type != TASK_TYPE_NONE)
		order = labels_compare(s->report->labels,
				       typetable_row(s->report->account.types, a->type)->label,
				       typetable_row(s->report->account.types, b->type)->label);
	return order ? order : strcmp(a->place, b->place);
}

void findings_sort(struct findings *f, struct study *s)
{
	qsort_r(f->at, f->cnt, sizeof(*f->at), findings_compare, s);
}
