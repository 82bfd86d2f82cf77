// SPDX-License-Identifier: Apache-2.0
/* rustname.c - demangles by libiberty, and finds the future in what that prints. */
#include "rustname.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OUTPUT_MAX (256u << 10)

struct rustname_out {
	char *buf;
	size_t sz, len;
	size_t total_len; /* also of what no longer fits */
	jmp_buf stop;
};

/*
 * A v0 symbol may refer back to its own parts, so a few hundred bytes can print for years. The
 * demangler knows no limit and no way to stop: leaving it from here is the only one.
 */
static void rustname_take(const char *text, size_t len, void *opaque)
{
	struct rustname_out *out = opaque;
	size_t room = out->sz - 1 - out->len;
	size_t part = len < room ? len : room;

	if (part > 0) /* text may be NULL for nothing */
		memcpy(out->buf + out->len, text, part);
	out->len += part;
	out->total_len += len;
	if (out->total_len > OUTPUT_MAX)
		longjmp(out->stop, 1);
}

/* Length of the valid UTF-8 sequence at `p`, 0 if there is none. */
static size_t rustname_utf8(const unsigned char *p)
{
	size_t len = p[0] < 0x80		   ? 1
		     : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
		     : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
		     : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
						   : 0;
	uint32_t point = len < 2 ? p[0] : p[0] & (0x7fu >> len);

	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80) /* the ending NUL, too */
			return 0;
		point = point << 6 | (p[i] & 0x3f);
	}
	if ((len == 3 && point < 0x800) || (len == 4 && (point < 0x10000 || point > 0x10ffff)) ||
	    (point >= 0xd800 && point < 0xe000) || (point >= 0x80 && point < 0xa0))
		return 0;
	return len;
}

void rustname_clean(char *text)
{
	unsigned char *p = (unsigned char *)text;

	while (*p) {
		size_t len = rustname_utf8(p);

		if (len == 0 || *p < 0x20 || *p == 0x7f) {
			*p = '?';
			len = 1;
		}
		p += len;
	}
}

void rustname_demangle(const char *mangled, char *buf, size_t sz)
{
	struct rustname_out out = { .buf = buf, .sz = sz };
	volatile bool is_done = false;

	if (sz == 0)
		return;
	if (strnlen(mangled, RUSTNAME_MANGLED_MAX) < RUSTNAME_MANGLED_MAX) {
		if (setjmp(out.stop) == 0)
			is_done = rust_demangle_callback(mangled, DMGL_PARAMS, rustname_take, &out);
		else
			is_done = true; /* what was printed up to the limit */
	}
	if (is_done)
		buf[out.len] = '\0';
	else
		snprintf(buf, sz, "%s", mangled);
	rustname_clean(buf);
}

/* The end of the generic argument that starts at `p`: at its comma or closing bracket; NULL when
 * the brackets do not match. */
static const char *rustname_argument_end(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		if (p[0] == '\'' && p[1] && p[2] == '\'') {
			p += 2; /* a char constant may be a bracket */
		} else if (p[0] == '-' && p[1] == '>') {
			p++;
		} else if (strchr("<([{", *p)) {
			depth++;
		} else if (depth == 0 && (*p == '>' || *p == ',')) {
			return p;
		} else if (strchr(">)]}", *p) && --depth < 0) {
			return NULL;
		}
	}
	return NULL;
}

/* The first generic argument of `name` (a path that ends there), wherever it stands in `text`. */
static const char *rustname_argument(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = strstr(text, name); p; p = strstr(p + 1, name)) {
		if (p > text && p[-1] != ':' && p[-1] != '<' && p[-1] != ' ' && p[-1] != ',')
			continue; /* the end of a longer name */
		if (p[len] == '<')
			return p + len + 1;
		if (strncmp(p + len, "::<", 3) == 0)
			return p + len + 3;
	}
	return NULL;
}

int rustname_future(const char *function, char *buf, size_t sz)
{
	static const char *const holders[] = {
		"tokio::runtime::task::core::Cell",
		"tokio::runtime::task::core::Core",
		"tokio::runtime::task::core::CoreStage",
		"tokio::runtime::task::core::Stage",
	};
	static const char blocking[] = "tokio::runtime::blocking::task::BlockingTask<";
	const char *start = NULL, *end, *open = strchr(function, '<');

	if (strncmp(function, "poll<", 5) == 0)
		start = function + 5;
	else if (strncmp(function, "tokio::runtime::task::raw::poll::<", 34) == 0)
		start = function + 34;
	else if (open && strncmp(function, "core::ptr::drop_in_place", 24) == 0)
		for (size_t i = 0; i < sizeof(holders) / sizeof(holders[0]) && !start; i++)
			start = rustname_argument(open, holders[i]);
	end = start ? rustname_argument_end(start) : NULL;
	if (end && strncmp(start, blocking, strlen(blocking)) == 0) {
		start += strlen(blocking);
		end = rustname_argument_end(start);
	}
	if (!end || end == start || sz == 0)
		return -ENOENT;
	snprintf(buf, sz, "%.*s", (int)(end - start), start);
	rustname_clean(buf);
	return 0;
}
