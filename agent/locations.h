/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locations.h - the source places that a Rust file hands to #[track_caller] functions.
 *
 * Such a call passes a constant core::panic::Location (file, line, column). Debug info does not
 * mark the attribute, but a call whose own place stands among these constants goes to a function
 * that has it: Tokio then shows that place, not one inside the called function.
 */
#ifndef DIAL9_LOCATIONS_H
#define DIAL9_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCATIONS_MAX (1u << 19) /* kept, 8 bytes each; further ones count as absent */
#define LOCATIONS_PATH_MAX 1024u /* longer file names are not looked at */

struct image;
struct locations;

/* Reads the data of the file once. -ENOENT there are none, -ENOMEM, -EIO, -ENOEXEC. */
int locations_open(struct image *img, struct locations **ret);
void locations_close(struct locations *l);

bool locations_has(const struct locations *l, const char *file, uint32_t line, uint32_t column);

#endif /* DIAL9_LOCATIONS_H */
