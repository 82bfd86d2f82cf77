/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - is this run of bytes from a ring a wire record? Checked once, trusted after.
 */
#ifndef DIAL9_EVENT_H
#define DIAL9_EVENT_H

#include <stddef.h>

struct wire_head;

/* The record at `data` (8-byte aligned) if its kind is known and its size fits that kind, frames
 * included; else NULL. */
const struct wire_head *event_check(const void *data, size_t sz);

/* "PollStart" for WIRE_POLL_START: the name losses of that kind go by. "?" if unknown. */
const char *event_name(int kind);

#endif /* DIAL9_EVENT_H */
