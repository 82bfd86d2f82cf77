// SPDX-License-Identifier: Apache-2.0
/* notice.c - one line on standard error. */
#include "notice.h"

#include "plain.h"
#include "format/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NOTICE_SZ 1024 /* a longer message is cut */

static _Thread_local bool notice_is_mute;

void notice_mute(bool is_mute)
{
	notice_is_mute = is_mute;
}

int notice(int result, const char *fmt, ...)
{
	char text[NOTICE_SZ];
	va_list args;

	if (notice_is_mute)
		return result;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fflush(stdout); /* keeps both streams in order where they are one file */
	fputs("dial9-view: ", stderr);
	plain_write(stderr, text, strlen(text));
	fputc('\n', stderr);
	return result;
}

const char *notice_text(int err)
{
	return d9_strerror(err);
}
