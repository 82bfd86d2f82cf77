// SPDX-License-Identifier: Apache-2.0
/* The event table of FORMAT.md is the list of records.def. D9_GOLDEN_UPDATE=1 writes it again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/trace.h"

#define DOC "format/FORMAT.md"
#define BEGIN "<!-- events -->\n"
#define END "<!-- /events -->\n"
#define DOC_SZ (1u << 18)

static void print_event(FILE *to, const struct d9_event_def *def)
{
	fprintf(to, "\n### %s (%s)\n%s.\n\n| field | type | |\n|---|---|---|\n", def->name,
		def->is_written ? "W" : "R", def->doc);
	for (uint16_t i = 0; i < def->field_cnt; i++) {
		const struct d9_field_def *f = &def->fields[i];

		fprintf(to, "| %s | %s%s | %s |\n", f->name, f->type & D9_T_OPTIONAL ? "o " : "",
			d9_type_name(f->type & (uint8_t)~D9_T_OPTIONAL), f->doc);
	}
}

static char *table(void)
{
	char *text = NULL;
	size_t sz;
	FILE *to = open_memstream(&text, &sz);

	for (unsigned int ev = 0; ev < D9_EV_CNT; ev++)
		print_event(to, d9_event_def((enum d9_event)ev));
	fputc('\n', to);
	fclose(to);
	return text;
}

static char *doc_read(void)
{
	char *doc = calloc(1, DOC_SZ);
	FILE *f = fopen(DOC, "r");

	if (!f)
		fail_msg("cannot open %s; run from the top of the tree", DOC);
	assert_in_range(fread(doc, 1, DOC_SZ - 1, f), 1000, DOC_SZ - 2);
	fclose(f);
	return doc;
}

static void doc_write(const char *doc, const char *begin, const char *events, const char *end)
{
	FILE *f = fopen(DOC, "w");

	assert_non_null(f);
	fprintf(f, "%.*s%s%s", (int)(begin - doc), doc, events, end);
	fclose(f);
}

static void table_is_in_step(void **state)
{
	char *doc = doc_read(), *want = table();
	char *begin = strstr(doc, BEGIN), *end = strstr(doc, END);

	(void)state;
	assert_non_null(begin);
	assert_non_null(end);
	begin += strlen(BEGIN);
	if (getenv("D9_GOLDEN_UPDATE")) {
		doc_write(doc, begin, want, end);
	} else {
		*end = '\0';
		assert_string_equal(begin, want);
	}
	free(doc);
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_in_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
