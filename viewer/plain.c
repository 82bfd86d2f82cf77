// SPDX-License-Identifier: Apache-2.0
/* plain.c - text for people. */
#include "plain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

size_t plain_char(const char *s, size_t sz, uint32_t *ret_char)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	size_t len;
	uint32_t c;

	if (sz == 0)
		return 0;
	if (u[0] < 0x80) {
		c = u[0];
		len = 1;
	} else if (u[0] >= 0xc2 && u[0] <= 0xdf) {
		c = u[0] & 0x1f;
		len = 2;
	} else if (u[0] >= 0xe0 && u[0] <= 0xef) {
		c = u[0] & 0x0f;
		len = 3;
	} else if (u[0] >= 0xf0 && u[0] <= 0xf4) {
		c = u[0] & 0x07;
		len = 4;
	} else {
		return 0;
	}
	if (len > sz)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	if (ret_char)
		*ret_char = c;
	return len;
}

/* Characters that move the cursor, break the line or turn the direction of what follows. */
static bool plain_is_hostile(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c & 0xfffe) == 0xfffe || (c >= 0xe0000 && c <= 0xe0fff);
}

#define PLAIN_PIECE 16 /* the longest piece, "\u{10ffff}", and its terminator */

/* One character as harmless text in `to`; returns how many bytes of s it took (sz > 0). */
static size_t plain_piece(char to[PLAIN_PIECE], const char *s, size_t sz)
{
	uint32_t c = 0;
	size_t len = plain_char(s, sz, &c);

	if (len == 0) {
		snprintf(to, PLAIN_PIECE, "\\x%02x", (unsigned char)*s);
		return 1;
	}
	if (c == '\n' || c == '\r' || c == '\t')
		snprintf(to, PLAIN_PIECE, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
	else if (c == '\\')
		snprintf(to, PLAIN_PIECE, "\\\\");
	else if (plain_is_hostile(c) && c < 0x80)
		snprintf(to, PLAIN_PIECE, "\\x%02x", (unsigned int)c);
	else if (plain_is_hostile(c))
		snprintf(to, PLAIN_PIECE, "\\u{%x}", (unsigned int)c);
	else {
		memcpy(to, s, len);
		to[len] = '\0';
	}
	return len;
}

void plain_write(FILE *out, const char *s, size_t sz)
{
	char piece[PLAIN_PIECE];
	size_t run = 0, len;

	for (size_t i = 0; i < sz; i += len) {
		/* plain ASCII, nearly all there is, goes out in one call */
		for (run = i; run < sz && s[run] >= 0x20 && s[run] < 0x7f && s[run] != '\\';)
			run++;
		if (run > i) {
			fwrite(s + i, 1, run - i, out);
			len = run - i;
			continue;
		}
		len = plain_piece(piece, s + i, sz - i);
		fputs(piece, out);
	}
}

/* Columns a piece takes: its characters, so UTF-8 continuation bytes do not count. */
static size_t plain_columns(const char *piece)
{
	size_t columns = 0;

	for (; *piece; piece++)
		columns += ((unsigned char)*piece & 0xc0) != 0x80;
	return columns;
}

size_t plain_cut(char *to, size_t room, const char *s, size_t sz, size_t columns)
{
	char piece[PLAIN_PIECE];
	size_t total = 0, skip = 0, used = 0, at = 0, len, width;

	for (size_t i = 0; i < sz; i += len) {
		len = plain_piece(piece, s + i, sz - i);
		total += plain_columns(piece);
	}
	if (total > columns) {
		skip = total - columns + 2;
		at = (size_t)snprintf(to, room, "..");
		used = 2;
	}
	for (size_t i = 0; i < sz; i += len) {
		len = plain_piece(piece, s + i, sz - i);
		width = plain_columns(piece);
		if (skip > 0) { /* a piece is left out whole */
			skip -= width < skip ? width : skip;
			continue;
		}
		if (at + strlen(piece) >= room)
			break;
		at += (size_t)snprintf(to + at, room - at, "%s", piece);
		used += width;
	}
	to[at] = '\0';
	return used;
}

/* Keeps a third of the columns from the front of s, the rest from its end. */
static size_t plain_cut_middle(char *to, size_t room, const char *s, size_t sz, size_t columns)
{
	char piece[PLAIN_PIECE];
	size_t at = 0, used = 0, i = 0, len, width, total = 0;

	for (size_t k = 0; k < sz; k += plain_piece(piece, s + k, sz - k), total += width) {
		plain_piece(piece, s + k, sz - k);
		width = plain_columns(piece);
	}
	if (total <= columns)
		return plain_cut(to, room, s, sz, columns);
	while (i < sz) {
		len = plain_piece(piece, s + i, sz - i);
		width = plain_columns(piece);
		if (used + width > columns / 3 || at + strlen(piece) >= room)
			break;
		at += (size_t)snprintf(to + at, room - at, "%s", piece);
		used += width;
		i += len;
	}
	return used + plain_cut(to + at, room - at, s + i, sz - i, columns - used);
}

#define PLAIN_ALTERNATIVES 3

size_t plain_cut_type(char *to, size_t room, const char *s, size_t sz, size_t columns)
{
	const char *end = s + sz, *bar, *from = s;
	size_t cnt = 1, each, used = 0;
	char others[PLAIN_SZ];

	for (bar = s; (bar = memmem(bar, (size_t)(end - bar), " | ", 3)); bar += 3)
		cnt++;
	if (cnt == 1)
		return plain_cut(to, room, s, sz, columns);
	if (cnt > PLAIN_ALTERNATIVES) {
		bar = memmem(s, sz, " | ", 3);
		snprintf(others, sizeof(others), " or %zu others", cnt - 1);
		used = plain_cut_middle(to, room, s, (size_t)(bar - s), columns - strlen(others));
		strncat(to, others, room - strlen(to) - 1);
		return used + strlen(others);
	}
	each = (columns - 3 * (cnt - 1)) / cnt;
	for (*to = '\0'; from; from = bar ? bar + 3 : NULL) {
		bar = memmem(from, (size_t)(end - from), " | ", 3);
		used += plain_cut_middle(to + strlen(to), room - strlen(to), from,
					 (size_t)((bar ? bar : end) - from), each);
		if (bar && room - strlen(to) > 3) {
			strcat(to, " | ");
			used += 3;
		}
	}
	return used;
}

/* Three digits of value / unit, rounded to nearest. */
static void plain_digits(char to[PLAIN_SZ], uint64_t value, uint64_t unit, const char *name)
{
	/* the cuts stand half a last digit below 10 and 100, so that 9.996 becomes "10.0" */
	unsigned __int128 wide = value, base = unit;

	if (wide * 1000 < base * 9995)
		snprintf(to, PLAIN_SZ, "%.2f %s", (double)value / (double)unit, name);
	else if (wide * 100 < base * 9995)
		snprintf(to, PLAIN_SZ, "%.1f %s", (double)value / (double)unit, name);
	else
		snprintf(to, PLAIN_SZ, "%.0f %s", (double)value / (double)unit, name);
}

const char *plain_duration(char to[PLAIN_SZ], uint64_t ns)
{
	if (ns == 0)
		snprintf(to, PLAIN_SZ, "0");
	else if (ns < 1000)
		snprintf(to, PLAIN_SZ, "%u ns", (unsigned int)ns);
	else if (ns < 999500)
		plain_digits(to, ns, 1000, "us");
	else if (ns < 999500000)
		plain_digits(to, ns, 1000000, "ms");
	else
		plain_digits(to, ns, 1000000000, "s");
	return to;
}

const char *plain_since(char to[PLAIN_SZ], uint64_t base_ns, uint64_t ts_ns)
{
	uint64_t ns = ts_ns > base_ns ? ts_ns - base_ns : 0;

	snprintf(to, PLAIN_SZ, "+%" PRIu64 ".%06u s", ns / 1000000000,
		 (unsigned int)(ns % 1000000000 / 1000));
	return to;
}

const char *plain_share(char to[PLAIN_SZ], uint64_t part, uint64_t whole)
{
	if (whole == 0)
		snprintf(to, PLAIN_SZ, "-");
	else
		snprintf(to, PLAIN_SZ, "%.1f %%", (double)part * 100.0 / (double)whole);
	return to;
}

const char *plain_size(char to[PLAIN_SZ], uint64_t sz)
{
	static const char *const names[] = { "KiB", "MiB", "GiB", "TiB" };
	uint64_t unit = 1024;
	size_t i = 0;

	if (sz < 1024) {
		snprintf(to, PLAIN_SZ, "%u B", (unsigned int)sz);
		return to;
	}
	for (; i + 1 < sizeof(names) / sizeof(names[0]) && sz / unit >= 1024; i++)
		unit *= 1024;
	plain_digits(to, sz, unit, names[i]);
	return to;
}

const char *plain_f64(char to[PLAIN_SZ], double value)
{
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(to, PLAIN_SZ, "%.*g", precision, value);
		if (strtod(to, NULL) == value)
			break;
	}
	return to;
}

int plain_read_time(const char *text, uint64_t *ret_ns, bool *ret_relative)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }
	};
	bool relative = *text == '+';
	uint64_t whole = 0, part = 0, scale = 1, ns;
	const char *at = text + relative;

	if (*at < '0' || *at > '9')
		return -EINVAL;
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole))
			return -EINVAL;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++)
			if (scale < 1000000000) { /* finer than a nanosecond is dropped */
				part = part * 10 + (uint64_t)(*at - '0');
				scale *= 10;
			}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(at, units[i].name) != 0)
			continue;
		if ((scale > 1 && units[i].ns == 1) ||
		    __builtin_mul_overflow(whole, units[i].ns, &ns) ||
		    __builtin_add_overflow(ns, part * units[i].ns / scale, &ns))
			return -EINVAL;
		*ret_ns = ns;
		*ret_relative = relative;
		return 0;
	}
	return -EINVAL;
}
