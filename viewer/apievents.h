/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apievents.h - events of other kinds, by what their fields say.
 */
#ifndef DIAL9_APIEVENTS_H
#define DIAL9_APIEVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct columns;

#define API_SCAN_MAX 4000000u /* records that one question looks into */

/*
 * The first field of a record that says what is looked for: "text" in any field of text, or
 * "name=text" in that field, of whatever type; letters of either case. Returns its number, -1: none.
 */
int api_event_find(const struct columns *c, uint32_t record, const char *want);

#define API_EVENT_TEXT_SZ 512u
/* That field as "name=value", cut to fit. Returns `to`. */
const char *api_event_text(const struct columns *c, uint32_t record, int field,
			   char to[API_EVENT_TEXT_SZ]);

#endif /* DIAL9_APIEVENTS_H */
