// SPDX-License-Identifier: Apache-2.0
/* log.c - one line per message, written with one write(2) so that threads never interleave. */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define LOG_LINE_SZ 2048

static enum log_level log_limit = LOG_INFO;

void log_set_level(enum log_level level)
{
	log_limit = level;
}

enum log_level log_get_level(void)
{
	return log_limit;
}

static void log_line(enum log_level level, const char *fmt, va_list args)
{
	static const char *const prefix[] = {
		[LOG_ERROR] = "dial9-agent: error: ",
		[LOG_WARN] = "dial9-agent: warning: ",
		[LOG_INFO] = "dial9-agent: ",
		[LOG_DEBUG] = "dial9-agent: debug: ",
	};
	char line[LOG_LINE_SZ];
	int saved = errno;
	int len, body;

	if (level > log_limit)
		return;
	len = snprintf(line, sizeof(line), "%s", prefix[level]);
	body = vsnprintf(line + len, sizeof(line) - (size_t)len - 1, fmt, args);
	if (body < 0)
		body = 0;
	if (body > (int)sizeof(line) - len - 2)
		body = (int)sizeof(line) - len - 2;
	for (int i = len; i < len + body; i++)
		if (((unsigned char)line[i] < 0x20 && line[i] != '\n') || line[i] == 0x7f)
			line[i] = '?';
	line[len + body] = '\n';
	/* nothing can be done when standard error itself is gone */
	if (write(STDERR_FILENO, line, (size_t)(len + body + 1)) < 0)
		errno = saved;
	errno = saved;
}

#define LOG_BODY(level)                                                                            \
	va_list args;                                                                              \
	va_start(args, fmt);                                                                       \
	log_line(level, fmt, args);                                                                \
	va_end(args)

int log_error(int err, const char *fmt, ...)
{
	LOG_BODY(LOG_ERROR);
	return err;
}

int log_warn(int err, const char *fmt, ...)
{
	LOG_BODY(LOG_WARN);
	return err;
}

void log_info(const char *fmt, ...)
{
	LOG_BODY(LOG_INFO);
}

void log_debug(const char *fmt, ...)
{
	LOG_BODY(LOG_DEBUG);
}
