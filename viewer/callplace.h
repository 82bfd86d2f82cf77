/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callplace.h - where a thread blocked: the system call, and the program's function that led there.
 */
#ifndef DIAL9_CALLPLACE_H
#define DIAL9_CALLPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct study;

/*
 * "futex in app::cache::get", of a MOMENT_OFF_CPU label and its stack (stacktable.h). The function
 * is the first from the leaf on that is neither the standard library's, Tokio's nor C's; without
 * one (no stack, no symbols) the system call stands alone.
 */
void callplace_text(char *to, size_t room, const struct study *s, uint32_t label, uint32_t stack);

/* That function alone, "" without one; false then. */
bool callplace_function(char *to, size_t room, const struct study *s, uint32_t stack);

/* Is a function's name a Rust path, and not of a library that only carries the call? */
bool callplace_is_own(const char *name, size_t len);

#endif /* DIAL9_CALLPLACE_H */
