// SPDX-License-Identifier: Apache-2.0
/* maps.c - a bounded parser: no sscanf, which has no overflow check and skips spaces freely. */
#include "maps.h"

#include <errno.h>
#include <string.h>

static const char maps_deleted[] = " (deleted)";

struct maps_cursor {
	const char *at, *end;
};

static int maps_digit(char c, unsigned base)
{
	unsigned v;

	if (c >= '0' && c <= '9')
		v = (unsigned)(c - '0');
	else if (c >= 'a' && c <= 'f')
		v = (unsigned)(c - 'a') + 10;
	else
		return -1;
	return v < base ? (int)v : -1;
}

/* a number of at least one digit, then the character `stop`, which is eaten too */
static int maps_number(struct maps_cursor *c, unsigned base, char stop, uint64_t *ret)
{
	const char *from = c->at;
	uint64_t v = 0;

	for (; c->at < c->end && *c->at != stop; c->at++) {
		int d = maps_digit(*c->at, base);

		if (d < 0 || v > (UINT64_MAX - (unsigned)d) / base)
			return -EINVAL;
		v = v * base + (unsigned)d;
	}
	if (c->at == from)
		return -EINVAL;
	if (c->at < c->end)
		c->at++;
	*ret = v;
	return 0;
}

int maps_parse(const char *line, size_t len, struct maps_entry *ret)
{
	struct maps_cursor c = { line, line + len };
	struct maps_entry e = { 0 };
	uint64_t major, minor;

	if (maps_number(&c, 16, '-', &e.start) || maps_number(&c, 16, ' ', &e.end))
		return -EINVAL;
	if (e.end <= e.start || c.end - c.at < 5 || c.at[4] != ' ')
		return -EINVAL;
	e.is_exec = c.at[2] == 'x';
	c.at += 5;
	if (maps_number(&c, 16, ' ', &e.off) || maps_number(&c, 16, ':', &major) ||
	    maps_number(&c, 16, ' ', &minor) || maps_number(&c, 10, ' ', &e.ino))
		return -EINVAL;
	if (major > UINT32_MAX || minor > UINT32_MAX)
		return -EINVAL;
	e.dev_major = (uint32_t)major;
	e.dev_minor = (uint32_t)minor;
	while (c.at < c.end && *c.at == ' ')
		c.at++;
	e.path = c.at;
	e.path_len = (size_t)(c.end - c.at);
	if (e.path_len > sizeof(maps_deleted) - 1 &&
	    !memcmp(c.end - (sizeof(maps_deleted) - 1), maps_deleted, sizeof(maps_deleted) - 1)) {
		e.is_deleted = true;
		e.path_len -= sizeof(maps_deleted) - 1;
	}
	*ret = e;
	return 0;
}
