/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - what the agent says to the person who runs it, on standard error.
 *
 * A message says what failed, on which object, why, and what mends it. Everything in agent/ may
 * log; format/ never does. Thread-safe. Control characters in arguments that come from a target
 * are shown as '?', so a hostile name cannot drive the terminal.
 */
#ifndef DIAL9_LOG_H
#define DIAL9_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Messages above `level` are dropped. Start value: LOG_INFO. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/*
 * Log and hand back `err` (0 or negative errno), so that a failure is reported and returned in
 * one expression: `return log_error(-EPERM, "cannot ...: run as root");`. The errno's text is
 * not appended: say the cause in words.
 */
int log_error(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int log_warn(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* DIAL9_LOG_H */
