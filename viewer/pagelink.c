// SPDX-License-Identifier: Apache-2.0
/* pagelink.c - the page's own query parameters, made of the options; one line for each recording. */
#include "pagelink.h"

#include "command.h"
#include "jsonout.h"
#include "notice.h"
#include "report.h"
#include "study.h"
#include "traceset.h"
#include "workertable.h"

#include <inttypes.h>
#include <string.h>

struct link {
	uint64_t start_ns; /* of the poll asked for; 0: not found, or none was asked for */
	uint64_t end_ns;
};

static void link_poll(struct study *s, uint32_t worker, const struct worker_poll *p,
		      uint64_t end_ns)
{
	struct link *own = s->own;

	(void)worker;
	if (!s->req->explain_nr || p->nr != s->req->explain_nr || p->task != s->req->task)
		return;
	own->start_ns = p->start_ns;
	own->end_ns = end_ns;
}

static int link_finish(struct study *s)
{
	const struct link *own = s->own;

	if (s->req->explain_nr && !own->start_ns)
		s->exit_code = notice(EXIT_FINDINGS,
				      "link: %s holds no poll %" PRIu32 " of task %" PRIu64
				      " whose length is known",
				      s->report->recording->name, s->req->explain_nr, s->req->task);
	return 0;
}

/* As a value of a query: all but letters, digits and "-._~" as %XX. */
static void link_escape(char *to, size_t room, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t at = 0;

	for (; *text && at + 4 < room; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		    strchr("-._~", c)) {
			to[at++] = (char)c;
			continue;
		}
		to[at++] = '%';
		to[at++] = digits[c >> 4];
		to[at++] = digits[c & 15];
	}
	to[at] = '\0';
}

static void link_make(char *to, size_t room, const struct study *s)
{
	const struct request *q = s->req;
	const struct link *own = s->own;
	char name[3 * 256 + 1], type[3 * 256 + 1];
	int len;

	link_escape(name, sizeof(name), s->report->recording->name);
	len = snprintf(to, room, "/?rec=%s", name);
	if (q->has_from)
		len += snprintf(to + len, room - (size_t)len, "&start=%" PRIu64, s->filter.from_ns);
	if (q->has_to)
		len += snprintf(to + len, room - (size_t)len, "&end=%" PRIu64, s->filter.to_ns);
	if (own->start_ns)
		len += snprintf(to + len, room - (size_t)len,
				"&region=%" PRIu64 "-%" PRIu64 "&poll=%" PRIu64 ":%" PRIu64,
				own->start_ns, own->end_ns, own->start_ns, q->task);
	if (q->has_task)
		len += snprintf(to + len, room - (size_t)len, "&task=%" PRIu64, q->task);
	if (q->type) {
		link_escape(type, sizeof(type), q->type);
		len += snprintf(to + len, room - (size_t)len, "&task-scope=%s", type);
	}
	snprintf(to + len, room - (size_t)len, "#v=1");
}

static void link_text(FILE *out, struct study *s)
{
	char text[2048];

	link_make(text, sizeof(text), s);
	fprintf(out, "%s\n", text);
}

static void link_json(struct json *j, struct study *s)
{
	char text[2048];

	link_make(text, sizeof(text), s);
	json_put_text(j, "link", text);
}

int pagelink_run(const struct request *req, const struct traceset *set)
{
	static const struct study_ops ops = {
		.schema = "dial9-view.link/1",
		.own_sz = sizeof(struct link),
		.is_bare = true,
		.poll = link_poll,
		.finish = link_finish,
		.text = link_text,
		.json = link_json,
	};

	return study_run(req, set, &ops);
}
