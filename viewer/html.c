// SPDX-License-Identifier: Apache-2.0
/* html.c - head, tables, escaped text. */
#include "html.h"

#include "plain.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* test/cli/export.bats says the hash when a letter here changes. */
static const char html_style[] =
	":root{color-scheme:light "
	"dark;--ink:#1b1f24;--dim:#57606a;--line:#d0d7de;--back:#fff;--bar:#0969da;"
	"--bad:#cf222e;--warn:#9a6700}"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9198a1;--line:#3d444d;--back:"
	"#0d1117;"
	"--bar:#58a6ff;--bad:#ff7b72;--warn:#d29922}}"
	"body{margin:2em auto;max-width:76em;padding:0 1em;background:var(--back);color:var(--ink);"
	"font:14px/1.45 system-ui,sans-serif}"
	"h1{font-size:1.5em;margin:0}h2{font-size:1.15em;margin:2em 0 .5em;border-bottom:1px solid "
	"var(--line)}"
	"p{margin:.3em 0}.note{color:var(--dim)}"
	"table{border-collapse:collapse;width:100%}th{text-align:left;color:var(--dim);font-weight:"
	"600}"
	"th,.critical,.warning,.info{white-space:nowrap}td,th{padding:.2em .6em .2em 0;border-bottom:1px solid var(--line);vertical-align:top;"
	"overflow-wrap:anywhere}.n{text-align:right;white-space:nowrap;font-variant-numeric:"
	"tabular-nums}"
	".critical{color:var(--bad);font-weight:600}.warning{color:var(--warn);font-weight:600}"
	"svg{width:100%;height:auto;display:block}svg text{font:10px "
	"ui-monospace,monospace;fill:var(--ink)}"
	".b1,.b2,.b3,.b4,.b5,.b6,.b7,.b8{fill:var(--bar)}.b1{fill-opacity:.15}.b2{fill-opacity:.27}"
	".b3{fill-opacity:.39}.b4{fill-opacity:.51}.b5{fill-opacity:.63}.b6{fill-opacity:.75}"
	".b7{fill-opacity:.87}.back{fill:var(--line);fill-opacity:.35}.bad{fill:var(--bad)}"
	".f0,.f1,.f2{stroke:var(--back);stroke-width:.5}.f0{fill:#e8590c;fill-opacity:.55}"
	".f1{fill:#f08c00;fill-opacity:.55}.f2{fill:#fab005;fill-opacity:.5}"
	"summary{cursor:pointer}details{margin:.3em 0}";
#define HTML_STYLE_HASH "ZT/Qwaj2iXiMMGaTVY3+cr/ZDwCua8Am2QT0WdZY9Ak="

void html_begin(FILE *out, const char *title)
{
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src "
	      "'sha256-" HTML_STYLE_HASH "'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
	      out);
	html_text(out, title);
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>", html_style);
	html_text(out, title);
	fputs("</h1>\n", out);
}

void html_end(FILE *out)
{
	fputs("</main>\n</body>\n</html>\n", out);
}

void html_safe(FILE *out, const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		switch (p[i]) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(p[i], out);
		}
}

void html_bytes(FILE *out, const char *p, size_t len)
{
	char *safe = NULL;
	size_t sz = 0;
	FILE *f = open_memstream(&safe, &sz);

	if (!f) {
		fputc('?', out);
		return;
	}
	plain_write(f, p, len);
	if (fclose(f) == 0)
		html_safe(out, safe, sz);
	free(safe);
}

void html_text(FILE *out, const char *text)
{
	html_bytes(out, text, strlen(text));
}

void html_section(FILE *out, const char *title)
{
	fputs("<h2>", out);
	html_text(out, title);
	fputs("</h2>\n", out);
}

void html_table(FILE *out, const char *const *heads)
{
	fputs("<table>\n<thead><tr>", out);
	for (; *heads; heads++) {
		bool is_number = **heads == '#';

		fprintf(out, "<th scope=\"col\"%s>", is_number ? " class=\"n\"" : "");
		html_text(out, *heads + is_number);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
}

void html_row(FILE *out)
{
	fputs("<tr>", out);
}

void html_cell(FILE *out, const char *p, size_t len)
{
	fputs("<td>", out);
	html_bytes(out, p, len);
	fputs("</td>", out);
}

static void html_numeric(FILE *out, const char *text)
{
	fprintf(out, "<td class=\"n\">%s</td>", text);
}

void html_number(FILE *out, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	html_numeric(out, text);
}

void html_duration(FILE *out, int is_known, uint64_t ns)
{
	char text[PLAIN_SZ];

	html_numeric(out, is_known ? plain_duration(text, ns) : "-");
}

void html_share(FILE *out, uint64_t part, uint64_t whole)
{
	char text[PLAIN_SZ];

	html_numeric(out, plain_share(text, part, whole));
}

void html_row_end(FILE *out)
{
	fputs("</tr>\n", out);
}

void html_table_end(FILE *out)
{
	fputs("</tbody>\n</table>\n", out);
}
