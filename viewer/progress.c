// SPDX-License-Identifier: Apache-2.0
/* progress.c - the progress line. */
#include "progress.h"

#include "plain.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_FIRST_NS 500000000ull
#define PROGRESS_EVERY_NS 200000000ull
#define PROGRESS_NAME_COLUMNS 40

static uint64_t progress_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

void progress_start(struct progress *p, uint64_t total_sz)
{
	*p = (struct progress){ .is_on = isatty(STDERR_FILENO), .total_sz = total_sz };
	p->begun_ns = progress_now_ns();
	p->next_ns = p->begun_ns + PROGRESS_FIRST_NS;
}

void progress_show(struct progress *p, const char *file, uint64_t sz, uint64_t events)
{
	char name[4 * PROGRESS_NAME_COLUMNS + 1], share[PLAIN_SZ];
	uint64_t now;

	if (!p)
		return;
	p->events += events;
	now = p->is_on ? progress_now_ns() : 0;
	if (!p->is_on || now < p->next_ns)
		return;
	p->next_ns = now + PROGRESS_EVERY_NS;
	p->is_shown = true;
	plain_cut(name, sizeof(name), file, strlen(file), PROGRESS_NAME_COLUMNS);
	fprintf(stderr, "\r\033[Kreading %s  %s  %.1f M events", name,
		plain_share(share, p->done_sz + sz, p->total_sz), (double)p->events / 1e6);
	fflush(stderr);
}

void progress_done(struct progress *p, uint64_t sz)
{
	if (!p)
		return;
	p->done_sz += sz;
	if (p->is_shown)
		fputs("\r\033[K", stderr);
	p->is_shown = false;
}
