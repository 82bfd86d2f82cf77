// SPDX-License-Identifier: Apache-2.0
/* reportcell.c - one cell of a report's tables after the other. */
#include "reportcell.h"

#include "histogram.h"
#include "labels.h"
#include "plain.h"
#include "report.h"

#include <inttypes.h>

#define REPORTCELL_NAME_COLUMNS 60 /* of a type or symbol: its end is kept */

const char *const reportcell_unknown = "-";

void reportcell_name(FILE *out, const struct report *r, uint32_t label)
{
	char name[4 * REPORTCELL_NAME_COLUMNS + 1];
	const char *text;
	size_t len;

	text = labels_text(r->labels, label, &len);
	plain_cut_type(name, sizeof(name), text, len, REPORTCELL_NAME_COLUMNS);
	fputs(name, out);
}

void reportcell_duration(FILE *out, int width, bool is_known, uint64_t ns)
{
	char text[PLAIN_SZ];

	fprintf(out, " %*s", width, is_known ? plain_duration(text, ns) : reportcell_unknown);
}

void reportcell_share(FILE *out, int width, bool is_known, uint64_t part, uint64_t whole)
{
	char text[PLAIN_SZ];

	fprintf(out, " %*s", width, is_known ? plain_share(text, part, whole) : reportcell_unknown);
}

void reportcell_quantiles(FILE *out, const struct histogram *h)
{
	reportcell_duration(out, 7, h->cnt > 0, histogram_quantile(h, 500));
	reportcell_duration(out, 7, h->cnt > 0, histogram_quantile(h, 990));
	reportcell_duration(out, 7, h->cnt > 0, h->max);
}

uint64_t reportcell_rows(uint64_t cnt, uint64_t top)
{
	return top && top < cnt ? top : cnt;
}

void reportcell_more(FILE *out, uint64_t cnt, uint64_t top)
{
	if (top && top < cnt)
		fprintf(out, "  ... %" PRIu64 " more: --top 0 prints all\n", cnt - top);
}
