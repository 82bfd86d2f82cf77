/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notice.h - what dial9-view says on standard error: one line each, "dial9-view: ...".
 *
 * A message says what failed, on what, why, and what mends it. The text is made harmless as
 * plain.h says, since names of files and places in it come from outside.
 */
#ifndef DIAL9_NOTICE_H
#define DIAL9_NOTICE_H

#include <stdbool.h>

/* Exit codes of every command; a run that meets several ends with the largest of 3, 1, 0. */
enum notice_exit {
	EXIT_OK = 0,
	EXIT_FINDINGS = 1, /* a runtime failure, or findings (verify) */
	EXIT_USAGE = 2,
	EXIT_PARTIAL = 3, /* bad or partial input */
};

/* Prints and hands back `result` (an errno or an exit code), so that it can be returned. */
int notice(int result, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* From now on nothing is printed on behalf of the calling thread, or it is again. */
void notice_mute(bool is_mute);

/* Text of a negative errno or of a negative error of the format library. */
const char *notice_text(int err);

#endif /* DIAL9_NOTICE_H */
