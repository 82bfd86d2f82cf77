/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finder.h - the findings of a path, as `dial9-view issues --json` prints them, worked out beside
 * the server: the page and a program read the very same document.
 *
 * One thread waits for orders and runs the command as a child: it may take minutes, and what it
 * does not survive does not end the server. A child that takes longer than FINDER_RUN_S, or says
 * more than FINDER_OUT_MAX_SZ, is killed. The last answer is kept until a newer one is asked for.
 */
#ifndef DIAL9_FINDER_H
#define DIAL9_FINDER_H

#include <stddef.h>
#include <stdint.h>

#define FINDER_RUN_S 120u
#define FINDER_OUT_MAX_SZ (8u << 20)

#define FINDER_NEWEST 0u /* in place of a key: whatever was found last */

struct finder;

enum finder_state { FINDER_WORKING, FINDER_READY, FINDER_FAILED };

/*
 * The program to run instead of this one is `program` (tests), else NULL; run_ms 0: FINDER_RUN_S.
 * done(ctx) is called from the thread when an answer is there, and when finder_stop is asked.
 * NULL: no memory or thread.
 */
struct finder *finder_new(const char *path, const char *program, uint32_t run_ms,
			  void (*done)(void *ctx), void *ctx);

/* Ends what runs; from here on finder_get says FINDER_FAILED. Calls done once more. */
void finder_stop(struct finder *f);
void finder_free(struct finder *f); /* NULL is fine */

/*
 * The answer for `key`, a number that grows when the recordings change. READY: *ret_text is a copy
 * for the caller to free. WORKING: it is being made, or was just ordered; done() will tell. FAILED:
 * the last run for this key came to nothing; asking again orders another run, a second later at
 * the earliest.
 */
enum finder_state finder_get(struct finder *f, uint64_t key, char **ret_text, size_t *ret_sz);

#endif /* DIAL9_FINDER_H */
