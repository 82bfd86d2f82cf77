/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twin.h - one piece of work as two halves that share nothing they write, at the same time.
 */
#ifndef DIAL9_TWIN_H
#define DIAL9_TWIN_H

#include <stdbool.h>

/* f(a) and f(b), on a thread of its own and on this one; both are done when it returns. Where no
 * thread is to be had, or the work is not worth one, one after the other. */
void twin_run(void (*f)(void *half), void *a, void *b, bool is_worth_it);

#endif /* DIAL9_TWIN_H */
