// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "test/truth/pair.h"

#define SAID_MAX 8 /* lines of one kind */
#define KINDS_MAX 64

void pair_say(const struct pairing *p, const char *kind, const char *fmt, ...)
{
	static struct {
		const char *kind;
		unsigned cnt;
	} said[KINDS_MAX];
	va_list ap;
	size_t i = 0;

	if (!p->verbose)
		return;
	while (i < KINDS_MAX - 1 && said[i].kind && strcmp(said[i].kind, kind))
		i++;
	said[i].kind = kind;
	if (said[i].cnt++ >= SAID_MAX)
		return;
	fprintf(stderr, "  %s: ", kind);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}
