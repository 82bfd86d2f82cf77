/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - `dial9-view DIR`: the page in a browser, from a server that answers this machine only.
 *
 * Runs until SIGINT or SIGTERM. Prints the URL once it can be opened, with --json as one document.
 */
#ifndef DIAL9_SERVE_H
#define DIAL9_SERVE_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int serve_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_SERVE_H */
