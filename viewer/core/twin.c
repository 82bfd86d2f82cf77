// SPDX-License-Identifier: Apache-2.0
/* twin.c - one thread for the first half. */
#include "twin.h"

#include <pthread.h>

struct twin {
	void (*f)(void *half);
	void *half;
};

static void *twin_thread(void *ctx)
{
	const struct twin *t = ctx;

	t->f(t->half);
	return NULL;
}

void twin_run(void (*f)(void *half), void *a, void *b, bool is_worth_it)
{
	struct twin t = { f, a };
	pthread_t thread;
	bool is_running = is_worth_it && pthread_create(&thread, NULL, twin_thread, &t) == 0;

	if (!is_running)
		f(a);
	f(b);
	if (is_running)
		pthread_join(thread, NULL);
}
