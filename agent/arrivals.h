/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrivals.h - files with Tokio that a process maps while it is watched.
 *
 * A Python or node extension, or whatever else is dlopened, brings a Tokio that no plan knew of; so
 * does another program that the process becomes by exec. A look costs one reading of
 * /proc/PID/maps, and a search of the files that are new in it.
 */
#ifndef DIAL9_ARRIVALS_H
#define DIAL9_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ARRIVALS_NS 250000000ull /* between two looks, ... */
#define ARRIVALS_SHARE 100 /* ... or so many times what a look takes, where that is longer; */
/* After a look that found new files more may follow. Longer than a record takes from the kernel to the
 * recorder, which learns of an exec so; ... */
#define ARRIVALS_SOON_NS 100000000ull
#define ARRIVALS_FIRST_NS 20000000ull /* ... unless all is new */

struct arrivals;
struct target;

/* `known` (kept; NULL = none): its files are no news. 0 or -ENOMEM. */
int arrivals_open(pid_t pid, const struct target *known, struct arrivals **ret);
void arrivals_close(struct arrivals *a);

/*
 * Looks, if it is time to. True once a file with Tokio has come and no further file since; from
 * then on arrivals_path names it. Says nothing of a process that is gone: whoever holds its pidfd
 * learns that.
 */
bool arrivals_look(struct arrivals *a, uint64_t now_ns);
const char *arrivals_path(const struct arrivals *a);

#endif /* DIAL9_ARRIVALS_H */
