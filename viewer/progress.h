/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line on the terminal while a long reading goes on.
 *
 * Shown on standard error only if that is a terminal, only after half a second of work, five
 * times a second at most; wiped when the work is done.
 */
#ifndef DIAL9_PROGRESS_H
#define DIAL9_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool is_on, is_shown;
	uint64_t total_sz; /* bytes of all files to be read */
	uint64_t done_sz; /* of recordings read before this one */
	uint64_t events;
	uint64_t begun_ns, next_ns;
};

void progress_start(struct progress *p, uint64_t total_sz);

/* `events` more were read, up to byte `sz` of the present recording's files. p may be NULL. */
void progress_show(struct progress *p, const char *file, uint64_t sz, uint64_t events);

/* A recording of `sz` bytes is done: the line is wiped. p may be NULL. */
void progress_done(struct progress *p, uint64_t sz);

#endif /* DIAL9_PROGRESS_H */
