/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.h - values as text for people: hostile strings made harmless, durations, shares.
 *
 * Strings come from traces and file names. They may hold terminal escapes, control characters,
 * right-to-left overrides or bytes that are no UTF-8; none of these reaches a terminal.
 */
#ifndef DIAL9_PLAIN_H
#define DIAL9_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Length of the well-formed UTF-8 character at s, 0 if there is none (overlong forms, surrogates,
 * values above U+10FFFF and cut-off characters are none). ret_char may be NULL.
 */
size_t plain_char(const char *s, size_t sz, uint32_t *ret_char);

/*
 * Writes a string to `out`. Printable characters pass; a backslash is doubled; everything else
 * becomes \n \r \t, \xHH (a byte that is no UTF-8, or a control character below U+0080) or
 * \u{H...} (C1 controls, line separators, marks that turn the direction of text).
 */
void plain_write(FILE *out, const char *s, size_t sz);

/*
 * The same into a buffer of `room` bytes, cut at `columns` characters with ".." in place of its
 * start (the end of a path or type name tells more), always terminated. Returns the number of
 * characters written. room must be at least 4 * columns + 1 to hold any such text.
 */
size_t plain_cut(char *to, size_t room, const char *s, size_t sz, size_t columns);

/*
 * plain_cut for the name of a type. Of "A | B" (one compiled body that several futures share) each
 * alternative is cut by itself, in its middle; more than three are "A or 3 others".
 */
size_t plain_cut_type(char *to, size_t room, const char *s, size_t sz, size_t columns);

#define PLAIN_SZ 32 /* room for any of the following */

/* 3 digits and a unit: "0", "512 ns", "1.23 us", "45.6 ms", "789 s". Returns `to`. */
const char *plain_duration(char to[PLAIN_SZ], uint64_t ns);

/* "+1.234567 s": ts_ns as time since base_ns, 0 if it is earlier. Returns `to`. */
const char *plain_since(char to[PLAIN_SZ], uint64_t base_ns, uint64_t ts_ns);

/* part / whole as "12.3 %"; "-" when whole is 0. Returns `to`. */
const char *plain_share(char to[PLAIN_SZ], uint64_t part, uint64_t whole);

/* "512 B", "1.50 MiB". Returns `to`. */
const char *plain_size(char to[PLAIN_SZ], uint64_t sz);

/* The fewest digits that read back as the same number. Returns `to`. */
const char *plain_f64(char to[PLAIN_SZ], double value);

/*
 * Reads a time as the options take it: digits with an optional unit ns, us, ms or s (and a
 * fraction with us, ms, s). `ret_relative` is set when it begins with '+'. 0 or -EINVAL.
 */
int plain_read_time(const char *text, uint64_t *ret_ns, bool *ret_relative);

#endif /* DIAL9_PLAIN_H */
